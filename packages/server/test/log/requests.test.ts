import { expect, test } from 'vitest'
import { RecordedLog } from '#harness/recorded-log.ts'
import { SocketClient } from '#harness/socket-client.ts'
import { TestServer } from '#harness/test-server.ts'

const refId = 'abcdefghijklmnopqrstuvwx'
const apiKey = `sk_${'k'.repeat(43)}`

/** Asks what has secrets in its address, and what is not there; answers the log of it. */
async function logOf(level: 'debug' | 'info'): Promise<RecordedLog> {
  const log = new RecordedLog({ level: 'debug' })
  const server = await TestServer.start({
    logger: log.logger,
    env: { LOG_LEVEL: level, DEFAULT_TENANT: 'none' },
  })
  const { baseIdTag } = server
  const ask = (path: string, init?: RequestInit) => server.request(baseIdTag, path, init)
  await ask('/api/me', { headers: { 'x-request-id': 'asked-1' } })
  await ask(`/api/refs/${refId}`, { headers: { 'x-request-id': 'asked-2' } })
  await ask(`/api/auth/access-token?apiKey=${apiKey}`, { method: 'HEAD' })
  await ask('/api/nowhere/hunter22%0ainjected?token=hunter22', { method: 'DELETE' })
  await ask('/healthz')
  const { port } = server.running
  await expect(SocketClient.connect(port, 'nobody.localhost', '/ws/bus?token=hunter22')).rejects.toThrow()
  const socket = await SocketClient.connect(port, baseIdTag, '/ws/bus?token=hunter22')
  socket.socket.terminate()
  await server.stop()
  return log
}

test('requests are logged at debug, by the pattern of their path', async () => {
  const log = await logOf('debug')
  const served = log.of('request answered').map(({ level, time, msg, ...entry }) => entry)
  const tenant = 'home.localhost'
  const entry = { ms: expect.any(Number), reqId: expect.any(String) }
  expect(served).toEqual(
    expect.arrayContaining([
      { ...entry, reqId: 'asked-1', method: 'GET', route: '/api/me', status: 200, tenant },
      { ...entry, reqId: 'asked-2', method: 'GET', route: '/api/refs/{refId}', status: 404, tenant },
      { ...entry, method: 'HEAD', route: '/api/auth/access-token', status: 401, tenant },
      { ...entry, method: 'DELETE', route: 'none', status: 404 },
      { ...entry, method: 'GET', route: '/healthz', status: 200 },
      { ...entry, method: 'GET', route: '/ws/bus', status: 404 },
      { ...entry, method: 'GET', route: '/ws/bus', status: 101, tenant },
    ]),
  )
  expect(served).toHaveLength(7)
  expect(served.every(({ ms }) => Number(ms) >= 0)).toBe(true)
  expect(log.lines.join()).not.toMatch(/hunter22|injected|abcdefgh|k{12}/)
})

test('above debug nothing is logged of them', async () => {
  expect((await logOf('info')).of('request answered')).toEqual([])
})
