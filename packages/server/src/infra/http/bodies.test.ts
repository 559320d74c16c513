import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { contract, JsonObject } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { httpSites } from '#harness/http-site.ts'
import { Failure } from '#lib/failure.ts'
import { type ByteBody, bind } from './endpoint.ts'

const serving = httpSites()
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

function open(port: number, raw: string): Socket {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.write(raw)
  return socket
}

const base = {
  tag: 'Things',
  summary: 'Post',
  method: 'POST',
  path: '/api/thing',
  auth: 'none',
  errors: [],
} as const
const reply = { kind: 'data', status: 200, schema: Type.Unknown() } as const

const json = contract({ ...base, name: 'postJson', body: { kind: 'json', schema: JsonObject }, reply })
const optional = contract({
  ...base,
  name: 'postOptional',
  body: { kind: 'json', schema: JsonObject, optional: true },
  reply,
})
const bodiless = contract({ ...base, name: 'postNothing', reply })
const token = contract({ ...base, name: 'postToken', body: { kind: 'jwt' }, reply })
const tokens = contract({ ...base, name: 'postTokens', body: { kind: 'jwt', beside: 'other' }, reply })
const bytes = contract({ ...base, name: 'postBytes', body: { kind: 'bytes' }, reply })

const echoJson = bind(json, async ({ body }) => body)
const echoTokens = bind(tokens, async ({ body }) => body)
const echoToken = bind(token, async ({ body }) => body)
const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
const echoBytes = bind(bytes, async ({ body: { stream, ...rest } }) => {
  const data = await buffer(stream)
  return { ...rest, size: data.length, sha256: digest(data) }
})

const asJson = { 'content-type': 'application/json' }

describe('a JSON body', () => {
  test.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON', 200],
    ['application/merge-patch+json', 200],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['text/json', 415],
    ['nonsense', 415],
  ])('of type %s answers %i', async (type, status) => {
    const { send } = await serving(echoJson)
    const answer = await send('/api/thing', {
      method: 'POST',
      headers: { 'content-type': type },
      body: '{"a":1}',
    })
    expect(answer.status).toBe(status)
    if (status === 415) expect(answer.json.error.code).toBe('E-MEDIATYPE')
  })

  test('without a type is 415', async () => {
    const { send } = await serving(echoJson)
    expect((await send('/api/thing', { method: 'POST', body: '{"a":1}' })).status).toBe(415)
  })

  test('that is compressed is 415', async () => {
    const { send } = await serving(echoJson)
    const headers = { ...asJson, 'content-encoding': 'gzip' }
    expect((await send('/api/thing', { method: 'POST', headers, body: '{}' })).status).toBe(415)
  })

  test.each([
    ['malformed', '{"a":'],
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['too deep', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['with U+0000 in a value', '{"a":{"b":["x\\u0000"]}}'],
    ['with a number that is too large', '{"a":{"b":[1e400]}}'],
    ['with U+0000 in a name', '{"a\\u0000":1}'],
    ['with half a character', '{"a":"\\ud800"}'],
    ['missing', ''],
  ])('that is %s is 400', async (_, body) => {
    const { send } = await serving(echoJson)
    const { status, json: answer } = await send('/api/thing', { method: 'POST', headers: asJson, body })
    expect([status, answer.error.code]).toEqual([400, 'E-VALIDATION'])
    expect(answer.error.details.issues[0].path).toBe('')
  })

  test('may contain brackets and backslashes in strings', async () => {
    const { send } = await serving(echoJson)
    const value = { a: '['.repeat(200), b: '\\"{['.repeat(50), c: '\\\\u0000', d: '\\' }
    const body = JSON.stringify(value)
    expect((await send('/api/thing', { method: 'POST', headers: asJson, body })).json.data).toEqual(value)
  })

  test('is taken up to 1 MiB', async () => {
    const { send } = await serving(echoJson)
    const fits = JSON.stringify({ a: 'x'.repeat(1024 * 1024 - 8) })
    expect(fits).toHaveLength(1024 * 1024)
    expect((await send('/api/thing', { method: 'POST', headers: asJson, body: fits })).status).toBe(200)
    const { status, json: answer } = await send('/api/thing', {
      method: 'POST',
      headers: asJson,
      body: `${fits} `,
    })
    expect([status, answer.error.code]).toEqual([413, 'E-TOOLARGE'])
  })

  test('that grows beyond 1 MiB without saying so is 413', async () => {
    const { port } = await serving(echoJson)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    for (let sent = 0; sent < 20; sent += 1) socket.write(chunk)
    const [answer] = (await Promise.race([firstData(socket)])).split('\r\n')
    expect(answer).toBe('HTTP/1.1 413 Payload Too Large')
  })

  test('that does not arrive in 30 seconds ends the connection', async () => {
    const { port, clock } = await serving(echoJson)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\ncontent-type: application/json\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n{"a"',
    )
    expect(await firstData(socket)).toContain('100 Continue')
    const closed = text(socket)
    clock.advance(30_000)
    expect(await closed).toBe('')
  })

  test('may be missing where it is optional, with any type', async () => {
    const { send } = await serving(bind(optional, async ({ body }) => body ?? 'nothing'))
    for (const headers of [{}, asJson, { 'content-type': 'text/plain' }]) {
      expect((await send('/api/thing', { method: 'POST', headers })).json.data).toBe('nothing')
    }
    expect((await send('/api/thing', { method: 'POST', headers: asJson, body: '{}' })).json.data).toEqual({})
  })

  test('is ignored where the endpoint needs none', async () => {
    const { send } = await serving(bind(bodiless, async () => 'done'))
    const bodies = [
      {},
      { headers: asJson },
      { headers: asJson, body: '{}' },
      { headers: asJson, body: '{' },
      { body: 'x' },
    ]
    for (const sent of bodies) {
      expect((await send('/api/thing', { method: 'POST', ...sent })).json.data).toBe('done')
    }
  })
})

const post = (type: string, body: string) => ({ method: 'POST', headers: { 'content-type': type }, body })

describe('a token body', () => {
  test('is text, or JSON with the member token', async () => {
    const { send } = await serving(echoToken)
    expect((await send('/api/thing', post('application/jwt', ' a.b.c\n'))).json.data).toBe('a.b.c')
    expect((await send('/api/thing', post('application/json', '{"token":"a.b.c"}'))).json.data).toBe('a.b.c')
  })

  test.each([
    ['text/plain', 'a.b.c', 415],
    ['application/jwt', '', 400],
    ['application/json', '', 400],
    ['application/json', '{}', 400],
    ['application/json', '{"token":5}', 400],
    ['application/json', '"a.b.c"', 400],
    ['application/jwt', 'x'.repeat(256 * 1024 + 1), 413],
    ['application/jwt', 'x'.repeat(256 * 1024), 200],
  ])('of type %s, %.20s answers %i', async (type, body, status) => {
    const { send } = await serving(echoToken)
    expect((await send('/api/thing', post(type, body))).status).toBe(status)
  })
})

describe('a token with another beside it', () => {
  const longest = 'x'.repeat(256 * 1024)

  test('is JSON, each as long as one alone may be', async () => {
    const { send } = await serving(echoTokens)
    const body = { token: longest, other: longest }
    const answer = await send('/api/thing', post('application/json', JSON.stringify(body)))
    expect(answer.json.data).toEqual({ token: longest, beside: longest })
    expect((await send('/api/thing', post('application/jwt', 'a.b.c'))).json.data).toEqual({ token: 'a.b.c' })
  })

  test.each<[unknown, number]>([
    [{ token: `${longest}x`, other: 'a' }, 413],
    [{ token: 'a', other: `${longest}x` }, 413],
    [{ token: 'a', other: 5 }, 400],
    [{ other: 'a' }, 400],
    [{ token: 'a', other: 'b', more: longest }, 200],
  ])('case %# answers as it should', async (body, status) => {
    const { send } = await serving(echoTokens)
    expect((await send('/api/thing', post('application/json', JSON.stringify(body)))).status).toBe(status)
  })
})

describe('raw bytes', () => {
  test('arrive as they were sent, with their type and length', async () => {
    const { send } = await serving(echoBytes)
    const data = randomBytes(3_000_000)
    const answer = await send('/api/thing', {
      method: 'POST',
      headers: { 'content-type': 'image/png', 'content-length': '3000000' },
      body: data,
    })
    expect(answer.json.data).toEqual({
      contentType: 'image/png',
      declaredLength: 3_000_000,
      atMostLength: 3_000_000,
      size: 3_000_000,
      sha256: digest(data),
    })
  })

  test('may be of no type, and none at all', async () => {
    const { send } = await serving(echoBytes)
    const { json: answer } = await send('/api/thing', { method: 'POST' })
    expect(answer.data).toMatchObject({ contentType: 'application/octet-stream', size: 0 })
  })

  test('are not JSON', async () => {
    const { send } = await serving(echoBytes)
    const { status, json: answer } = await send('/api/thing', {
      method: 'POST',
      headers: asJson,
      body: '{"file":1}',
    })
    expect([status, answer.error.code]).toEqual([415, 'E-MEDIATYPE'])
  })

  test('may be a file of JSON for which the type is more than that', async () => {
    const { send } = await serving(echoBytes)
    const headers = { 'content-type': 'application/geo+json' }
    const { status, json: answer } = await send('/api/thing', { method: 'POST', headers, body: '{}' })
    expect([status, answer.data.contentType]).toEqual([200, 'application/geo+json'])
  })

  test.each(['', ' ', 'garbage', 'image', '/', 'image/', 'image/png x'])(
    'of what is no type, like %j, are bytes of no type',
    async (type) => {
      const { send } = await serving(echoBytes)
      const headers = { 'content-type': type }
      const { status, json: answer } = await send('/api/thing', { method: 'POST', headers, body: 'x' })
      expect([status, answer.data]).toMatchObject([200, { contentType: 'application/octet-stream', size: 1 }])
    },
  )

  test.each(['mixed', 'alternative', 'byteranges'])(
    'are not of several parts: multipart/%s',
    async (kind) => {
      const { send } = await serving(echoBytes)
      const headers = { 'content-type': `multipart/${kind}; boundary=x` }
      expect((await send('/api/thing', { method: 'POST', headers, body: '--x--' })).status).toBe(415)
    },
  )

  test('are not compressed', async () => {
    const { send } = await serving(echoBytes)
    const headers = { 'content-type': 'image/png', 'content-encoding': 'gzip' }
    expect((await send('/api/thing', { method: 'POST', headers, body: 'x' })).status).toBe(415)
  })

  test('reach the handler before they are all there', async () => {
    const arrived = Promise.withResolvers<string>()
    const endpoint = bind(bytes, async ({ body }) => {
      body.stream.once('data', (chunk) => arrived.resolve(String(chunk)))
      await new Promise((resolve) => body.stream.once('end', resolve))
      return 'all'
    })
    const { port } = await serving(endpoint)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nconnection: close\r\ncontent-length: 10\r\n\r\nfirst',
    )
    expect(await arrived.promise).toBe('first')
    socket.write('other')
    expect(await text(socket)).toContain('"all"')
  })

  test('that break off fail the reader and are not logged as a bug', async () => {
    const failed = Promise.withResolvers<unknown>()
    const endpoint = bind(bytes, async ({ body, signal }) => {
      const error = await buffer(body.stream).catch((reason: unknown) => reason)
      failed.resolve([error instanceof Error, signal.aborted])
      throw error
    })
    const { port, logged } = await serving(endpoint)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\nfirst',
    )
    await firstData(socket)
    socket.destroy()
    expect(await failed.promise).toEqual([true, true])
    expect(logged).toEqual([])
  })

  test('that hardly move end the connection', async () => {
    const failed = Promise.withResolvers<unknown>()
    const endpoint = bind(bytes, async ({ body }) => {
      const error = await buffer(body.stream).catch((reason: unknown) => reason)
      failed.resolve(error)
      return 'too late'
    })
    const { port, clock } = await serving(endpoint)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nexpect: 100-continue\r\ncontent-length: 100000\r\n\r\n',
    )
    await firstData(socket)
    const closed = text(socket)
    clock.advance(30_000)
    expect(String(await failed.promise)).toContain('too slow')
    expect(await closed).toBe('')
  })

  test('may wait for a reader that is slow', async () => {
    const reading = Promise.withResolvers<ByteBody>()
    const goOn = Promise.withResolvers<void>()
    const endpoint = bind(bytes, async ({ body }) => {
      reading.resolve(body)
      await goOn.promise
      return (await buffer(body.stream)).length
    })
    const { send, clock } = await serving(endpoint)
    const answer = send('/api/thing', { method: 'POST', body: randomBytes(2_000_000) })
    const { stream } = await reading.promise
    await new Promise((resolve) => stream.once('readable', resolve))
    while (stream.readableLength < stream.readableHighWaterMark) await new Promise(setImmediate)
    clock.advance(300_000)
    goOn.resolve()
    expect((await answer).json.data).toBe(2_000_000)
  })
})

describe('a multipart form', () => {
  const boundary = 'xYzZy'
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const part = (disposition: string, content: string, type?: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type ? `content-type: ${type}\r\n` : ''}\r\n${content}\r\n`
  const end = `--${boundary}--\r\n`

  test.each([
    ['alone', part('name="file"; filename="a.txt"', 'hello', 'text/plain') + end, 'a.txt'],
    [
      'after fields',
      part('name="tags"', 'a,b') + part('name="file"; filename="a.txt"', 'hello', 'text/plain') + end,
      'a.txt',
    ],
    [
      'after other files',
      part('name="other"; filename="x"', 'no', 'image/png') +
        part('name="file"; filename="a.txt"', 'hello', 'text/plain') +
        end,
      'a.txt',
    ],
    [
      'before another one',
      part('name="file"; filename="a.txt"', 'hello', 'text/plain') +
        part('name="file"; filename="b.txt"', 'no', 'text/plain') +
        end,
      'a.txt',
    ],
    ['without a file name', part('name="file"', 'hello') + end, undefined],
    [
      'without the path of its name',
      part('name="file"; filename="../../a.txt"', 'hello', 'text/plain') + end,
      'a.txt',
    ],
    ['as JSON', part('name="file"; filename="a.txt"', 'hello', 'application/json') + end, 'a.txt'],
  ])('gives its part `file` %s', async (_, body, fileName) => {
    const { send } = await serving(echoBytes)
    const { json: answer } = await send('/api/thing', { method: 'POST', headers, body })
    expect(answer.data).toMatchObject({ size: 5, sha256: digest(Buffer.from('hello')) })
    expect(answer.data.fileName).toBe(fileName)
  })

  test('streams a large part', async () => {
    const { send } = await serving(echoBytes)
    const data = randomBytes(5_000_000)
    const head = part('name="file"; filename="big.bin"', '', 'application/octet-stream').slice(0, -2)
    const body = Buffer.concat([Buffer.from(head), data, Buffer.from(`\r\n${end}`)])
    const sized = { ...headers, 'content-length': String(body.length) }
    const { json: answer } = await send('/api/thing', { method: 'POST', headers: sized, body })
    const atMostLength = body.length
    expect(answer.data).toMatchObject({ size: data.length, sha256: digest(data), atMostLength })
    expect(answer.data).not.toHaveProperty('declaredLength')
  })

  test.each([
    ['without the part', part('name="other"; filename="x"', 'no', 'image/png') + end, '/file'],
    ['without any part', end, '/file'],
    ['that is none', 'not a form', ''],
    ['that is empty', '', ''],
  ])('%s is 400', async (_, body, path) => {
    const { send } = await serving(echoBytes)
    const { status, json: answer } = await send('/api/thing', { method: 'POST', headers, body })
    expect([status, answer.error.code, answer.error.details.issues[0].path]).toEqual([
      400,
      'E-VALIDATION',
      path,
    ])
  })

  test('without a boundary is 400', async () => {
    const { send } = await serving(echoBytes)
    const type = { 'content-type': 'multipart/form-data' }
    expect((await send('/api/thing', { method: 'POST', headers: type, body: 'x' })).status).toBe(400)
  })

  const form =
    part('name="doc"; filename="d"', 'other', 'text/plain') +
    part('name="file"; filename="a.txt"', 'hello', 'text/plain') +
    part('name="late"', 'x') +
    end

  test('that is cut short anywhere is 400, and the server lives', async () => {
    const { send, logged } = await serving(echoBytes)
    const post = async (body: string) => (await send('/api/thing', { method: 'POST', headers, body })).status
    const whole = form.length - '\r\n'.length
    for (let length = 0; length < whole; length += 1)
      expect([length, await post(form.slice(0, length))]).toEqual([length, 400])
    expect(await post(form.slice(0, whole))).toBe(200)
    expect(await post(form)).toBe(200)
    expect(logged).toEqual([])
  })

  test('that is cut short before it is read is 400', async () => {
    const endpoint = bind(bytes, async ({ body }) => {
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
      return (await buffer(body.stream)).length
    })
    const { send } = await serving(endpoint)
    const body = form.slice(0, form.indexOf('hello') + 2)
    expect((await send('/api/thing', { method: 'POST', headers, body })).status).toBe(400)
  })

  test('with a byte out of place never ends the server', async () => {
    const { send, logged } = await serving(echoBytes)
    const wrongs = ['\0', '-', '\r\n']
    for (let at = 0; at < form.length; at += 2) {
      const body = form.slice(0, at) + wrongs[at % wrongs.length] + form.slice(at + 1)
      const { status } = await send('/api/thing', { method: 'POST', headers, body })
      expect([200, 400]).toContain(status)
    }
    expect(logged).toEqual([])
  })

  test('whose sender goes away fails the reader', async () => {
    const failed = Promise.withResolvers<unknown>()
    const endpoint = bind(bytes, async ({ body }) => {
      await buffer(body.stream).catch((reason: unknown) => failed.resolve(reason))
      return 'never'
    })
    const { port, logged } = await serving(endpoint)
    const head = `POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nexpect: 100-continue\r\ncontent-type: ${headers['content-type']}\r\ncontent-length: 100000\r\n\r\n`
    const socket = open(
      port,
      head + part('name="file"; filename="a.txt"', 'hello', 'text/plain').slice(0, -5),
    )
    await firstData(socket)
    await new Promise(setImmediate)
    socket.destroy()
    expect(await failed.promise).toBeInstanceOf(Error)
    expect(logged).toEqual([])
  })

  test('may be refused in the middle: the answer comes, the rest is thrown away', async () => {
    const endpoint = bind(bytes, async ({ body }) => {
      await new Promise((resolve) => body.stream.once('data', resolve))
      body.stream.destroy()
      throw new Failure('E-TOOLARGE')
    })
    const { send } = await serving(endpoint)
    const head = part('name="file"; filename="big.bin"', '', 'application/octet-stream').slice(0, -2)
    const body = Buffer.concat([Buffer.from(head), randomBytes(4_000_000), Buffer.from(`\r\n${end}`)])
    expect((await send('/api/thing', { method: 'POST', headers, body })).status).toBe(413)
  })
})

describe('a body that is not wanted', () => {
  const refusing = bind(contract({ ...bytes, name: 'refuse', auth: 'required' }), async () => 'never')

  test('is not asked for when the request is refused', async () => {
    const { port } = await serving(refusing)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nexpect: 100-continue\r\ncontent-length: 100000\r\n\r\n',
    )
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
    expect(answer.toLowerCase()).toContain('connection: close')
  })

  test('is not asked for when the handler refuses it unread', async () => {
    const endpoint = bind(bytes, async ({ body }) => {
      if (body.declaredLength === 100_000) throw new Failure('E-TOOLARGE')
      return 'never'
    })
    const { port } = await serving(endpoint)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\nexpect: 100-continue\r\ncontent-length: 100000\r\n\r\n',
    )
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer.toLowerCase()).toContain('connection: close')
  })

  test('is thrown away when it is sent all the same, and the connection serves on', async () => {
    const { port } = await serving(refusing)
    const one = `POST /api/thing HTTP/1.1\r\nhost: alice.example\r\ncontent-length: 500000\r\n\r\n${'x'.repeat(500_000)}`
    const socket = open(port, `${one}${one.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')}`)
    expect((await text(socket)).match(/HTTP\/1.1 401 /g)).toHaveLength(2)
  })

  test('ends the connection when it does not end itself', async () => {
    const { port, clock } = await serving(refusing)
    const socket = open(
      port,
      'POST /api/thing HTTP/1.1\r\nhost: alice.example\r\ncontent-length: 500000\r\n\r\nxxx',
    )
    expect(await firstData(socket)).toMatch(/^HTTP\/1.1 401 /)
    const closed = text(socket)
    clock.advance(5_000)
    await closed
    expect(socket.destroyed).toBe(true)
  })
})

function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (data) => resolve(data.toString())))
}
