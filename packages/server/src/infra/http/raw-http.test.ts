import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { contract, JsonObject } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpSite, type HttpSiteOptions, startHttpSite } from '#harness/http-site.ts'
import { bind } from './endpoint.ts'

let site: HttpSite | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

const thing = contract({
  name: 'echo',
  method: 'POST',
  path: '/api/echo',
  tag: 'Things',
  summary: 'Echo',
  auth: 'none',
  body: { kind: 'json', schema: JsonObject, optional: true },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({ host: Type.String(), body: Type.Optional(JsonObject) }),
  },
  errors: [],
})
const read = contract({
  name: 'read',
  method: 'GET',
  path: '/api/read',
  tag: 'Things',
  summary: 'Read',
  auth: 'none',
  query: Type.Object({ q: Type.Optional(Type.String()) }),
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
})

let calls = 0
async function serving(options: HttpSiteOptions = {}): Promise<HttpSite> {
  calls = 0
  const echo = bind(thing, async ({ tenant, body }) => {
    calls += 1
    return { host: tenant.idTag, ...(body ? { body } : {}) }
  })
  site = await startHttpSite([echo, bind(read, async ({ query }) => query.q ?? 'read')], options)
  return site
}

const head = 'POST /api/echo HTTP/1.1\r\nHost: alice.example\r\nContent-Type: application/json\r\n'

interface Parsed {
  readonly status: number
  readonly headers: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly json: any
}

function parse(answer: string): Parsed {
  const [headers = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(answer.slice(9, 12)), headers: headers.toLowerCase(), json: JSON.parse(body) }
}

describe('a request that could be read in two ways', () => {
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`,
    ],
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
    ['two lengths in one header', `${head}Content-Length: 2, 3\r\n\r\n{} `],
    ['a signed length', `${head}Content-Length: +2\r\n\r\n{}`],
    ['a negative length', `${head}Content-Length: -2\r\n\r\n{}`],
    ['a hexadecimal length', `${head}Content-Length: 0x2\r\n\r\n{}`],
    ['chunked that is not the last coding', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown coding', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['two codings', `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a chunk size that is none', `${head}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than it says', `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    ['a space before the colon', `${head}Content-Length : 2\r\n\r\n{}`],
    ['a folded header', `${head}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`],
    ['a bare line feed', 'POST /api/echo HTTP/1.1\nHost: alice.example\nContent-Length: 0\n\n'],
    ['a bare carriage return', `${head}X-A: b\rContent-Length: 2\r\n\r\n{}`],
    ['a NUL in a header', `${head}X-A: b\0c\r\n\r\n`],
    ['no host', 'POST /api/echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
    ['two hosts', `${head}Host: bob.example\r\nContent-Length: 0\r\n\r\n`],
    ['an unknown version', 'GET /api/read HTTP/3.7\r\nHost: alice.example\r\n\r\n'],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a target that is no path', 'GET api/read HTTP/1.1\r\nHost: alice.example\r\n\r\n'],
    ['a method of nonsense', 'G@T /api/read HTTP/1.1\r\nHost: alice.example\r\n\r\n'],
  ])('is 400 and ends the connection: %s', async (_, raw) => {
    const { sendRaw } = await serving()
    const { status, headers, json } = parse(await sendRaw(raw))
    expect(status).toBe(400)
    expect(headers).toContain('connection: close')
    expect(headers).toContain('x-content-type-options: nosniff')
    expect(json).toEqual({
      error: { code: 'E-VALIDATION', message: 'The request is not valid.' },
      time: expect.any(Number),
      reqId: expect.stringMatching(/^[\w.-]{1,64}$/),
    })
    expect(headers).toContain(`x-request-id: ${json.reqId}`.toLowerCase())
  })

  test('never hides a second one behind the first', async () => {
    const { sendRaw } = await serving()
    const smuggled = 'POST /api/echo HTTP/1.1\r\nHost: alice.example\r\n\r\n'
    const answer = await sendRaw(
      `${head}Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    )
    expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1)
    expect(calls).toBe(0)
  })
})

describe('the form of a request', () => {
  test('may be absolute: its host counts, not the header', async () => {
    const { sendRaw } = await serving()
    const body = 'Content-Length: 2\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}'
    const good = await sendRaw(
      `POST http://alice.example:80/api/echo HTTP/1.1\r\nHost: bob.example\r\n${body}`,
    )
    expect(parse(good).json.data.host).toBe('alice.example')
    const foreign = await sendRaw(
      `POST http://bob.example/api/echo HTTP/1.1\r\nHost: alice.example\r\n${body}`,
    )
    expect(parse(foreign).json.error.code).toBe('E-PROFILE-NOTFOUND')
    const bare = await sendRaw(
      'GET http://alice.example HTTP/1.1\r\nHost: alice.example\r\nConnection: close\r\n\r\n',
    )
    expect(parse(bare).json.error.code).toBe('E-NOTFOUND')
    const withUser = await sendRaw(
      `POST http://bob.example@alice.example/api/echo HTTP/1.1\r\nHost: alice.example\r\n${body}`,
    )
    expect(parse(withUser).status).toBe(400)
  })

  test('of HTTP/1.0 is answered, without a host like an unknown one', async () => {
    const { sendRaw } = await serving()
    expect(parse(await sendRaw('GET /api/read HTTP/1.0\r\nHost: alice.example\r\n\r\n')).json.data).toBe(
      'read',
    )
    expect(parse(await sendRaw('GET /api/read HTTP/1.0\r\n\r\n')).json.error.code).toBe('E-PROFILE-NOTFOUND')
  })

  test('may be pipelined', async () => {
    const { sendRaw } = await serving()
    const one = (q: string, close: string) =>
      `GET /api/read?q=${q} HTTP/1.1\r\nHost: alice.example\r\n${close}\r\n`
    const answer = await sendRaw(one('a', '') + one('b', '') + one('c', 'Connection: close\r\n'))
    expect([...answer.matchAll(/"data":"(\w)"/g)].map((match) => match[1])).toEqual(['a', 'b', 'c'])
  })

  test('with garbage behind it gets one answer, and the connection ends', async () => {
    const { sendRaw } = await serving()
    const answer = await sendRaw('GET /api/read HTTP/1.1\r\nHost: alice.example\r\n\r\nGARBAGE\r\n\r\n')
    expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1)
    expect(parse(answer).status).toBe(400)
  })

  test('may wait for leave to send its body', async () => {
    const { port } = await serving()
    const socket = connect(port, '127.0.0.1')
    socket.write(`${head}Content-Length: 7\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`)
    expect(await nextData(socket)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{"a":1}')
    expect(parse(await text(socket)).json.data.body).toEqual({ a: 1 })
  })

  test('may expect what we do not know', async () => {
    const { sendRaw } = await serving()
    const answer = await sendRaw(
      'GET /api/read HTTP/1.1\r\nHost: alice.example\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    )
    expect(parse(answer).status).toBe(200)
  })
})

describe('the head of a request', () => {
  test('may be 16 KiB long and no longer', async () => {
    const { sendRaw } = await serving()
    const withHeader = (length: number) =>
      `GET /api/read HTTP/1.1\r\nHost: alice.example\r\nConnection: close\r\nX-A: ${'x'.repeat(length)}\r\n\r\n`
    expect(parse(await sendRaw(withHeader(15_000))).status).toBe(200)
    const { status, headers, json } = parse(await sendRaw(withHeader(17_000)))
    expect([status, json.error.code]).toEqual([431, 'E-TOOLARGE'])
    expect(headers).toContain('connection: close')
  })

  test('must arrive in time, and an idle connection ends after a while', async () => {
    const { server } = await serving()
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxRequestsPerSocket } = server.server
    expect({ headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxRequestsPerSocket }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 0,
      keepAliveTimeout: 65_000,
      timeout: 120_000,
      maxRequestsPerSocket: 0,
    })
  })

  test('that does not is 408', async () => {
    const { server, port } = await serving()
    server.server.headersTimeout = 1
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /api/read HTTP/1.1\r\nHost: alice')
    const { status, json } = parse(await text(socket))
    expect([status, json.error.message]).toEqual([408, 'The request took too long to arrive.'])
  })
})

function nextData(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (data) => resolve(data.toString())))
}
