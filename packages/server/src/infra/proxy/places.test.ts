import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { readToEnd, readUntil, startProxiedSite, wiki } from '#harness/proxied-site.ts'

// As many as one address may have under way, and as many as a site may.
const [ofAddress, ofSite] = [200, 1000]

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
