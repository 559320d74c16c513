import { startAccountExport } from '@kith/protocol'
import { expect, test } from 'vitest'
import { beginReading, failure, keepBytes, statusOf, ticketOf } from '#harness/account-export.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { twoOnOneBucket } from './two-processes.ts'

const home = 'home.localhost'

onPostgresServer('processes on one database and one bucket', (open) => {
  test('take each other’s tickets, and know of each other’s exports', async () => {
    const { first: here, second: there } = await twoOnOneBucket(open)
    await keepBytes(here, home, 32)
    const client = await here.as(home)
    const reading = await beginReading(there, home, await ticketOf(client))
    expect((await statusOf(client)).status).toBe('running')
    expect(await failure(client.call(startAccountExport))).toMatchObject({ status: 409 })
    await reading.readOn()
    await expect.poll(() => statusOf(client)).toMatchObject({ status: 'complete' })
    const gone = await beginReading(there, home, await ticketOf(client))
    const stopping = there.running.stop()
    await expect
      .poll(async () => {
        here.clock.advance(1_000)
        return (await statusOf(client)).status
      })
      .toBe('broken')
    await stopping
    await expect(gone.readOn()).rejects.toThrow()
  })
})
