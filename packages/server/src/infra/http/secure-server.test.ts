import { once } from 'node:events'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { contract, JsonObject } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { alice, type HttpSiteOptions, jsonBody } from '#harness/http-site.ts'
import { frame, frameTypes, headerBlock, preface } from '#harness/http2-frames.ts'
import { type SecureSite, sendHttp2, startSecureSite } from '#harness/secure-site.ts'
import type { Certificates } from '#infra/tls/index.ts'
import { bind, type Endpoint } from './endpoint.ts'

let site: SecureSite | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

async function serving(
  endpoints: readonly Endpoint[],
  options: HttpSiteOptions & { readonly certificates?: Certificates } = {},
) {
  site = await startSecureSite(endpoints, options)
  return Object.assign(site, { session: site.openHttp2() })
}

const base = { tag: 'Things', summary: 'A thing', path: '/api/thing', auth: 'none', errors: [] } as const
const reply = { kind: 'data', status: 200, schema: Type.Unknown() } as const
const bytesReply = { kind: 'bytes', status: 200 } as const
const read = contract({ ...base, name: 'read', method: 'GET', reply })
const post = contract({
  ...base,
  name: 'post',
  method: 'POST',
  body: { kind: 'json', schema: JsonObject },
  reply,
})
const upload = contract({ ...base, name: 'upload', method: 'POST', body: { kind: 'bytes' }, reply })
const download = contract({ ...base, name: 'download', method: 'GET', reply: bytesReply })

const hello = bind(read, async () => 'hello')
const echo = bind(post, async ({ body }) => body)

/** Opens a request whose body goes on. */
function begin(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({ ':path': '/api/thing', ':method': 'POST', ...headers })
  return stream.on('error', () => undefined)
}

/** Numbers below a bound, the same ones each time. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

const closing = (one: ClientHttp2Session | ClientHttp2Stream) =>
  new Promise((resolve) => one.once('close', () => resolve(undefined)))

const statusOf = async (stream: ClientHttp2Stream) => {
  const [headers] = await once(stream, 'response')
  return headers[':status']
}

describe('HTTP/2', () => {
  test('is answered like HTTP/1, and says that the host is to be reached by https alone', async () => {
    const { session } = await serving([hello])
    const { status, headers, json } = await sendHttp2(session, '/api/thing', {
      headers: { 'x-request-id': 'my.id-1' },
    })
    expect({ status, data: json.data }).toEqual({ status: 200, data: 'hello' })
    expect(headers).toMatchObject({
      'x-request-id': 'my.id-1',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(await sendHttp2(session, '/api/thing', { method: 'HEAD' })).toMatchObject({
      status: 200,
      text: '',
    })
    expect(await sendHttp2(session, '/nowhere')).toMatchObject({ status: 404 })
  })

  test('brings bodies of a known length and of none', async () => {
    const { session } = await serving([echo])
    const sent = jsonBody({ a: 1 })
    const known = { ...sent, headers: { ...sent.headers, 'content-length': '7' } }
    for (const one of [sent, known])
      expect((await sendHttp2(session, '/api/thing', { method: 'POST', ...one })).json.data).toEqual({ a: 1 })
  })

  test('asks for a body that waits for leave', async () => {
    const { session } = await serving([echo])
    const stream = begin(session, { 'content-type': 'application/json', expect: '100-continue' })
    await once(stream, 'continue')
    stream.end('{}')
    expect(await statusOf(stream)).toBe(200)
  })

  test('refuses a body that grows beyond its bound', async () => {
    const { session } = await serving([echo])
    const stream = begin(session, { 'content-type': 'application/json' })
    stream.end('x'.repeat(1024 * 1024 + 1))
    expect(await statusOf(stream)).toBe(413)
  })

  test('names one host', async () => {
    const { session } = await serving([hello])
    const headers = { ':authority': alice.idTag, host: 'other.example' }
    expect(await sendHttp2(session, '/api/thing', { headers })).toMatchObject({ status: 400 })
    const same = { ':authority': alice.idTag, host: alice.idTag }
    expect(await sendHttp2(session, '/api/thing', { headers: same })).toMatchObject({ status: 200 })
  })

  test('streams bytes, and closes their source when the client goes away', async () => {
    const source = Readable.from(
      (function* () {
        while (true) yield Buffer.alloc(65_536)
      })(),
    )
    const { session } = await serving([
      bind(download, async () => ({ status: 200, headers: {}, body: async () => source }) as never),
    ])
    const stream = session.request({ ':path': '/api/thing' })
    await once(stream, 'data')
    const closed = new Promise((resolve) => source.once('close', () => resolve(undefined)))
    stream.close()
    await closed
  })

  test('does not let an answer that broke off look like a whole one', async () => {
    const source = new Readable({ read() {} })
    const { session, logged } = await serving([
      bind(download, async () => ({ status: 200, headers: {}, body: async () => source }) as never),
    ])
    const stream = session.request({ ':path': '/api/thing' })
    source.push('half')
    await once(stream, 'data')
    source.destroy(new Error('the disk is gone'))
    await expect(text(stream)).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    expect(logged.map(({ message }) => message)).toEqual(['an answer broke off'])
  })

  test.each([
    ['is reset', frame('reset', { stream: 1, payload: Buffer.of(0, 0, 0, 8) })],
    ['ends without an error', frame('reset', { stream: 1, payload: Buffer.alloc(4) })],
    ['is cut off with its connection', undefined],
  ])('does not take an upload for whole that %s', async (_, last) => {
    const failed = Promise.withResolvers<{ error: unknown; signal: AbortSignal }>()
    const { connectTls, logged } = await serving([
      bind(upload, async ({ body, signal }) => {
        const error = await buffer(body.stream).catch((reason: unknown) => reason)
        failed.resolve({ error, signal })
        throw error
      }),
    ])
    const socket = await connectTls('h2')
    const block = headerBlock({
      ':method': 'POST',
      ':path': '/api/thing',
      ':scheme': 'https',
      ':authority': alice.idTag,
      'content-type': 'image/png',
    })
    socket.write(Buffer.concat([preface, frame('settings', {})]))
    socket.write(frame('headers', { stream: 1, flags: 4, payload: block }))
    socket.write(frame('data', { stream: 1, payload: Buffer.from('first') }))
    if (last) socket.write(last)
    else setImmediate(() => socket.end())
    const { error, signal } = await failed.promise
    expect(error).toBeInstanceOf(Error)
    await expect.poll(() => signal.aborted).toBe(true)
    expect(logged).toEqual([])
  })

  test('lets no header into an answer that HTTP/1 could not carry', async () => {
    const { session } = await serving([
      bind(download, async () => ({ status: 200, headers: { 'x-a': 'a\nb' }, body: undefined }) as never),
    ])
    expect(await sendHttp2(session, '/api/thing')).toMatchObject({ status: 500 })
  })

  test('serves HTTP/1.1 on the same port', async () => {
    const { port, cert } = await serving([hello])
    const asked = httpsRequest({
      host: '127.0.0.1',
      port,
      path: '/api/thing',
      servername: alice.idTag,
      headers: { host: alice.idTag },
      ca: cert,
      agent: false,
    }).end()
    const [answer] = await once(asked, 'response')
    expect(JSON.parse(await text(answer)).data).toBe('hello')
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
  })
})

describe('the limits of HTTP/2', () => {
  test.each([
    ['too long', Object.fromEntries([['x-long', 'a'.repeat(17 * 1024)]])],
    ['too many', Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`x-${at}`, 'a']))],
  ])('refuse headers that are %s', async (_, headers) => {
    const { session } = await serving([hello])
    const refused = await sendHttp2(session, '/api/thing', { headers }).catch((error: Error) => error)
    expect(refused instanceof Error ? refused.message : refused.status).toSatisfy(
      (seen) => seen === 431 || String(seen).includes('NGHTTP2_ENHANCE_YOUR_CALM'),
    )
    expect(await sendHttp2(session, '/api/thing')).toMatchObject({ status: 200 })
  })

  test('bound the requests that one address has under way, over all its connections', async () => {
    const begun: (() => void)[] = []
    const wait = bind(read, () => new Promise<string>((resolve) => begun.push(() => resolve('done'))))
    const { session, openHttp2 } = await serving([wait], { connections: { perAddress: 6, total: 100 } })
    const sessions = [session, openHttp2()]
    const first = Array.from({ length: 6 }, (_, at) => sendHttp2(sessions[at % 2] ?? session, '/api/thing'))
    await expect.poll(() => begun.length).toBe(6)
    expect(await sendHttp2(session, '/api/thing')).toMatchObject({ status: 503 })
    for (const end of begun) end()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array(6).fill(200))
  })

  test('end a connection that floods with requests and takes them back, and no other', async () => {
    const { session, openHttp2, clock } = await serving([hello])
    const closed = closing(session)
    let sent = 0
    const flood = () => {
      for (let at = 0; at < 200 && sent < 20_000 && !session.destroyed; at += 1, sent += 1)
        begin(session).close(8)
      if (sent < 20_000 && !session.destroyed) setImmediate(flood)
    }
    flood()
    await closed
    expect(sent).toBeLessThan(20_000)
    clock.advance(60_000)
    expect(await sendHttp2(openHttp2(), '/api/thing')).toMatchObject({ status: 200 })
  })

  test('end a connection on which no request comes, whatever else does', async () => {
    const { session, clock } = await serving([hello])
    await once(session, 'connect')
    await new Promise((resolve) => session.ping(() => resolve(undefined)))
    const closed = closing(session)
    clock.advance(15_000)
    clock.advance(1_000)
    await closed
  })

  test('end a connection whose first request never comes to its end', async () => {
    const { connectTls, clock } = await serving([hello])
    const socket = (await connectTls('h2')).resume()
    socket.write(Buffer.concat([preface, frame('settings', {})]))
    // Without END_HEADERS.
    socket.write(frame('headers', { stream: 1, payload: headerBlock({ ':method': 'GET' }) }))
    const acknowledged = new Promise((resolve) => socket.once('data', resolve))
    await acknowledged
    const closed = once(socket, 'close')
    clock.advance(15_000)
    clock.advance(1_000)
    await closed
  })

  test('leave the server as it was, whatever frames come', async () => {
    const { connectTls, openHttp2, logged } = await serving([hello, echo])
    const random = seeded(20_261_123)
    const types = Object.keys(frameTypes) as (keyof typeof frameTypes)[]
    const block = headerBlock({
      ':method': 'POST',
      ':path': '/api/thing',
      ':scheme': 'https',
      ':authority': alice.idTag,
    })
    for (let round = 0; round < 60; round += 1) {
      const socket = (await connectTls('h2')).on('error', () => undefined).resume()
      const frames = Array.from({ length: 12 }, () => {
        const type = types[random(types.length)] ?? 'data'
        const payload = type === 'headers' && random(3) > 0 ? block : Buffer.alloc(random(40), random(256))
        return frame(type, { stream: random(4), flags: [0, 1, 4, 5, 8, 32][random(6)] ?? 0, payload })
      })
      socket.end(Buffer.concat([preface, frame('settings', {}), ...frames]))
      await once(socket, 'close')
    }
    expect(await sendHttp2(openHttp2(), '/nowhere')).toMatchObject({ status: 404 })
    expect(logged).toEqual([])
  })

  test('end a connection that is idle after its requests', async () => {
    const { session, clock } = await serving([hello])
    await sendHttp2(session, '/api/thing')
    clock.advance(64_000)
    expect(await sendHttp2(session, '/api/thing')).toMatchObject({ status: 200 })
    const closed = closing(session)
    await expect
      .poll(() => {
        clock.advance(66_000)
        return session.destroyed
      })
      .toBe(true)
    await closed
  })

  test('end an upload that hardly moves, and not its connection', async () => {
    const failed = Promise.withResolvers<unknown>()
    const slow = bind(upload, async ({ body }) => {
      failed.resolve(await buffer(body.stream).catch((reason: unknown) => reason))
      return 'too late'
    })
    const { session, clock } = await serving([slow])
    const stream = begin(session, { 'content-type': 'image/png', expect: '100-continue' })
    await once(stream, 'continue')
    const closed = closing(stream)
    clock.advance(30_000)
    expect(String(await failed.promise)).toContain('too slow')
    await closed
    expect(await sendHttp2(session, '/nowhere')).toMatchObject({ status: 404 })
  })

  test('end what is left of a body after its answer', async () => {
    const { session, clock } = await serving([hello])
    const stream = begin(session, { 'content-type': 'image/png' })
    stream.write('first')
    expect(await statusOf(stream)).toBe(405)
    const closed = closing(stream)
    clock.advance(5_000)
    await closed
    expect(session.destroyed).toBe(false)
  })
})

describe('a stop', () => {
  test('lets a request of HTTP/2 end, and its connection after it', async () => {
    const goOn = Promise.withResolvers<string>()
    const begun = Promise.withResolvers<void>()
    const wait = bind(read, () => {
      begun.resolve()
      return goOn.promise
    })
    const { session, server } = await serving([wait])
    const answer = sendHttp2(session, '/api/thing')
    await begun.promise
    const stopped = server.stop()
    goOn.resolve('done')
    expect((await answer).json.data).toBe('done')
    await stopped
  })

  test('ends idle connections of HTTP/2', async () => {
    const { session, server } = await serving([hello])
    await sendHttp2(session, '/api/thing')
    await server.stop()
  })
})

describe('a handshake', () => {
  test('for a name without a certificate ends with an alert', async () => {
    const none = { find: async () => undefined, onDefault: () => undefined }
    const { connectTls } = await serving([hello], { certificates: none })
    await expect(connectTls()).rejects.toMatchObject({ code: expect.stringContaining('ALERT_HANDSHAKE') })
  })

  test('that fails leaves the server as it was', async () => {
    const { connectTls, port } = await serving([hello])
    const { connect } = await import('node:net')
    for (const junk of ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\xff\xff', '\x80\x2e\x01']) {
      const socket = connect(port, '127.0.0.1')
        .on('error', () => undefined)
        .resume()
      socket.end(junk, 'latin1')
      await once(socket, 'close')
    }
    await expect(connectTls()).resolves.toBeDefined()
  })

  test('counts for its address before it is done', async () => {
    const { port, connectTls } = await serving([hello], { connections: { perAddress: 3, total: 100 } })
    const { connect } = await import('node:net')
    const idle = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    await expect(connectTls()).rejects.toThrow()
    for (const socket of idle) socket.destroy()
    await expect
      .poll(() =>
        connectTls().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
  })
})
