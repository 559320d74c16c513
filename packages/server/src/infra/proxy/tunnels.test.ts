import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import {
  type ProxiedSite,
  readToEnd,
  readUntil,
  startProxiedSite,
  startRawBackend,
  wiki,
} from '#harness/proxied-site.ts'

let lab: ProxiedSite
let sockets: WebSocketServer
beforeAll(async () => {
  lab = await startProxiedSite()
  sockets = new WebSocketServer({ server: lab.backendServer })
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
})
afterEach(() => lab.configure({}))
afterAll(async () => {
  sockets.close()
  await lab.close()
})

function open(path = '/'): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${lab.site.port}${path}`, { headers: { host: wiki } })
}

const handshake = [
  'GET /live?x=1 HTTP/1.1',
  `Host: ${wiki}`,
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n')

test('messages go both ways, and a close of either side is the other’s', async () => {
  const accepted = once(sockets, 'connection')
  const client = open('/live')
  const [backend, request] = (await accepted) as [WebSocket, { url: string; headers: Record<string, string> }]
  expect(request.url).toBe('/live')
  expect(request.headers).toMatchObject({ host: wiki, 'x-forwarded-for': '127.0.0.1' })
  await once(client, 'open')
  for (const message of ['hello', 'x'.repeat(300_000)]) {
    client.send(message)
    const [echo] = await once(client, 'message')
    expect(String(echo)).toBe(message)
  }
  expect(lab.proxy.tunnels).toBe(1)
  client.close(4001, 'enough')
  expect((await once(backend, 'close'))[0]).toBe(4001)
  const again = open()
  const [second] = (await once(sockets, 'connection')) as [WebSocket]
  await once(again, 'open')
  second.close(4002)
  expect((await once(again, 'close'))[0]).toBe(4002)
})

test('either side’s end ends the other’s connection', async () => {
  const client = open()
  const [backend] = (await once(sockets, 'connection')) as [WebSocket]
  await once(client, 'open')
  client.terminate()
  await once(backend, 'close')
  const again = open()
  const [second] = (await once(sockets, 'connection')) as [WebSocket]
  await once(again, 'open')
  second.terminate()
  expect((await once(again, 'close'))[0]).toBe(1006)
  while (lab.proxy.tunnels > 0) await new Promise(setImmediate)
})

test('what a backend answers in HTTP is passed on, and ends the connection', async () => {
  const backend = await startRawBackend((socket) => {
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 403 No\r\nContent-Length: 6\r\nX-Why: because\r\nConnection: x-in\r\nX-In: 1\r\n\r\nsorry!',
      ),
    )
  })
  lab.configure({ origin: backend.origin })
  const socket = lab.connect()
  socket.write(handshake)
  const { received, isReset } = await readToEnd(socket)
  expect(received).toMatch(/^HTTP\/1.1 403 No\r\n.*X-Why: because.*sorry!$/s)
  expect(received).not.toMatch(/x-in/i)
  expect(isReset).toBe(false)
  backend.close()
})

test('a handshake behind a request that is not answered yet ends the connection', async () => {
  lab.answerWith(() => undefined)
  const before = lab.proxy.tunnels
  const socket = lab.connect()
  socket.write(`GET / HTTP/1.1\r\nHost: ${wiki}\r\n\r\n${handshake}`)
  await readToEnd(socket)
  expect(lab.proxy.tunnels).toBe(before)
})

test('what is no answer to a handshake is 502', async () => {
  for (const answer of [
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
    'HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  ]) {
    const backend = await startRawBackend((socket) => void socket.once('data', () => socket.write(answer)))
    lab.configure({ origin: backend.origin })
    const socket = lab.connect()
    socket.write(handshake)
    expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1.1 502 /)
    socket.destroy()
    backend.close()
  }
})

test('a handshake that is refused does not hold its connection, whatever the client does', async () => {
  const backend = await startRawBackend(() => undefined)
  backend.close()
  lab.configure({ origin: backend.origin })
  const socket = connect({ port: lab.site.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  socket.write(handshake)
  expect(await readUntil(socket, '502 Bad Gateway\n')).toMatch(/^HTTP\/1.1 502 /)
  const count = () => promisify(lab.site.server.server.getConnections.bind(lab.site.server.server))()
  const before = await count()
  lab.clock.advance(500)
  expect(await count()).toBe(before)
  lab.clock.advance(500)
  await expect.poll(count).toBe(before - 1)
  socket.destroy()
})

test('what a backend answers in HTTP and does not finish ends by a reset', async () => {
  const backend = await startRawBackend((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 403 No\r\nContent-Length: 600\r\n\r\nsorry!'))
  })
  lab.configure({ origin: backend.origin })
  const socket = lab.connect()
  socket.write(handshake)
  await readUntil(socket, 'sorry!')
  backend.close()
  expect((await readToEnd(socket)).isReset).toBe(true)
})

test('a backend that is down is 502, one that is silent 504', async () => {
  const silent: Socket[] = []
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const backend = await startRawBackend((socket) => {
    silent.push(socket)
    socket.once('data', () => resolve())
  })
  lab.configure({ origin: backend.origin, readTimeoutMs: 9_000 })
  const socket = lab.connect()
  socket.write(handshake)
  await asked
  lab.clock.advance(9_500)
  expect((await readToEnd(socket)).received).toMatch(/^HTTP\/1.1 504 /)
  backend.close()
  const other = lab.connect()
  other.write(handshake)
  expect((await readToEnd(other)).received).toMatch(/^HTTP\/1.1 502 /)
})

test('a silent socket ends after ten minutes, one that speaks does not', async () => {
  const client = open()
  await once(client, 'open')
  for (let minute = 0; minute < 12; minute += 1) {
    client.send('still here')
    await once(client, 'message')
    lab.clock.advance(60_000)
  }
  expect(client.readyState).toBe(WebSocket.OPEN)
  const closed = once(client, 'close')
  lab.clock.advance(10 * 60_000)
  await closed
})

test('a host that is no longer proxied loses its sockets', async () => {
  const client = open()
  await once(client, 'open')
  const closed = once(client, 'close')
  lab.proxy.keepOnly(new Set())
  await closed
  expect(lab.proxy.tunnels).toBe(0)
})

test('where sockets are not taken the request is passed on as any other', async () => {
  lab.configure({ takesWebSockets: false })
  let upgrade: string | undefined = 'none yet'
  lab.answerWith((request, response) => {
    upgrade = request.headers.upgrade
    response.writeHead(426, { connection: 'close' }).end('no sockets')
  })
  const socket = lab.connect()
  socket.write(handshake)
  expect(await readUntil(socket, 'no sockets')).toMatch(/^HTTP\/1.1 426 /)
  expect(upgrade).toBeUndefined()
  socket.destroy()
})

test('no place of a socket is held by a visitor who left early, or asks for what cannot be asked for', () => {
  const left = lab.connect()
  left.destroy()
  const here = lab.connect()
  const peer = { ip: '192.0.2.1', host: wiki, isSecure: false }
  const request = { headers: {}, rawHeaders: [], method: 'GET', httpVersion: '1.1' }
  const backend = lab.proxy.find(wiki)
  const refused: number[] = []
  for (const [connection, url] of [
    [left, '/'],
    [here, '/\u0001'],
  ] as const) {
    const visit = { request: { ...request, url }, peer, connection, requestId: '1', head: Buffer.alloc(0) }
    const before = lab.proxy.tunnels
    const refuse = (status: number) => void refused.push(status)
    lab.proxy.forwardUpgrade({ ...visit, refuse } as never, backend as never)
    expect(lab.proxy.tunnels).toBe(before)
  }
  expect(refused).toEqual([400])
  here.destroy()
})

test('an address has at most a hundred sockets', async () => {
  const clients = Array.from({ length: 100 }, () => open())
  await Promise.all(clients.map((client) => once(client, 'open')))
  const socket = lab.connect()
  socket.write(handshake)
  expect((await readToEnd(socket)).received).toMatch(/^HTTP\/1.1 503 /)
  for (const client of clients) client.terminate()
})
