import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { type Contract, contract, JsonObject, type Reply } from '@kith/protocol'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { httpSites, jsonBody } from '#harness/http-site.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type ByteReply, bind, type Endpoint, Reshaped } from './endpoint.ts'
import { RawJson } from './raw-json.ts'

const serving = httpSites()

const base = {
  tag: 'Things',
  summary: 'Get',
  method: 'GET',
  path: '/api/thing',
  auth: 'none',
  errors: [],
} as const

/** An endpoint with this reply that answers what it is given. */
function answering(reply: Reply, answer: () => unknown): Endpoint {
  const get: Contract = { ...base, name: 'getThing', reply }
  return bind(get, async () => answer() as never)
}

const text = { kind: 'data', status: 200, schema: Type.String() } as const
const thing = Type.Object({ name: Type.String(), content: Type.Optional(JsonObject) })

describe('a successful answer', () => {
  test('is in the envelope, with the time as ISO 8601 and the request id', async () => {
    const { send } = await serving(answering(text, () => 'hello'))
    const { status, json, headers } = await send('/api/thing', { headers: { 'x-request-id': 'my.id-1' } })
    expect(status).toBe(200)
    expect(json).toEqual({ data: 'hello', time: '2026-01-01T00:00:00.000Z', reqId: 'my.id-1' })
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'x-request-id': 'my.id-1',
    })
    expect(headers).not.toHaveProperty('strict-transport-security')
    expect(headers).not.toHaveProperty('vary')
    expect(headers).not.toHaveProperty('x-powered-by')
  })

  test('replaces a request id that is none', async () => {
    const { send } = await serving(answering(text, () => 'hello'))
    const seen = new Set<string>()
    for (const id of ['', 'a b', 'x'.repeat(65), 'é', 'a,b']) {
      const { json, headers } = await send('/api/thing', { headers: { 'x-request-id': id } })
      expect(json.reqId).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
      expect(headers['x-request-id']).toBe(json.reqId)
      seen.add(json.reqId)
    }
    expect(seen.size).toBe(5)
  })

  test('has the contract’s status, or the one that the handler gives, and the handler’s headers', async () => {
    const created = { ...text, status: 201 } as const
    const first = await serving(answering(created, () => 'made'))
    expect((await first.send('/api/thing')).status).toBe(201)
    await first.close()
    const reshaped = new Reshaped('updated', {
      status: 200,
      headers: { 'cache-control': 'public, max-age=300' },
    })
    const second = await serving(answering(created, () => reshaped))
    const { status, json, headers } = await second.send('/api/thing')
    expect([status, json.data, headers['cache-control']]).toEqual([200, 'updated', 'public, max-age=300'])
  })

  test.each([
    ['"v1"', 304],
    ['W/"v1"', 304],
    ['"v0", "v1"', 304],
    ['*', 304],
    ['"v2"', 200],
  ])('with an entity tag is for If-None-Match: %s a %i', async (held, status) => {
    const { send } = await serving(answering(text, () => new Reshaped('x', { headers: { etag: '"v1"' } })))
    const answer = await send('/api/thing', { headers: { 'if-none-match': held } })
    expect([answer.status, answer.headers.etag]).toEqual([status, '"v1"'])
    if (status === 304) expect(answer.text).toBe('')
  })

  test.each([
    ['"v1"', 200],
    ['*', 200],
    ['"v2"', 412],
    ['W/"v1"', 412],
  ])('with an entity tag is for If-Match: %s a %i', async (expected, status) => {
    const { send } = await serving(answering(text, () => new Reshaped('x', { headers: { etag: '"v1"' } })))
    expect((await send('/api/thing', { headers: { 'if-match': expected } })).status).toBe(status)
  })

  test('contains only what its schema names', async () => {
    const reply = { kind: 'data', status: 200, schema: thing } as const
    const { send } = await serving(answering(reply, () => ({ name: 'n', passwordHash: 'secret' })))
    expect((await send('/api/thing')).text).not.toContain('secret')
  })

  test('takes stored JSON as it is', async () => {
    const reply = { kind: 'data', status: 200, schema: thing } as const
    const stored = '{"a" : [1, 2],"b":"\\u00e9"}'
    const { send } = await serving(answering(reply, () => ({ name: 'n', content: new RawJson(stored) })))
    const answer = await send('/api/thing')
    expect(answer.text).toContain(stored)
    expect(answer.json.data.content).toEqual({ a: [1, 2], b: 'é' })
  })

  test('counts bytes, not characters', async () => {
    const { send } = await serving(answering(text, () => 'é€😀'))
    const answer = await send('/api/thing')
    expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.text))
    expect(answer.json.data).toBe('é€😀')
  })

  test('of a list has cursorPagination, or pagination when it was asked for by offset', async () => {
    const reply = { kind: 'list', status: 200, schema: thing } as const
    const pages: Record<string, unknown>[] = [
      { items: [{ name: 'a' }, { name: 'b' }], nextCursor: 'c"1' },
      { items: [], nextCursor: null },
      { items: [{ name: 'a' }], total: 9, offset: 3, limit: 1 },
    ]
    const { send } = await serving(answering(reply, () => pages.shift()))
    expect((await send('/api/thing')).json).toMatchObject({
      data: [{ name: 'a' }, { name: 'b' }],
      cursorPagination: { nextCursor: 'c"1', hasMore: true },
    })
    expect((await send('/api/thing')).json).toMatchObject({
      data: [],
      cursorPagination: { nextCursor: null, hasMore: false },
    })
    const { json } = await send('/api/thing')
    expect(json).toMatchObject({ pagination: { total: 9, offset: 3, limit: 1, hasMore: true } })
    expect(Object.keys(json)).toEqual(['data', 'pagination', 'time', 'reqId'])
  })

  test('may be without envelope, or without anything', async () => {
    const bare = await serving(
      answering({ kind: 'bare', status: 201, schema: Type.Object({ id: Type.Integer() }) }, () => ({
        id: 5,
      })),
    )
    const answer = await bare.send('/api/thing')
    expect([answer.status, answer.text]).toEqual([201, '{"id":5}'])
    await bare.close()
    const empty = await serving(answering({ kind: 'empty', status: 204 }, () => undefined))
    const nothing = await empty.send('/api/thing')
    expect([nothing.status, nothing.text]).toEqual([204, ''])
    expect(nothing.headers).not.toHaveProperty('content-type')
    expect(nothing.headers).not.toHaveProperty('content-length')
    expect(nothing.headers).toHaveProperty('x-request-id')
  })

  test('to HEAD has the headers of GET and no body', async () => {
    const { send } = await serving(answering(text, () => 'hello'))
    const get = await send('/api/thing', { headers: { 'x-request-id': 'x' } })
    const head = await send('/api/thing', { method: 'HEAD', headers: { 'x-request-id': 'x' } })
    expect(head.text).toBe('')
    expect(head.status).toBe(200)
    const without = ({ 'x-ratelimit-remaining': _, date: __, ...rest }: object & Record<string, unknown>) =>
      rest
    expect(without({ ...head.headers })).toEqual(without({ ...get.headers }))
  })
})

describe('over TLS', () => {
  test('says a trusted proxy: the answer has HSTS', async () => {
    const { send } = await serving(
      answering(text, () => 'x'),
      { trustedProxies: ['127.0.0.0/8'] },
    )
    const { headers } = await send('/api/thing', { headers: { 'x-forwarded-proto': 'https' } })
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d+$/)
  })

  test('says somebody else: it has not', async () => {
    const { send } = await serving(answering(text, () => 'x'))
    const { headers } = await send('/api/thing', { headers: { 'x-forwarded-proto': 'https' } })
    expect(headers).not.toHaveProperty('strict-transport-security')
  })
})

describe('bytes', () => {
  const bytes = { kind: 'bytes', status: 200 } as const
  const etag = '"abc"'
  const source = (data: string) => async () => Readable.from([Buffer.from(data)])

  test('are streamed with the headers of the handler', async () => {
    const reply: ByteReply = {
      status: 206,
      headers: {
        'content-type': 'image/png',
        'content-range': 'bytes 0-4/9',
        'content-length': '5',
        etag,
        vary: 'Authorization',
      },
      body: source('bytes'),
    }
    const { send } = await serving(
      answering(bytes, () => reply),
      { cors: ['https://app.example'] },
    )
    const { status, headers, text: received } = await send('/api/thing')
    expect([status, received]).toEqual([206, 'bytes'])
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-range': 'bytes 0-4/9',
      'content-length': '5',
      etag,
      vary: 'Authorization, Origin',
      'x-content-type-options': 'nosniff',
    })
    expect(headers).not.toHaveProperty('cache-control')
  })

  test('are not opened for HEAD, nor when the client has them', async () => {
    let opened = 0
    let status: 200 | 304 = 200
    const body = () => {
      opened += 1
      return source('bytes')()
    }
    const { send } = await serving(
      answering(bytes, () => ({ status, headers: { 'content-length': '5', etag }, body })),
    )
    const head = await send('/api/thing', { method: 'HEAD' })
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '5', ''])
    status = 304
    const unchanged = await send('/api/thing')
    expect([unchanged.status, unchanged.headers.etag, unchanged.text]).toEqual([304, etag, ''])
    expect(opened).toBe(0)
  })

  test('whose source cannot be opened are an error answer', async () => {
    const reply = { status: 200, headers: {}, body: () => Promise.reject(new Failure('E-UNAVAILABLE')) }
    const { send } = await serving(answering(bytes, () => reply))
    expect((await send('/api/thing')).json.error.code).toBe('E-UNAVAILABLE')
  })

  test('whose source breaks off break the connection', async () => {
    const breaking = async () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('part')
          throw new Error('disk on fire')
        })(),
      )
    const { send, logged } = await serving(
      answering(bytes, () => ({ status: 200, headers: { 'content-length': '100' }, body: breaking })),
    )
    await expect(send('/api/thing')).rejects.toThrow(/aborted|ECONNRESET|hang up/)
    expect(logged.map(({ message }) => message)).toEqual(['an answer broke off'])
  })

  test.each([
    ['more', ['HTTP/1.1 200 OK', ' and what is next']],
    ['fewer', ['HTTP']],
  ])(
    'that are %s than announced break the connection, and are no part of the next answer',
    async (_, parts) => {
      const body = async () => Readable.from(parts.map((part) => Buffer.from(part)))
      const headers = { 'content-length': '15' }
      const { port, logged } = await serving(answering(bytes, () => ({ status: 200, headers, body })))
      const socket = connect(port, '127.0.0.1')
      const request = 'GET /api/thing HTTP/1.1\r\nhost: alice.example\r\n\r\n'
      socket.on('error', () => undefined).write(request + request)
      let received = ''
      for await (const chunk of socket) received += chunk
      expect(received.match(/x-request-id/g)).toHaveLength(1)
      expect(received).not.toContain('what is next')
      expect(new Set(logged.map(({ message }) => message))).toEqual(new Set(['an answer broke off']))
    },
  )

  test('are closed when the client goes away', async () => {
    const closed = Promise.withResolvers<void>()
    const endless = async () => {
      const stream = new Readable({ read: () => void stream.push(Buffer.alloc(65_536)) })
      stream.once('close', closed.resolve)
      return stream
    }
    const { port, logged } = await serving(
      answering(bytes, () => ({ status: 200, headers: {}, body: endless })),
    )
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /api/thing HTTP/1.1\r\nhost: alice.example\r\n\r\n')
    socket.once('data', () => socket.destroy())
    await closed.promise
    expect(logged).toEqual([])
  })

  test('with a header that cannot be written are an error answer, and their source is closed', async () => {
    const stream = Readable.from(['bytes'])
    const reply = { status: 200, headers: { 'content-disposition': 'a\nb' }, body: async () => stream }
    const { send } = await serving(answering(bytes, () => reply))
    expect((await send('/api/thing')).status).toBe(500)
    expect(stream.destroyed).toBe(true)
  })

  test('tell the size with a range that is not in them', async () => {
    const { send } = await serving(
      answering(bytes, () => {
        throw new Failure('E-RANGE', { details: { size: 9 } })
      }),
    )
    const { status, headers } = await send('/api/thing', { headers: { range: 'bytes=20-' } })
    expect([status, headers['content-range']]).toEqual([416, 'bytes */9'])
  })
})

describe('an error answer', () => {
  const failing = (error: unknown) =>
    answering(text, () => {
      throw error
    })

  test('has code, message and details of a failure, the time in Unix seconds, and the request id', async () => {
    const { send, logged } = await serving(failing(invalid('/a', 'is wrong')))
    const { status, json, headers } = await send('/api/thing', { headers: { 'x-request-id': 'x' } })
    expect(status).toBe(400)
    expect(json).toEqual({
      error: {
        code: 'E-VALIDATION',
        message: 'The request is not valid.',
        details: { issues: [{ path: '/a', message: 'is wrong' }] },
      },
      time: Date.UTC(2026, 0, 1) / 1000,
      reqId: 'x',
    })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'x',
    })
    expect(logged).toEqual([])
  })

  test('leaves out details where there are none, and what is only for the log', async () => {
    const { send, logged } = await serving(
      failing(new Failure('E-UNAVAILABLE', { cause: new Error('10.0.0.3 refused') })),
    )
    const { status, json, text: body } = await send('/api/thing')
    expect(status).toBe(503)
    expect(Object.keys(json.error)).toEqual(['code', 'message'])
    expect(body).not.toContain('10.0.0.3')
    expect(logged).toMatchObject([{ level: 'warn', fields: { endpoint: 'getThing', reqId: json.reqId } }])
  })

  test('tells when to come again', async () => {
    const { send } = await serving(failing(new Failure('E-RATELIMIT', { retryAfterSecs: 7 })))
    const { status, headers } = await send('/api/thing')
    expect([status, headers['retry-after']]).toEqual([429, '7'])
  })

  test('says nothing about a bug; the log does', async () => {
    const { send, logged } = await serving(failing(new TypeError('secret is undefined')))
    const { status, json, text: body } = await send('/api/thing')
    expect([status, json.error]).toEqual([
      500,
      { code: 'E-INTERNAL', message: 'Something went wrong on the server.' },
    ])
    expect(body).not.toContain('secret')
    expect(logged).toMatchObject([{ level: 'error', fields: { endpoint: 'getThing', reqId: json.reqId } }])
  })

  test('that cannot be written ends the connection, not the server', async () => {
    const { send, logged } = await serving(failing(new Failure('E-STATE', { details: { big: 1n } })))
    await expect(send('/api/thing')).rejects.toThrow()
    expect(logged.at(-1)?.message).toBe('a failure could not be answered')
    expect((await send('/nowhere')).status).toBe(404)
  })

  test('is what a payload against the contract becomes', async () => {
    const { send, logged } = await serving(answering(text, () => 5))
    expect((await send('/api/thing')).status).toBe(500)
    expect(logged).toHaveLength(1)
  })

  test('for an unknown path is 404', async () => {
    const { send } = await serving(answering(text, () => 'x'))
    for (const path of [
      '/',
      '/api',
      '/api/thing/',
      '/api/things',
      '/API/thing',
      '//api/thing',
      '/file/upload',
      '/api/thing%2f',
    ]) {
      const { status, json, headers } = await send(path)
      expect([status, json.error.code], path).toEqual([404, 'E-NOTFOUND'])
      expect(headers).toHaveProperty('x-ratelimit-limit')
    }
    expect((await send('/nowhere', { method: 'POST', ...jsonBody({}) })).status).toBe(404)
  })

  test('for a known path with another method is 405, with the methods it takes', async () => {
    const post = contract({ ...base, name: 'postThing', method: 'POST', reply: text })
    const other = contract({
      ...base,
      name: 'deleteThing',
      method: 'DELETE',
      path: '/api/thing/{id}',
      params: Type.Object({ id: Type.String() }),
      reply: text,
    })
    const { send } = await serving([
      answering(text, () => 'x'),
      bind(post, async () => 'x'),
      bind(other, async () => 'x'),
    ])
    for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE']) {
      const { status, json, headers } = await send('/api/thing', { method })
      expect([status, json.error.code, headers.allow], method).toEqual([405, 'E-METHOD', 'GET, HEAD, POST'])
    }
    const { status, headers } = await send('/api/thing/x%2Fy?z=1')
    expect([status, headers.allow]).toEqual([405, 'DELETE'])
  })
})

describe('paths', () => {
  test('of actions and files may be in the singular, and contracts may have others', async () => {
    const paths = ['/api/actions', '/api/files/{id}', '/api/filesystem']
    const endpoints = paths.map((path) => {
      const params = path.includes('{') ? { params: Type.Object({ id: Type.String() }) } : {}
      const get: Contract = { ...base, name: path, path, reply: text, ...params }
      return bind(get, async () => path as never)
    })
    const aliased = contract({
      ...base,
      name: 'aliased',
      path: '/api/me',
      aliases: ['/api/me/full'],
      reply: text,
    })
    const { send } = await serving([...endpoints, bind(aliased, async () => 'me')])
    for (const [path, data] of [
      ['/api/actions', '/api/actions'],
      ['/api/action', '/api/actions'],
      ['/api/files/x', '/api/files/{id}'],
      ['/api/file/x', '/api/files/{id}'],
      ['/api/me/full', 'me'],
    ] as const) {
      expect((await send(path)).json.data, path).toBe(data)
    }
    expect((await send('/api/file')).status).toBe(404)
    expect((await send('/api/file/x', { method: 'PUT' })).headers.allow).toBe('GET, HEAD')
    expect((await send('/api/fileystem')).status).toBe(404)
  })
})

describe('every answer to a route', () => {
  test('is told to the observer, without query and bearer', async () => {
    const seen: unknown[] = []
    const { send } = await serving(
      answering(text, () => 'x'),
      { observe: (answered) => seen.push(answered) },
    )
    await send('/api/thing?token=secret', { headers: { 'x-request-id': 'a' } })
    expect(seen).toEqual([
      {
        endpoint: 'getThing',
        method: 'GET',
        status: 200,
        durationMs: expect.any(Number),
        requestId: 'a',
        ip: '127.0.0.1',
        host: 'alice.example',
      },
    ])
  })
})
