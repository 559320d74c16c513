import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Answered, type Client, createClient, KithError, type UploadProgress } from '@kith/client'
import {
  CommaList,
  contract,
  FileIdParam,
  type IdTag,
  IdTagInput,
  pageQuery,
  type RequestOf,
  TimestampInput,
} from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest'
import { alice, callers, type HttpSiteOptions, startHttpSite } from '#harness/http-site.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { Failure, invalid } from '#lib/failure.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A client of a server with these endpoints, whose one tenant lives on every host. */
async function clientOf(
  endpoints: Endpoint[],
  token?: string,
  options: HttpSiteOptions = {},
): Promise<Client> {
  const hooks = {
    findTenant: () => alice,
    authenticate: ({ bearer }: { bearer: string }) => {
      const caller = callers[bearer]
      if (!caller) throw new Failure('E-AUTH-UNAUTH')
      return { caller }
    },
  }
  const site = await startHttpSite(endpoints, { hooks, ...options })
  cleanUps.push(() => site.close())
  return createClient({ baseUrl: `http://127.0.0.1:${site.port}/`, ...(token ? { token } : {}) })
}

const base = { tag: 'Things', summary: 'Do', auth: 'optional', errors: [] } as const

const echo = contract({
  ...base,
  name: 'echo',
  method: 'POST',
  path: '/api/echo/{name}',
  params: Type.Object({ name: Type.String() }),
  query: Type.Object({
    idTag: Type.Optional(IdTagInput),
    at: Type.Optional(TimestampInput),
    words: Type.Optional(CommaList()),
  }),
  headers: Type.Object({ 'x-count': Type.Optional(Type.Integer()) }),
  body: {
    kind: 'json',
    schema: Type.Object({ tags: CommaList(), n: Type.Optional(Type.Integer({ default: 3 })) }),
  },
  reply: { kind: 'data', status: 200, schema: Type.Object({ caller: Type.String(), got: Type.Unknown() }) },
})
const boundEcho = bind(echo, async ({ caller, params, query, headers, body }) => ({
  caller: caller.kind === 'identity' ? caller.idTag : caller.kind,
  got: { params, query, headers, body },
}))

const list = contract({
  ...base,
  name: 'list',
  method: 'GET',
  path: '/api/list',
  query: Type.Object(pageQuery),
  reply: { kind: 'list', status: 200, schema: Type.Integer() },
})
const numbers = Array.from({ length: 7 }, (_, n) => n)
const byCursor = bind(list, async ({ query: { limit = 20, cursor = '0' } }) => {
  const from = Number(cursor)
  return {
    items: numbers.slice(from, from + limit),
    nextCursor: from + limit < 7 ? String(from + limit) : null,
  }
})
const byOffset = bind(list, async ({ query: { limit = 20, offset = 0 } }) => ({
  items: numbers.slice(offset, offset + limit),
  total: 7,
  offset,
  limit,
}))

describe('a call', () => {
  test('sends every part of a request as the server reads it', async () => {
    const client = await clientOf([boundEcho], 'owner')
    const { data } = await client.call(echo, {
      params: { name: 'a/b' },
      query: { idTag: 'Bob.Example', at: new Date('2026-01-31T12:00:00Z'), words: ['x', 'y'] },
      headers: { 'x-count': 5 },
      body: { tags: ['a', 'b'] },
    })
    expect(data).toEqual({
      caller: 'alice.example',
      got: {
        params: { name: 'a/b' },
        query: { idTag: 'bob.example', at: 1_769_860_800, words: ['x', 'y'] },
        headers: { 'x-count': 5 },
        body: { tags: ['a', 'b'], n: 3 },
      },
    })
  })

  test('throws what the server answers as a failure', async () => {
    const client = await clientOf([bind(echo, async () => Promise.reject(invalid('/n', 'is odd')))])
    const error = await client
      .call(echo, { params: { name: 'x' }, body: { tags: '' } })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KithError)
    expect(error).toMatchObject({
      code: 'E-VALIDATION',
      status: 400,
      message: 'The request is not valid.',
      details: { issues: [{ path: '/n', message: 'is odd' }] },
      reqId: expect.any(String),
    })
  })

  test('tells how long to wait', async () => {
    const client = await clientOf([
      bind(list, async () => Promise.reject(new Failure('E-RATELIMIT', { retryAfterSecs: 9 }))),
    ])
    await expect(client.call(list)).rejects.toMatchObject({ code: 'E-RATELIMIT', retryAfterSecs: 9 })
  })

  test('asks for the token each time', async () => {
    const site = await startHttpSite([boundEcho], {
      hooks: {
        findTenant: () => alice,
        authenticate: ({ bearer }) => ({ caller: callers[bearer] ?? { kind: 'guest' } }),
      },
    })
    cleanUps.push(() => site.close())
    let token: string | undefined
    const client = createClient({ baseUrl: `http://127.0.0.1:${site.port}`, token: () => token })
    const who = async () =>
      (await client.call(echo, { params: { name: 'x' }, body: { tags: '' } })).data.caller
    expect(await who()).toBe('guest')
    token = 'visitor'
    expect(await who()).toBe('bob.example')
  })

  test('can be called off', async () => {
    const client = await clientOf([bind(list, async () => new Promise<never>(() => {}))])
    const controller = new AbortController()
    const answer = client.call(list, {}, { signal: controller.signal })
    controller.abort()
    await expect(answer).rejects.toThrow(/abort/i)
  })

  test('resolves to the payload of every kind of reply', async () => {
    const bytes = contract({
      ...base,
      name: 'bytes',
      method: 'GET',
      path: '/api/bytes',
      reply: { kind: 'bytes', status: 200 },
    })
    const bare = contract({
      ...base,
      name: 'bare',
      method: 'GET',
      path: '/api/bare',
      reply: { kind: 'bare', status: 200, schema: Type.Object({ id: Type.Integer() }) },
    })
    const empty = contract({
      ...base,
      name: 'empty',
      method: 'DELETE',
      path: '/api/empty',
      reply: { kind: 'empty', status: 204 },
    })
    const inbox = contract({
      ...base,
      name: 'inbox',
      method: 'POST',
      path: '/api/inbox',
      body: { kind: 'jwt' },
      reply: { kind: 'data', status: 200, schema: Type.String() },
    })
    const client = await clientOf([
      bind(bytes, async () => ({
        status: 200 as const,
        headers: {},
        body: async () => Readable.from(['hello']),
      })),
      bind(bare, async () => ({ id: 5 })),
      bind(empty, async () => {}),
      bind(inbox, async ({ body }) => body),
    ])
    expect(await (await client.call(bytes)).data.text()).toBe('hello')
    expect((await client.call(bare)).data).toEqual({ id: 5 })
    expect(await client.call(empty)).toEqual({ data: undefined })
    expect((await client.call(inbox, { body: 'a.b.c' })).data).toBe('a.b.c')
  })

  test('makes the best of answers that are not the server’s', async () => {
    const proxy = createServer((request, response) => {
      response
        .writeHead(Number(request.url?.slice(-3)), { 'content-type': 'text/html' })
        .end('<h1>sorry</h1>')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => proxy.close())
    const { port } = proxy.address() as AddressInfo
    for (const [status, code] of [
      [502, 'E-UNAVAILABLE'],
      [503, 'E-UNAVAILABLE'],
      [404, 'E-NOTFOUND'],
      [401, 'E-AUTH-UNAUTH'],
      [403, 'E-AUTH-FORBIDDEN'],
      [418, 'E-VALIDATION'],
      [500, 'E-INTERNAL'],
    ] as const) {
      const client = createClient({ baseUrl: `http://127.0.0.1:${port}` })
      const call = client.call({ ...list, path: `/${status}` })
      await expect(call).rejects.toMatchObject({ code, status, reqId: undefined })
    }
  })
})

describe('pages', () => {
  test.each([
    ['cursor', byCursor],
    ['offset', byOffset],
  ])('follow one another by %s', async (_, endpoint) => {
    const client = await clientOf([endpoint])
    expect(await Array.fromAsync(client.pages(list, { query: { limit: 3 } }))).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6],
    ])
    expect(await Array.fromAsync(client.pages(list))).toEqual([numbers])
  })

  test('stop when they are no longer wanted', async () => {
    let served = 0
    const client = await clientOf([bind(list, async () => ({ items: [served++], nextCursor: 'more' }))])
    for await (const page of client.pages(list)) if (page[0] === 1) break
    expect(served).toBe(2)
  })
})

describe('an upload', () => {
  const put = contract({
    ...base,
    name: 'put',
    method: 'POST',
    path: '/api/files/{name}',
    params: Type.Object({ name: Type.String() }),
    query: Type.Object({ tags: Type.Optional(CommaList()) }),
    body: { kind: 'bytes' },
    reply: {
      kind: 'data',
      status: 201,
      schema: Type.Object({ size: Type.Integer(), type: Type.String(), tags: Type.Array(Type.String()) }),
    },
  })
  const boundPut = bind(put, async ({ body, query }) => ({
    size: (await buffer(body.stream)).length,
    type: body.contentType,
    tags: query.tags ?? [],
  }))
  const bytes = new Uint8Array(300_000)

  test.each<[string, () => Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, number | undefined]>([
    ['bytes', () => bytes, 300_000],
    ['a blob', () => new Blob([bytes], { type: 'image/png' }), 300_000],
    ['a stream', () => new Blob([bytes]).stream(), undefined],
  ])('sends %s and tells how far it is', async (kind, body, totalBytes) => {
    const client = await clientOf([boundPut], 'owner')
    const told: UploadProgress[] = []
    const request = { params: { name: 'a.png' }, query: { tags: ['a', 'b'] }, body: body() }
    const { data } = await client.upload(put, request, { onProgress: (progress) => told.push(progress) })
    expect(data).toEqual({
      size: 300_000,
      type: kind === 'a blob' ? 'image/png' : 'application/octet-stream',
      tags: ['a', 'b'],
    })
    expect(told.at(-1)).toEqual({ sentBytes: 300_000, totalBytes })
    expect(told.map(({ sentBytes }) => sentBytes)).toEqual(
      told.map(({ sentBytes }) => sentBytes).sort((a, b) => a - b),
    )
  })

  test('needs nobody to tell, and takes the type it is given', async () => {
    const client = await clientOf([boundPut])
    const { data } = await client.upload(
      put,
      { params: { name: 'a' }, body: bytes },
      { contentType: 'text/plain' },
    )
    expect(data).toMatchObject({ size: 300_000, type: 'text/plain' })
  })

  test('that is refused throws', async () => {
    const client = await clientOf([bind(put, async () => Promise.reject(new Failure('E-QUOTA')))])
    const upload = client.upload(
      put,
      { params: { name: 'a' }, body: new Uint8Array(10) },
      { onProgress: () => {} },
    )
    await expect(upload).rejects.toMatchObject({ code: 'E-QUOTA', status: 507 })
  })

  test('uses what tells the progress in browsers', async () => {
    const sent: unknown[] = []
    class BrowserRequest {
      status = 201
      responseText = '{"data":{"size":1,"type":"t","tags":[]},"time":"","reqId":"r"}'
      upload: { onprogress?: (event: object) => void } = {}
      onload = () => {}
      onabort = () => {}
      open = (...line: string[]) => sent.push(line)
      setRequestHeader = (...header: string[]) => sent.push(header)
      getResponseHeader = () => null
      send(body: Uint8Array) {
        sent.push(body.length)
        this.upload.onprogress?.({ loaded: 10, total: 10 })
        if (body.length > 1) this.onload()
      }
      abort() {
        this.onabort()
      }
    }
    Object.assign(globalThis, { XMLHttpRequest: BrowserRequest })
    cleanUps.push(() => Reflect.deleteProperty(globalThis, 'XMLHttpRequest'))
    const client = createClient({ baseUrl: 'https://alice.example', token: 't' })
    const told: UploadProgress[] = []
    const onProgress = (progress: UploadProgress) => told.push(progress)
    const { data } = await client.upload(
      put,
      { params: { name: 'a' }, body: new Uint8Array(10) },
      { onProgress },
    )
    expect(data.size).toBe(1)
    expect(told).toEqual([{ sentBytes: 10, totalBytes: 10 }])
    expect(sent).toEqual([
      ['POST', 'https://alice.example/api/files/a'],
      ['accept', 'application/json'],
      ['authorization', 'Bearer t'],
      ['content-type', 'application/octet-stream'],
      10,
    ])
    const controller = new AbortController()
    const hanging = client.upload(
      put,
      { params: { name: 'a' }, body: new Uint8Array(1) },
      { onProgress, signal: controller.signal },
    )
    controller.abort()
    await expect(hanging).rejects.toThrow(/abort/i)
  })
})

describe('the types', () => {
  test('let callers spell what the server decodes', () => {
    type Request = RequestOf<typeof echo>
    expectTypeOf<Request['body']['tags']>().toEqualTypeOf<string | readonly string[]>()
    expectTypeOf<NonNullable<NonNullable<Request['query']>['idTag']>>().toEqualTypeOf<string>()
    expectTypeOf<NonNullable<NonNullable<Request['query']>['at']>>().toEqualTypeOf<string | number | Date>()
    expectTypeOf<IdTag>().toExtend<NonNullable<NonNullable<Request['query']>['idTag']>>()
    const byId = contract({
      ...base,
      name: 'x',
      method: 'GET',
      path: '/x/{id}',
      params: Type.Object({ id: FileIdParam }),
      reply: list.reply,
    })
    expectTypeOf<RequestOf<typeof byId>['params']>().toExtend<{ id: string }>()
  })

  test('require what the contract requires', () => {
    const check = (client: Client) => {
      // @ts-expect-error parameters and body are missing
      void client.call(echo)
      // @ts-expect-error the body is missing
      void client.call(echo, { params: { name: 'x' } })
      // @ts-expect-error a number is no name
      void client.call(echo, { params: { name: 5 }, body: { tags: '' } })
      // @ts-expect-error a list cannot be uploaded to
      void client.upload(list, { body: new Uint8Array() })
      // @ts-expect-error only lists have pages
      void client.pages(echo)
      void client.call(list)
      void client.call(list, { query: { limit: 5 } })
    }
    expectTypeOf(check).toBeFunction()
  })

  test('are those of the payload', () => {
    expectTypeOf<Answered<typeof echo>['data']>().toEqualTypeOf<{ caller: string; got: unknown }>()
    expectTypeOf<Answered<typeof list>['data']>().toEqualTypeOf<readonly number[]>()
    expectTypeOf<Answered<typeof list>>().toHaveProperty('cursorPagination')
  })
})
