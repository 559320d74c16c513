import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type ProxiedSite,
  readToEnd,
  readUntil,
  startProxiedSite,
  startRawBackend,
  wiki,
} from '#harness/proxied-site.ts'

let lab: ProxiedSite
beforeAll(async () => {
  lab = await startProxiedSite()
})
afterEach(() => {
  lab.configure({})
  lab.warnings.length = 0
})
afterAll(() => lab.close())

const request = (...lines: string[]) => [...lines, '', ''].join('\r\n')
const get = (path = '/', ...more: string[]) => request(`GET ${path} HTTP/1.1`, `Host: ${wiki}`, ...more)

function ask(options: { path?: string; method?: string; headers?: Record<string, string> } = {}) {
  const { path = '/', method = 'GET', headers = {} } = options
  return httpRequest({
    ...{ host: '127.0.0.1', port: lab.site.port, path, method, agent: false },
    headers: { host: wiki, ...headers },
  })
}

async function answerTo(asking: ReturnType<typeof ask>): Promise<IncomingMessage> {
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return answer
}

describe('what comes before and after an answer', () => {
  test('trailers arrive, but for those that would change how it is read', async () => {
    lab.answerWith((_, response) => {
      response.writeHead(200, { trailer: 'x-checksum' })
      response.write('whole')
      response.addTrailers([
        ['X-Checksum', 'abc'],
        ['X-Checksum', 'def'],
        ['Set-Cookie', 'kith=planted'],
        ['Content-Type', 'text/html'],
      ])
      response.end()
    })
    const answer = await answerTo(ask().end())
    expect(await text(answer)).toBe('whole')
    expect(answer.trailers).toEqual({ 'x-checksum': 'abc, def' })
    const socket = lab.connect()
    socket.write(request('GET / HTTP/1.0', `Host: ${wiki}`))
    expect((await readToEnd(socket)).received).toMatch(/\r\n\r\nwhole$/)
  })

  test('early hints arrive, but no more than ten, and none for a client of HTTP/1.0', async () => {
    lab.answerWith((_, response) => {
      for (let at = 0; at < 20; at += 1)
        response.writeInformation(103, { link: `</${at}.css>; rel=preload`, 'set-cookie': 'kith=planted' })
      response.end('hello')
    })
    const received = async (version: string) => {
      const socket = lab.connect()
      socket.write(request(`GET / ${version}`, `Host: ${wiki}`, 'Connection: close'))
      return (await readToEnd(socket)).received
    }
    const answer = await received('HTTP/1.1')
    expect(
      answer.match(/^HTTP\/1\.1 103 Early Hints\r\nlink: <\/\d+\.css>; rel=preload\r\n\r\n/gm),
    ).toHaveLength(10)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*hello$/ms)
    expect(await received('HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*hello$/s)
  })

  test('an answer that is only ever announced is 504', async () => {
    lab.configure({ readTimeoutMs: 1_000 })
    const { promise: announced, resolve } = Promise.withResolvers<void>()
    lab.answerWith((_, response) => {
      response.writeInformation(102)
      resolve()
    })
    const socket = lab.connect()
    socket.write(get())
    await announced
    expect(await readUntil(socket, '\r\n\r\n')).toBe('HTTP/1.1 102 Processing\r\n\r\n')
    lab.clock.advance(500)
    lab.clock.advance(1_500)
    expect(await readUntil(socket, '504')).toMatch(/^HTTP\/1\.1 504 /)
    socket.destroy()
  })
})

test('answers come as the backend gave them, without the headers of its connection', async () => {
  lab.answerWith((_, response) => {
    response.writeHead(302, 'Over There', {
      location: 'http://10.0.0.5/elsewhere',
      'set-cookie': ['a=1', '__Host-kith=planted; Path=/; Secure', 'kith=planted', '=kith=planted', 'b=2'],
      connection: 'close, x-inner',
      'x-inner': 'secret',
      trailer: 'x-trailer',
      'transfer-encoding': 'chunked',
    })
    response.end('gone')
  })
  const asking = ask().end()
  const answer = await answerTo(asking)
  expect(await text(answer)).toBe('gone')
  expect(answer).toMatchObject({ statusCode: 302, statusMessage: 'Over There' })
  expect(answer.headers).toMatchObject({
    location: 'http://10.0.0.5/elsewhere',
    'set-cookie': ['a=1', 'b=2'],
  })
  for (const name of ['x-inner', 'trailer', 'x-request-id']) expect(answer.headers).not.toHaveProperty(name)
})

test('HEAD, 204 and 304 have no body, and keep their connection', async () => {
  lab.answerWith(({ url, method }, response) => {
    const status = Number(url?.slice(1))
    response.writeHead(status, status === 204 ? {} : { 'content-length': '5' })
    response.end(method === 'HEAD' || status !== 200 ? undefined : 'hello')
  })
  const socket = lab.connect()
  const head = (method: string, path: string) => request(`${method} ${path} HTTP/1.1`, `Host: ${wiki}`)
  socket.write(head('HEAD', '/200') + head('GET', '/204') + head('GET', '/304'))
  socket.write(request('GET /200 HTTP/1.1', `Host: ${wiki}`, 'Connection: close'))
  const { received } = await readToEnd(socket)
  expect(received.match(/HTTP\/1.1 \d+/g)).toEqual([200, 204, 304, 200].map((status) => `HTTP/1.1 ${status}`))
  expect(received).toMatch(/Content-Length: 5/i)
  expect(received.match(/hello/g)).toHaveLength(1)
})

test('the first event of a stream arrives before the second is sent', async () => {
  let stream: ServerResponse | undefined
  lab.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    stream = response
  })
  const asking = ask().end()
  const answer = await answerTo(asking)
  stream?.write('data: one\n\n')
  expect(await readUntil(answer as never, 'one')).toBe('data: one\n\n')
  stream?.write('data: two\n\n')
  expect(await readUntil(answer as never, 'two')).toBe('data: two\n\n')
  asking.destroy()
  await once(stream as ServerResponse, 'close')
})

test('an upload of 50 MB passes without being kept', async () => {
  const piece = Buffer.alloc(1_000_000, 'x')
  let received = 0
  let largest = 0
  lab.answerWith((incoming, response) => {
    // Slower than the client: what it has sent on top would pile up in between.
    void (async () => {
      for await (const chunk of incoming) {
        received += (chunk as Buffer).length
        largest = Math.max(largest, sent - received)
        await new Promise(setImmediate)
      }
      response.end('thanks')
    })()
  })
  const asking = ask({ method: 'POST', headers: { 'content-length': '50000000' } })
  let sent = 0
  for (let at = 0; at < 50; at += 1) {
    sent += piece.length
    if (!asking.write(piece)) await once(asking, 'drain')
  }
  asking.end()
  expect(await text(await answerTo(asking))).toBe('thanks')
  expect(received).toBe(50_000_000)
  // What the sockets of both connections hold in the kernel, and one piece.
  expect(largest).toBeLessThan(16_000_000)
})

test('a download of 50 MB waits for a visitor who reads slowly', async () => {
  const piece = Buffer.alloc(1_000_000, 'x')
  let sent = 0
  let received = 0
  let largest = 0
  lab.answerWith((_, response) => {
    void (async () => {
      for (let at = 0; at < 50; at += 1) {
        sent += piece.length
        if (!response.write(piece)) await once(response, 'drain')
      }
      response.end()
    })()
  })
  for await (const chunk of await answerTo(ask().end())) {
    received += (chunk as Buffer).length
    largest = Math.max(largest, sent - received)
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  }
  expect(received).toBe(50_000_000)
  expect(largest).toBeLessThan(16_000_000)
})

test('a client that waits for leave to send its body gets it when a backend is there', async () => {
  lab.answerWith((incoming, response) => void incoming.pipe(response))
  const socket = lab.connect()
  socket.write(
    request(
      'POST / HTTP/1.1',
      `Host: ${wiki}`,
      'Expect: 100-continue',
      'Content-Length: 5',
      'Connection: close',
    ),
  )
  expect(await readUntil(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('hello')
  expect((await readToEnd(socket)).received).toMatch(/^HTTP\/1.1 200 .*hello/s)
})

test('an answer before the end of the body arrives, and the body is thrown away', async () => {
  lab.answerWith((_, response) => void response.writeHead(413, { connection: 'close' }).end('too much'))
  const socket = lab.connect()
  socket.write(request('POST / HTTP/1.1', `Host: ${wiki}`, 'Content-Length: 1000000'))
  socket.write('x'.repeat(100_000))
  expect(await readUntil(socket, 'too much')).toMatch(/^HTTP\/1.1 413 /)
  socket.destroy()
})

test('a visitor who goes away is gone for the backend too', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  lab.answerWith((_, response) => {
    response.once('close', resolve)
    ask()
  })
  const socket = lab.connect()
  socket.write(get())
  await asked
  socket.destroy()
  await closed
  expect(lab.warnings).toEqual([])
})

test('a site that ends takes with it what is under way, and no other site’s', async () => {
  lab.answerWith((_, response) => void response.write('half'))
  const socket = lab.connect()
  socket.write(get())
  await readUntil(socket, 'half')
  lab.proxy.keepOnly(new Set([wiki]))
  expect(lab.warnings).toEqual([])
  lab.proxy.keepOnly(new Set())
  expect((await readToEnd(socket)).isReset).toBe(true)
  expect(lab.warnings).toMatchObject([{ fields: { status: 503, reason: 'the site has ended' } }])
})

describe('an answer that breaks off is never taken for a whole one', () => {
  const heads: Record<string, string> = {
    'with a length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
    'in chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'in a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf',
  }
  test.each(['HTTP/1.1', 'HTTP/1.0'])(
    'without a length that ends by a reset, for a client of %s',
    async (version) => {
      const open: Socket[] = []
      const backend = await startRawBackend((socket) => {
        open.push(socket)
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'))
      })
      lab.configure({ origin: backend.origin })
      const socket = lab.connect()
      socket.write(request(`GET / ${version}`, `Host: ${wiki}`))
      await readUntil(socket, 'half')
      open[0]?.resetAndDestroy()
      expect((await readToEnd(socket)).isReset).toBe(true)
      backend.close()
    },
  )

  test('without a length that ends as it should is whole', async () => {
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nwhole'))
    })
    lab.configure({ origin: backend.origin })
    expect((await lab.site.send('/', { headers: { host: wiki } })).text).toBe('whole')
    backend.close()
  })

  const versions = ['HTTP/1.1', 'HTTP/1.0']
  const cases = Object.entries(heads).flatMap(([name, head]) =>
    versions.map((version) => [name, version, head]),
  )
  test.each(cases)('%s, for a client of %s', async (_, version, head = '') => {
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => socket.write(head))
    })
    lab.configure({ origin: backend.origin })
    const socket = lab.connect()
    socket.write(request(`GET / ${version}`, `Host: ${wiki}`))
    await readUntil(socket, 'half')
    backend.close()
    const { received, isReset } = await readToEnd(socket)
    expect({ received, isReset }).toEqual({ received: '', isReset: true })
  })
})

describe('a backend that does not answer', () => {
  test('is 502 when nothing listens, with one line in the log', async () => {
    const backend = await startRawBackend(() => undefined)
    backend.close()
    lab.configure({ origin: backend.origin })
    lab.clock.advance(10_000)
    lab.warnings.length = 0
    lab.refusals.length = 0
    for (const _ of [1, 2]) {
      const answer = await lab.site.send('/page?secret=1', { headers: { host: wiki } })
      expect(answer).toMatchObject({ status: 502, text: '502 Bad Gateway\n' })
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    }
    expect(lab.warnings).toHaveLength(1)
    expect(lab.refusals.length).toBeGreaterThan(1)
    expect(new Set(lab.refusals)).toEqual(new Set([502]))
    expect(lab.warnings[0]?.fields).toMatchObject({ host: wiki, path: '/page', status: 502 })
    expect(JSON.stringify(lab.warnings)).not.toContain('secret')
  })

  test('is 502 when it says what is no answer', async () => {
    for (const nonsense of [
      'hello\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ]) {
      const backend = await startRawBackend((socket) => {
        socket.once('data', () => socket.end(nonsense))
      })
      lab.configure({ origin: backend.origin })
      expect((await lab.site.send('/', { headers: { host: wiki } })).status).toBe(502)
      backend.close()
    }
  })

  const unreadable = {
    'its answer has a coding that nobody asked for':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'its answer has a coding behind that of the body':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    'it changes the protocol unasked':
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  }
  test.each(Object.entries(unreadable))('is 502 when %s', async (_, answer) => {
    const backend = await startRawBackend((socket) => void socket.once('data', () => socket.write(answer)))
    lab.configure({ origin: backend.origin })
    expect((await lab.site.send('/', { headers: { host: wiki } })).status).toBe(502)
    backend.close()
  })

  test.each(['Не найдено', 'No\u0001', ''])('may say %j beside its status', async (phrase) => {
    const answer = `HTTP/1.1 404 ${phrase}\r\nContent-Length: 4\r\n\r\ngone`
    const backend = await startRawBackend((socket) => void socket.once('data', () => socket.write(answer)))
    lab.configure({ origin: backend.origin })
    const { status, text: body } = await lab.site.send('/', { headers: { host: wiki } })
    expect([status, body]).toEqual([404, 'gone'])
    backend.close()
  })

  test('is 502 when its answer has two lengths', async () => {
    const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => socket.end(smuggled))
    })
    lab.configure({ origin: backend.origin })
    expect((await lab.site.send('/', { headers: { host: wiki } })).status).toBe(502)
    backend.close()
  })

  test('is 504 when nothing comes for the time of the site', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    lab.answerWith(() => resolve())
    lab.configure({ readTimeoutMs: 7_000 })
    const answer = lab.site.send('/', { headers: { host: wiki } })
    await asked
    lab.clock.advance(6_500)
    lab.clock.advance(1_000)
    expect((await answer).status).toBe(504)
  })

  test('is 504 when it cannot be connected to in time', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>()
    // It accepts the connection and never answers the handshake.
    const backend = await startRawBackend((socket) => socket.once('data', () => resolve()))
    lab.configure({ origin: backend.origin.replace('http:', 'https:'), connectTimeoutMs: 3_000 })
    const answer = lab.site.send('/', { headers: { host: wiki } })
    await reached
    lab.clock.advance(3_500)
    expect((await answer).status).toBe(504)
    backend.close()
  })

  test('ends an answer that has begun by a reset when nothing comes any more', async () => {
    lab.answerWith((_, response) => void response.writeHead(200).write('begun'))
    lab.configure({ readTimeoutMs: 2_000 })
    const socket = lab.connect()
    socket.write(get())
    await readUntil(socket, 'begun')
    lab.clock.advance(500)
    lab.clock.advance(3_000)
    expect(await readToEnd(socket)).toEqual({ received: '', isReset: true })
  })
})

test('a visitor who stops in the middle of a body is answered 408', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  lab.answerWith((incoming) => incoming.once('data', () => resolve()))
  lab.configure({ readTimeoutMs: 2_000 })
  const socket = lab.connect()
  socket.write(`${request('POST / HTTP/1.1', `Host: ${wiki}`, 'Content-Length: 10')}half`)
  await asked
  lab.clock.advance(500)
  lab.clock.advance(3_000)
  expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1.1 408 /)
  socket.destroy()
})

test('a kept connection that the backend has closed meanwhile costs no answer', async () => {
  let connections = 0
  const backend = await startRawBackend((socket) => {
    connections += 1
    const hangsUp = connections === 1
    let requests = 0
    socket.on('data', () => {
      requests += 1
      if (hangsUp && requests === 2) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  lab.configure({ origin: backend.origin })
  for (const _ of [1, 2]) expect((await lab.site.send('/', { headers: { host: wiki } })).text).toBe('ok')
  expect(connections).toBe(2)
  backend.close()
})

test('headers are set and a prefix is taken off as configured', async () => {
  let seen: IncomingMessage | undefined
  lab.answerWith((incoming, response) => {
    seen = incoming
    response.setHeader('server', 'inner').end()
  })
  lab.configure({
    stripPrefix: '/app',
    requestHeaders: new Map([['x-key', ['x_key', 'of the proxy']]]),
    responseHeaders: new Map([
      ['server', ['Server', 'outer']],
      ['x-frame-options', ['X-Frame-Options', 'DENY']],
    ]),
  })
  const paths = {
    '/app/x?y=/app': '/x?y=/app',
    '/app': '/',
    '/app?q': '/?q',
    '/apple': '/apple',
    '/x/app': '/x/app',
  }
  for (const [path, inner] of Object.entries(paths)) {
    const forged = { 'x-key': 'forged', X_Key: 'forged' }
    const answer = await lab.site.send(path, { headers: { host: wiki, ...forged } })
    expect(seen?.url).toBe(inner)
    expect(seen?.headers).toMatchObject({ x_key: 'of the proxy' })
    expect(seen?.headers).not.toHaveProperty('x-key')
    expect(answer.headers).toMatchObject({ server: 'outer', 'x-frame-options': 'DENY' })
  }
})
