import { expect, test } from 'vitest'
import { SocketClient } from '#harness/socket-client.ts'
import { TestServer } from '#harness/test-server.ts'

async function gauges(server: TestServer): Promise<Record<string, number>> {
  const { text } = await server.running.services.metrics.scrape()
  const lines = [...text.matchAll(/^(kith_\S+) (\S+)$/gm)]
  return Object.fromEntries(lines.map(([, name, value]) => [name, Number(value)]))
}

test('what the database counts is counted once in 30 seconds, however often it is scraped', async () => {
  await using server = await TestServer.start()
  const first = await gauges(server)
  expect(first).toMatchObject({ 'kith_tenants{status="active"}': 1, kith_sockets: 0 })
  expect(first.kith_database_size_bytes).toBeGreaterThan(100_000)
  await server.createTenant('alice.localhost')
  await using socket = await SocketClient.connect(server.running.port, 'home.localhost', '/ws/bus')
  expect(socket.received).toEqual([])
  expect(await gauges(server)).toMatchObject({ 'kith_tenants{status="active"}': 1, kith_sockets: 1 })
  server.clock.advance(30_001)
  expect(await gauges(server)).toMatchObject({ 'kith_tenants{status="active"}': 2 })
})
