import type { IdTag } from '@kith/protocol'
import type { ClockedOrder, ClockedPlace } from './clocked-process.ts'
import { TestClock } from './test-clock.ts'
import { TestServer } from './test-server.ts'

// The program in a process of its own, on a clock that its parent moves.
const place = JSON.parse(process.argv[2] ?? '') as ClockedPlace
const clock = new TestClock(place.nowMs)
const server = await TestServer.start({
  baseIdTag: place.baseIdTag,
  clock,
  dataDir: place.dataDir,
  hasBallast: true,
  env: { PUBLIC_URL: `http://{idTag}:${place.linkPort}`, ...place.env },
  identityHosts: new Map(Object.entries(place.identityHosts) as [IdTag, string][]),
})

async function obey(order: ClockedOrder): Promise<void> {
  if (order.kind === 'advance') clock.advance(order.ms)
  else if (order.kind === 'settle') await server.settle()
  else await server.createTenant(order.idTag)
}

process.on('message', (order: ClockedOrder) => {
  const failed = (error: unknown) => process.send?.({ error: String(error) })
  obey(order).then(() => process.send?.({ done: true }), failed)
})
process.on('disconnect', () => process.exit())
process.send?.({ port: server.running.port })
