import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, otherTenant, settleFor } from '#harness/jobs-lab.ts'
import { type JobKind, JobVerdict, jobKind } from './index.ts'

const step = jobKind({
  name: 'step',
  payload: Type.Object({ name: Type.String() }),
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000 },
  concurrency: 10,
  keepDoneMs: 0,
})

eachDialect('jobs of one order', (open) => {
  const newLab = jobsLab(open)

  async function stepper(
    kind: JobKind<typeof step.payload> = step,
    handler: (name: string) => Promise<void> | void = () => undefined,
  ) {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const begun: string[] = []
    jobs.handle(kind, async ({ name }) => {
      begun.push(name)
      await handler(name)
    })
    await jobs.start()
    return { ...lab, jobs, begun }
  }

  test('run one after the other, as they were added; those of others beside them', async () => {
    const ended: string[] = []
    const { jobs, enqueue, begun } = await stepper(step, async (name) => {
      // The first of an order takes longest: without order the last would end first.
      await flushMicrotasks(10 - Number(name.at(-1)))
      ended.push(name)
    })
    for (const name of ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
      await enqueue(step, { name }, { orderingKey: name.slice(0, 1) })
    await jobs.settle()
    expect(begun.slice(0, 2)).toEqual(['a1', 'b1'])
    expect(ended.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
    expect(ended.filter((name) => name.startsWith('b'))).toEqual(['b1', 'b2', 'b3'])
  })

  test('follow each other at once, while the clock stands still', async () => {
    const { jobs, db, begun } = await stepper()
    await jobs.settle()
    await db.transact(otherTenant, async (tx) => {
      for (const name of ['first', 'second', 'third'])
        await jobs.enqueue(tx, step, { name }, { orderingKey: 'o' })
    })
    while (begun.length < 3) await flushMicrotasks(1)
  })

  test('keep it within one call and over tenants', async () => {
    const { jobs, db, enqueue, begun } = await stepper()
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`)
    await db.transact(otherTenant, (tx) =>
      jobs.enqueueAll(
        tx,
        step,
        names.map((name) => ({ payload: { name }, options: { orderingKey: 'o' } })),
      ),
    )
    await enqueue(step, { name: 'last' }, { orderingKey: 'o' })
    await jobs.settle()
    expect(begun).toEqual([...names, 'last'])
  })

  test('wait while the first is to be tried again', async () => {
    let isBroken = true
    const { jobs, enqueue, begun, clock } = await stepper(step, (name) => {
      if (name === 'first' && isBroken) throw new Error('broken')
    })
    await enqueue(step, { name: 'first' }, { orderingKey: 'o' })
    await enqueue(step, { name: 'second' }, { orderingKey: 'o' })
    await enqueue(step, { name: 'free' }, { orderingKey: 'other' })
    await settleFor(jobs, clock, 900)
    expect(begun.sort()).toEqual(['first', 'free'])
    isBroken = false
    await settleFor(jobs, clock, 1000)
    expect(begun.slice(2)).toEqual(['first', 'second'])
  })

  test('go on when the first is dead', async () => {
    const { jobs, enqueue, begun, clock } = await stepper(step, (name) => {
      if (name === 'first') throw new JobVerdict('never', { kind: 'dead' })
    })
    for (const name of ['first', 'second', 'third']) await enqueue(step, { name }, { orderingKey: 'o' })
    await settleFor(jobs, clock, 500)
    expect(begun).toEqual(['first', 'second', 'third'])
  })

  test('wait for the first that is for later', async () => {
    const { jobs, enqueue, begun, clock } = await stepper()
    await enqueue(step, { name: 'later' }, { orderingKey: 'o', runAtMs: clock.now() + 5000 })
    await enqueue(step, { name: 'second' }, { orderingKey: 'o' })
    await settleFor(jobs, clock, 4500)
    expect(begun).toEqual([])
    await settleFor(jobs, clock, 1000)
    expect(begun).toEqual(['later', 'second'])
  })

  test('are given up in their turn, and those that are not go on', async () => {
    const brief = jobKind({ ...step, retry: { ...step.retry, maxAttempts: 1000, giveUpAfterMs: 30_000 } })
    let isBroken = true
    const { jobs, enqueue, begun, clock, listDead } = await stepper(brief, () => {
      if (isBroken) throw new Error('broken')
    })
    for (const name of ['first', 'second', 'third']) await enqueue(brief, { name }, { orderingKey: 'o' })
    await settleFor(jobs, clock, 20_000)
    await enqueue(brief, { name: 'fourth' }, { orderingKey: 'o' })
    expect(new Set(begun)).toEqual(new Set(['first']))
    isBroken = false
    // At one moment the head and two behind it are over.
    clock.advance(10_000)
    await jobs.settle()
    expect(begun.at(-1)).toBe('fourth')
    expect(new Set(begun)).toEqual(new Set(['first', 'fourth']))
    const dead = await listDead()
    expect(dead.map(({ payload, lastError }) => [payload, lastError])).toEqual([
      [{ name: 'third' }, 'Its time ran out before it could run'],
      [{ name: 'second' }, 'Its time ran out before it could run'],
      [{ name: 'first' }, 'broken'],
    ])
  })
})
