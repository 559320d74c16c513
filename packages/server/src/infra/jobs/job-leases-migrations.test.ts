import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openDatabase, serverTenant } from '#infra/db/index.ts'
import { jobKind, jobQueueMigrations, jobsMigrations, listJobs, openJobs } from './index.ts'

const work = jobKind({
  name: 'work',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 1000 },
  concurrency: 4,
  keepDoneMs: 3600_000,
})
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

eachDialect('a queue of before', (open) => {
  test('goes on: what waits and what a former process held is run, what has ended is not', async () => {
    const { url } = await open.place()
    const clock = new TestClock()
    const nowMs = clock.now()
    const former = await openDatabase({ url, migrations: jobQueueMigrations })
    const job = { tenant_id: 0, kind: work.name, payload: '{}', run_at_ms: 0, created_at_ms: 0, subject: 's' }
    const held = { lease_until_ms: nowMs + 3600_000, lease_node: 'another', lease_token: 'token' }
    await former.transact(serverTenant, async (tx) => {
      const jobs = () => tx.tables<Record<string, Record<string, unknown>>>().insertInto('jobs')
      await jobs()
        .values({ ...job, state: 'ready' })
        .execute()
      await jobs()
        .values({ ...job, state: 'leased', attempts: 1, ...held })
        .execute()
      await jobs()
        .values({ ...job, state: 'done', attempts: 1, finished_at_ms: 0, remove_at_ms: nowMs + 3600_000 })
        .execute()
    })
    await former.close()
    const db = await openDatabase({ url, migrations: jobsMigrations })
    const queue = openJobs({ db, clock, logger: silent, nodeId: 'a' })
    queue.handle(work, async () => undefined)
    await queue.start()
    await queue.settle()
    const jobs = await listJobs(db.reader(serverTenant), { kind: work.name, subject: 's' })
    expect(jobs.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['done', 1],
      ['done', 2],
      ['done', 1],
    ])
    await queue.stop()
    await db.close()
  })
})
