import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { readToEnd, readUntil, startProxiedSite, startRawBackend, wiki } from '#harness/proxied-site.ts'

// Of requests and of WebSockets: as many as a site may have, and as many as one address may.
const ofSite = 1000
const ofAddress = 200
const socketsOfAddress = 100

test('a few addresses do not keep the others out of a site', async () => {
  const lab = await startProxiedSite({ trustedProxies: ['127.0.0.0/8'] })
  onTestFinished(() => lab.close())
  const waiting = new Map<string, ServerResponse>()
  const { promise: full, resolve } = Promise.withResolvers<void>()
  lab.answerWith((request, response) => {
    waiting.set(request.url ?? '', response)
    if (waiting.size === ofSite) resolve()
  })
  const ask = (address: string, path: string) => {
    const socket = lab.connect()
    const head = `POST ${path} HTTP/1.1\r\nHost: ${wiki}\r\nX-Forwarded-For: ${address}\r\n`
    socket.write(`${head}Content-Length: 9\r\nConnection: close\r\n\r\nhalf`)
    return socket
  }
  const greedy = Array.from({ length: ofSite }, (_, at) => {
    const address = Math.floor(at / ofAddress)
    return ask(`198.51.100.${address}`, `/${address}/${at % ofAddress}`)
  })
  await full
  const [first] = greedy
  const given = readToEnd(first as never)
  const newcomer = ask('203.0.113.1', '/newcomer')
  expect((await given).received).toMatch(/^HTTP\/1\.1 503 /)
  await expect.poll(() => waiting.has('/newcomer')).toBe(true)
  newcomer.write('whole')
  waiting.get('/newcomer')?.end('hello')
  expect(await readUntil(newcomer, 'hello')).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of greedy) socket.destroy()
  await Promise.all(greedy.map((socket) => socket.closed || once(socket, 'close')))
})

test('one site does not have the WebSockets of the others, nor a few addresses those of a site', async () => {
  const lab = await startProxiedSite({ trustedProxies: ['127.0.0.0/8'] })
  onTestFinished(() => lab.close())
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const backend = await startRawBackend((socket) => socket.once('data', () => socket.write(switching)))
  onTestFinished(() => backend.close())
  lab.configure({ origin: backend.origin })
  const open = async (address: string) => {
    const socket = lab.connect()
    const head = `GET / HTTP/1.1\r\nHost: ${wiki}\r\nX-Forwarded-For: ${address}\r\n`
    socket.write(`${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    return { socket, answer: await readUntil(socket, '\r\n\r\n') }
  }
  const greedy = await Promise.all(
    Array.from({ length: ofSite }, (_, at) => open(`198.51.100.${Math.floor(at / socketsOfAddress)}`)),
  )
  expect(lab.proxy.tunnels).toBe(ofSite)
  const { socket, answer } = await open('203.0.113.1')
  expect(answer).toMatch(/^HTTP\/1\.1 101 /)
  expect(lab.proxy.tunnels).toBe(ofSite)
  for (const one of [socket, ...greedy.map((each) => each.socket)]) one.destroy()
  await expect.poll(() => lab.proxy.tunnels).toBe(0)
})
