import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, jump, otherTenant, settleFor, someTenant } from '#harness/jobs-lab.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { countByState, type JobContext, jobKind, removeJobs, removeJobsAbout } from './index.ts'

const base = {
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000 },
  keepDoneMs: 3600_000,
}
const sweep = jobKind({ ...base, name: 'sweep', payload: Type.Object({}), concurrency: 1 })
const count = jobKind({
  ...base,
  name: 'count',
  payload: Type.Object({ n: Type.Integer() }),
  concurrency: 20,
})

eachDialect('recurring jobs', (open) => {
  const newLab = jobsLab(open)
  type Lab = Awaited<ReturnType<typeof newLab>>

  async function startSweeper(
    lab: Lab,
    nodeId: string,
    how: { periodMs: number; handler?: (context: JobContext) => Promise<void> },
  ) {
    const { jobs } = lab.addNode(nodeId)
    const swept: number[] = []
    jobs.handle({ ...sweep, everyMs: how.periodMs }, async (_, context) => {
      swept.push(lab.clock.now())
      await how.handler?.(context)
    })
    await jobs.start()
    return { jobs, swept }
  }

  test('run at the first start and then once per period', async () => {
    const lab = await newLab()
    const startMs = lab.clock.now()
    const { jobs, swept } = await startSweeper(lab, 'a', { periodMs: 60_000 })
    await settleFor(jobs, lab.clock, 180_000)
    expect(swept.map((atMs) => atMs - startMs)).toEqual([0, 60_000, 120_000, 180_000])
  })

  test('exist once over all nodes and starts', async () => {
    const lab = await newLab()
    const startMs = lab.clock.now()
    const first = await startSweeper(lab, 'a', { periodMs: 60_000 })
    await first.jobs.settle()
    const second = await startSweeper(lab, 'b', { periodMs: 60_000 })
    const third = await startSweeper(lab, 'c', { periodMs: 60_000 })
    for (let seconds = 0; seconds < 130; seconds += 1) {
      lab.clock.advance(1000)
      for (const { jobs } of [first, second, third]) await jobs.settle()
    }
    const swept = [first, second, third].flatMap((node) => node.swept)
    expect(swept.map((atMs) => atMs - startMs).sort((a, b) => a - b)).toEqual([0, 60_000, 120_000])
    const counts = await countByState(lab.db.reader(serverTenant))
    expect(counts.filter(({ kind }) => kind === 'sweep')).toEqual([
      { kind: 'sweep', state: 'ready', count: 1, isRecurring: true },
    ])
  })

  test('are tried again when they fail, and never end', async () => {
    const lab = await newLab()
    const startMs = lab.clock.now()
    const attempts: number[] = []
    const { jobs, swept } = await startSweeper(lab, 'a', {
      periodMs: 60_000,
      handler: async ({ attempt, tenantId }) => {
        expect(tenantId).toBe(serverTenant)
        attempts.push(attempt)
        throw new Error('broken')
      },
    })
    await settleFor(jobs, lab.clock, 65_000)
    expect(attempts).toEqual([1, 2, 3, 1, 2])
    expect(swept[3]).toBe(startMs + 3000 + 60_000)
    expect(await lab.listDead()).toEqual([])
  })

  test('take a shorter period over at the next start', async () => {
    const lab = await newLab()
    const slow = await startSweeper(lab, 'a', { periodMs: 3600_000 })
    await slow.jobs.settle()
    await slow.jobs.stop()
    const quick = await startSweeper(lab, 'a', { periodMs: 60_000 })
    await settleFor(quick.jobs, lab.clock, 60_000)
    expect(quick.swept).toHaveLength(1)
  })

  test('have an empty payload', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    jobs.handle({ ...count, everyMs: 1000 }, async () => undefined)
    await expect(jobs.start()).rejects.toThrow(TypeError)
  })
})

eachDialect('the jobs of a tenant that ends', (open) => {
  const newLab = jobsLab(open)
  const send = jobKind({
    ...base,
    name: 'send',
    payload: Type.Object({ name: Type.String() }),
    concurrency: 10,
    group: { concurrency: 1, breakerFailures: 5, restMs: 1000, longestRestMs: 1000 },
  })

  test('are gone, and those of others go on behind them', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const begun: string[] = []
    const gate = Promise.withResolvers<void>()
    jobs.handle(send, async ({ name }) => {
      begun.push(name)
      if (name === 'running') await gate.promise
    })
    await jobs.start()
    await jobs.settle()
    const add = (name: string, tenantId: TenantId, orderingKey: string) =>
      lab.db.transact(tenantId, (tx) =>
        jobs.enqueue(tx, send, { name }, { groupKey: 'host', orderingKey, subject: 's' }),
      )
    await add('running', someTenant, 'o')
    while (begun.length === 0) await flushMicrotasks(1)
    await add('waiting', someTenant, 'o')
    await add('of another', otherTenant, 'o')
    await add('of another order', otherTenant, 'p')
    await flushMicrotasks(20)
    await lab.db.transact(someTenant, (tx) => removeJobs(tx))
    expect(await lab.list(send, 's')).toEqual([])
    lab.clock.advance(1000)
    while (begun.length < 3) await flushMicrotasks(1)
    // Between jobs of different orders none is promised.
    expect(begun.toSorted()).toEqual(['of another', 'of another order', 'running'])
    gate.resolve()
    await jobs.settle()
    expect(await lab.list(send, 's')).toEqual([])
    expect(await lab.list(send, 's', otherTenant)).toMatchObject([{ state: 'done' }, { state: 'done' }])
    // A group that has nothing left is no trouble.
    await lab.db.transact(otherTenant, async (tx) => {
      const later = { groupKey: 'host', runAtMs: lab.clock.now() + 60_000 }
      await jobs.enqueue(tx, send, { name: 'never' }, later)
    })
    await jobs.settle()
    await lab.db.transact(otherTenant, (tx) => removeJobs(tx))
    await jump(jobs, lab.clock, 60_000)
    expect(begun).toHaveLength(3)
  })

  test('about one subject leave those about others', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    jobs.handle(count, async () => undefined)
    const add = (tenantId: TenantId, subject: string) =>
      lab.db.transact(tenantId, (tx) => jobs.enqueue(tx, count, { n: 1 }, { subject }))
    await add(someTenant, 'a')
    await add(someTenant, 'b')
    await add(otherTenant, 'a')
    await lab.db.transact(someTenant, (tx) => removeJobsAbout(tx, count, 'a'))
    const left = [
      await lab.list(count, 'a'),
      await lab.list(count, 'b'),
      await lab.list(count, 'a', otherTenant),
    ]
    expect(left.map(({ length }) => length)).toEqual([0, 1, 1])
  })
})
