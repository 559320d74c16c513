import type { ActionId, IdTag } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { migrations } from '#app/migrations.ts'
import { findFreshInboxes } from '#features/federation/index.ts'
import { continueLane, type FanOutDeps, queueForSending } from '#features/federation/outbox/fan-out.ts'
import { isFanningOut } from '#features/federation/outbox/fan-out-store.ts'
import { fanOutJob } from '#features/federation/outbox/outbox-jobs.ts'
import { listCircle } from '#features/relations/index.ts'
import { listHosted } from '#features/tenants/index.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Database, openDatabase, serverTenant, type TenantId } from '#infra/db/index.ts'
import { openJobs } from '#infra/jobs/index.ts'

// A server that hands out an action. With `send` it makes the recipients and sends it; then it prints a line for each
// transaction of the fan-out, and a last one when all is handed out. Unless it is to end by itself it lives until it is killed,
// which may come late.
const [, , url = '', mode, recipients = '0', end] = process.argv
const alice = 7 as TenantId
const actionId = `a1~${'0'.repeat(43)}` as ActionId
const issuerTag = 'alice.example.com' as IdTag

const clock = new TestClock()
const db = await openDatabase({ url, migrations })
const logger = { info: () => undefined, warn: () => undefined, error: console.error }
const jobs = openJobs({ db, clock, logger, nodeId: 'the only one' })
const loud: Database = Object.assign(Object.create(db) as Database, {
  transact: async (...call: Parameters<Database['transact']>) => {
    const result = await db.transact(...call)
    process.stdout.write('portion\n')
    return result
  },
})
const deps: FanOutDeps = {
  db: loud,
  jobs,
  clock,
  listCircle,
  findLocal: listHosted,
  findInboxes: (tx, idTags) => findFreshInboxes(tx.as(serverTenant), idTags, 0),
  findToken: async () => ({ token: 'a token', issuerTag, isEnding: false }),
  findCountsToken: async () => undefined,
  isSuspended: async () => false,
}
jobs.handle(fanOutJob, (payload, context) => continueLane(deps, payload, context))

if (mode === 'send') await send(Number(recipients))
await jobs.start()
// Each death puts the job off.
for (; await isFanningOut(db.reader(alice), actionId); clock.advance(600_000)) await jobs.settle()
process.stdout.write('done\n')
if (end === 'ends') {
  await jobs.stop()
  await db.close()
} else setInterval(() => undefined, 60_000)

async function send(count: number): Promise<void> {
  await db.transact(alice, async (tx) => {
    const tables = tx.tables() as Kysely<unknown>
    for (let at = 0; at < count; at += 1) {
      const idTag = `u${at}.example`
      await sql`insert into relations (tenant_id, id_tag, updated_at, follower, in_circle, reached)
        values (${alice}, ${idTag}, 1, 1, 1, 1)`.execute(tables)
      await sql`insert into identities (tenant_id, id_tag, server, inbox_url, document, fetched_at, expires_at)
        values (${serverTenant}, ${idTag}, 's', ${`https://${idTag}/api/inbox`}, '{}', 1, 1000)`.execute(
        tables,
      )
    }
    await queueForSending(deps, tx, { actionId, issuerTag, named: [], circle: 'followers' })
  })
}
