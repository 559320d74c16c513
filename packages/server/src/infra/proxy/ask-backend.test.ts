import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { backendAt, startRawBackend } from '#harness/proxied-site.ts'
import { TestClock } from '#harness/test-clock.ts'
import { askBackend } from './ask-backend.ts'

async function says(text: string) {
  const backend = await startRawBackend((socket) => void socket.once('data', () => socket.write(text)))
  onTestFinished(() => backend.close())
  return backendAt(backend.origin)
}

test('the status counts, whatever comes behind it', async () => {
  const endless = await says('HTTP/1.1 204 Fine\r\nContent-Length: 99\r\n\r\n')
  expect(await askBackend(new TestClock(), endless, '/health')).toBe(204)
})

test('a change of protocol is no answer', async () => {
  const switching = await says('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await expect(askBackend(new TestClock(), switching, '/')).rejects.toThrow('gave no answer')
})

test('one that says nothing has both times of its site', async () => {
  const clock = new TestClock()
  const silent = { ...(await says('')), connectTimeoutMs: 1_000, readTimeoutMs: 2_000 }
  const asked = askBackend(clock, silent, '/')
  clock.advance(3_000)
  await expect(asked).rejects.toThrow('did not answer in time')
})

test('no path leads to another host', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const backend = backendAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const paths = ['//127.0.0.1:9/x', '/\\127.0.0.1:9/x', '/@127.0.0.1:9/']
  for (const path of paths) expect(await askBackend(new TestClock(), backend, path)).toBe(200)
  expect(seen).toEqual(paths)
})
