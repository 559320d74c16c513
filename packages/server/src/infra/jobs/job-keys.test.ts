import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { jobsLab, settleFor, someTenant } from '#harness/jobs-lab.ts'
import { JobVerdict, jobKind } from './index.ts'

const base = {
  payload: Type.Object({ word: Type.String() }),
  retry: { maxAttempts: 100, firstDelayMs: 1000, longestDelayMs: 1000 },
  concurrency: 4,
  keepDoneMs: 60_000,
}
const once = jobKind({ ...base, name: 'once', keepsDedupKey: true })
const newest = jobKind({
  ...base,
  name: 'newest',
  freesDedupKey: true,
  keepDoneMs: 0,
  keepDeadMs: 0,
  retry: { ...base.retry, giveUpAfterMs: 20_000 },
})

eachDialect('the keys of jobs', (open) => {
  const newLab = jobsLab(open)

  test('keep others out also when the job has ended, where the kind says so', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const ran: string[] = []
    jobs.handle(once, async ({ word }) => {
      ran.push(word)
      if (word === 'never') throw new JobVerdict('never', { kind: 'dead' })
    })
    await jobs.start()
    const add = (word: string) =>
      lab.enqueue(once, { word }, { dedupKey: word, orderingKey: 'o', subject: 's' })
    for (const word of ['never', 'well']) await add(word)
    await jobs.settle()
    for (const word of ['never', 'well', 'another']) await add(word)
    await jobs.settle()
    expect(ran).toEqual(['never', 'well', 'another'])
    expect(await lab.list(once, 's')).toHaveLength(3)
    // The one that went well is kept no longer; the dead one is.
    await settleFor(jobs, lab.clock, 180_000)
    for (const word of ['never', 'well']) await add(word)
    await jobs.settle()
    expect(ran).toEqual(['never', 'well', 'another', 'well'])
  })

  test('of a job that waits to be tried again are its own again', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const ran: string[] = []
    jobs.handle(newest, async ({ word }) => {
      ran.push(word)
      throw new Error('down')
    })
    await jobs.start()
    for (const word of ['one', 'two', 'three']) {
      await lab.enqueue(newest, { word }, { dedupKey: 'k', subject: 's' })
      await jobs.settle()
    }
    expect(ran).toEqual(['one'])
    expect(await lab.list(newest, 's')).toHaveLength(1)
    await settleFor(jobs, lab.clock, 2_000)
    expect(new Set(ran)).toEqual(new Set(['one']))
    expect(await lab.list(newest, 's')).toHaveLength(1)
  })

  test('of a job that failed while another was added are that one’s, and it alone goes on', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const ran: string[] = []
    jobs.handle(newest, async ({ word }) => {
      ran.push(word)
      if (word === 'old') await lab.enqueue(newest, { word: 'new' }, { dedupKey: 'k', subject: 's' })
      throw new Error('down')
    })
    await jobs.start()
    await lab.enqueue(newest, { word: 'old' }, { dedupKey: 'k', subject: 's' })
    await settleFor(jobs, lab.clock, 3_000)
    expect(ran.filter((word) => word === 'old')).toHaveLength(1)
    expect(await lab.list(newest, 's')).toMatchObject([{ payload: { word: 'new' } }])
  })

  test('are its own again when the process of the job is gone', async () => {
    const lab = await newLab()
    const first = lab.addNode('a')
    const begun = Promise.withResolvers<void>()
    first.jobs.handle(newest, async () => {
      begun.resolve()
      await new Promise(() => undefined)
    })
    await first.jobs.start()
    // By its own queue: another node would notify it of nothing, and the clock stands still.
    await lab.db.transact(someTenant, (tx) =>
      first.jobs.enqueue(tx, newest, { word: 'old' }, { dedupKey: 'k', subject: 's' }),
    )
    await begun.promise
    first.crash()
    const second = lab.addNode('b')
    const ran: string[] = []
    second.jobs.handle(newest, async ({ word }) => {
      ran.push(word)
    })
    await second.jobs.start()
    await lab.enqueue(
      newest,
      { word: 'new' },
      { dedupKey: 'k', subject: 's', runAtMs: lab.clock.now() + 19_000 },
    )
    await settleFor(second.jobs, lab.clock, 30_000)
    expect(ran).toEqual(['new'])
  })

  test('of a kind that keeps no dead jobs are forgotten with them', async () => {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    jobs.handle(newest, async () => {
      throw new Error('down')
    })
    await jobs.start()
    await lab.enqueue(newest, { word: 'old' }, { dedupKey: 'k', subject: 's' })
    await settleFor(jobs, lab.clock, 120_000)
    expect(await lab.list(newest, 's', someTenant)).toEqual([])
    expect(await lab.listDead()).toEqual([])
  })
})
