import { expect, test } from 'vitest'
import { openDatabaseLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { jobsLab } from '#harness/jobs-lab.ts'
import { jobsMigrations } from '#infra/jobs/index.ts'
import { listStoredSnapshots } from './contents/snapshot-store.ts'
import { addDatabaseJobs } from './databases-jobs.ts'
import { databasesMigrations, listChanges } from './index.ts'

const minuteMs = 60_000

eachDialect('The jobs of databases', (open) => {
  const openJobs = jobsLab(open, [...jobsMigrations, ...databasesMigrations])

  test('keep each hour in which something was written, and forget changes and transactions', async () => {
    const { db, clock, addNode } = await openJobs()
    const lab = await openDatabaseLab(open, { db, clock })
    const { jobs } = addNode('a')
    addDatabaseJobs({ db, clock, jobs })
    await jobs.start()
    // None runs while the clock is moved: its lease would end.
    await jobs.settle()
    const pass = async (ms: number) => {
      clock.advance(ms)
      await jobs.settle()
    }
    const kept = async () =>
      (await listStoredSnapshots(db.reader(lab.tenantId), lab.fileId)).map(({ seq }) => seq)
    const put = (n: number) => lab.write({ type: 'replace', path: 'a/1', data: { n } })
    await put(1)
    await put(2)
    await pass(30 * minuteMs)
    expect(await kept()).toEqual([])
    expect(await listChanges(lab.deps, lab, 0)).toMatchObject({ isComplete: false })
    await pass(35 * minuteMs)
    expect(await kept()).toEqual([2])
    await pass(180 * minuteMs)
    expect(await kept()).toEqual([2])
    await put(3)
    expect(await listChanges(lab.deps, lab, 2)).toMatchObject({ isComplete: true })
    await pass(60 * minuteMs)
    expect(await kept()).toEqual([3, 2])
  })
})
