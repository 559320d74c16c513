import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, jump, someTenant } from '#harness/jobs-lab.ts'
import type { TenantId } from '#infra/db/index.ts'
import { type JobKind, JobVerdict } from '#infra/jobs/index.ts'
import { queueHistory } from './fetch-history.ts'
import { fetchHistoryJob, holdJob, storeLaterJob, verifyLaterJob } from './inbox-jobs.ts'

const payloads = new Map<JobKind, object>([
  [verifyLaterJob, { token: 'a' }],
  [storeLaterJob, { token: 'a', tenantIds: [] }],
  [holdJob, { token: 'a' }],
  [fetchHistoryJob, { idTag: 'a' }],
])
const kinds = [...payloads.keys()]

eachDialect('jobs of the inbox', (open) => {
  const newLab = jobsLab(open)

  /** A node with one kind of job, and such a job in each of the groups, each of a tenant of its own. */
  async function start(kind: JobKind, work: () => Promise<void>, groups: readonly string[]) {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    jobs.handle(kind, work)
    for (const [at, groupKey] of groups.entries())
      await lab.enqueue(kind, payloads.get(kind), {
        tenantId: (at + 1) as TenantId,
        ...(kind.group ? { groupKey } : {}),
      })
    await jobs.start()
    return { lab, jobs }
  }

  const second = 1 / 60
  test.each<[string, JobKind, number, number[]]>([
    ['a token that waits for a key', verifyLaterJob, 1, [5, 10, 20, 40, 60, 60]],
    ['tokens that wait for keys of one domain', verifyLaterJob, 2, [5, 10, 20, 40, 60, 60]],
    ['a token that waits for its tenant', holdJob, 1, [10, 20, 40, 60, 60]],
    ['tokens that wait for one tenant', holdJob, 2, [10, 20, 40, 60, 60]],
    ['a history', fetchHistoryJob, 1, [0.5, 1, 2, 4, 8, 16, 32, 60, 60]],
    ['histories of one identity', fetchHistoryJob, 9, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60]],
    [
      'a token for very many',
      storeLaterJob,
      1,
      [...Array.from({ length: 10 }, (_, n) => 2 ** n * second), ...Array(9).fill(10)],
    ],
  ])('that fail are retried: %s', async (_, kind, count, waits) => {
    const begun: number[] = []
    const work = async () => {
      begun.push(lab.clock.now())
      throw new JobVerdict('not yet', { kind: 'retry' })
    }
    const { lab, jobs } = await start(kind, work, Array(count).fill('one'))
    const startMs = lab.clock.now()
    await jobs.settle()
    for (const wait of waits.filter((it) => it > 0)) {
      await jump(jobs, lab.clock, wait * 60_000 - 1)
      await jump(jobs, lab.clock, 1)
    }
    const times = [0, ...waits].map((_, at) => waits.slice(0, at).reduce((sum, it) => sum + it, 0))
    expect(begun.map((atMs) => (atMs - startMs) / 1000)).toEqual(times.map((at) => Math.round(at * 60)))
  })

  test.each([
    ['a token for very many', storeLaterJob, 20],
    ['a history', fetchHistoryJob, 10],
  ])('that keep failing end: %s', async (_, kind, attempts) => {
    let begun = 0
    const work = async () => {
      begun += 1
      throw new Error('broken')
    }
    const { lab, jobs } = await start(kind, work, ['one'])
    for (let hours = 0; hours < attempts + 1; hours += 1) await jump(jobs, lab.clock, 3_600_000)
    expect(begun).toBe(attempts)
    expect(await lab.listDead()).toMatchObject([{ attempts }])
  })

  test('end after a day even if others of their group took the turns', async () => {
    const work = async () => {
      throw new Error('broken')
    }
    const { lab, jobs } = await start(fetchHistoryJob, work, Array(9).fill('one'))
    for (let hours = 1; hours < 24; hours += 1) await jump(jobs, lab.clock, 3_600_000)
    await jump(jobs, lab.clock, 3_599_000)
    expect(await lab.listDead()).toEqual([])
    await jump(jobs, lab.clock, 1000)
    expect(await lab.listDead()).toHaveLength(9)
  })

  test('run four at a time, and one after the other within a group', async () => {
    for (const kind of kinds)
      for (const [groups, most] of [
        [['a', 'b', 'c', 'd', 'e', 'f'], 4],
        [['a', 'a', 'a'], kind.group ? 1 : 3],
      ] as const) {
        const gate = Promise.withResolvers<void>()
        let begun = 0
        const work = async () => {
          begun += 1
          await gate.promise
        }
        const { jobs } = await start(kind, work, groups)
        while (begun < most) await flushMicrotasks(1)
        await flushMicrotasks()
        expect({ kind: kind.name, begun }).toEqual({ kind: kind.name, begun: most })
        gate.resolve()
        await jobs.settle()
        expect(begun).toBe(groups.length)
      }
  })

  test('fetch a history once for all requests before it starts, and again for later ones', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const gate = Promise.withResolvers<void>()
    const begun: string[] = []
    jobs.handle(fetchHistoryJob, async ({ idTag }) => {
      begun.push(idTag)
      await gate.promise
    })
    const queue = (idTag: string) =>
      lab.db.transact(someTenant, (tx) => queueHistory({ jobs }, tx, idTag as IdTag))
    for (const idTag of ['dora', 'dora', 'eve']) await queue(idTag)
    await jobs.start()
    while (begun.length < 2) await flushMicrotasks(1)
    await queue('dora')
    gate.resolve()
    await jobs.settle()
    expect(begun).toEqual(['dora', 'eve', 'dora'])
  })
})
