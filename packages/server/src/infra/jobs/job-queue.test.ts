import { AsyncLocalStorage } from 'node:async_hooks'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, jump, otherTenant, settleFor, someTenant } from '#harness/jobs-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import {
  countByState,
  type JobContext,
  JobVerdict,
  jobKind,
  listGroups,
  listJobs,
  pageDead,
  pageUnfinished,
  type RetryPolicy,
  removeDead,
} from './index.ts'

const retry: RetryPolicy = { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000 }
const greet = jobKind({
  name: 'greet',
  payload: Type.Object({ name: Type.String() }),
  retry,
  concurrency: 4,
  keepDoneMs: 60_000,
})

eachDialect('jobs', (open) => {
  const newLab = jobsLab(open)

  /** A started node that notes what it greets. */
  async function greeter(
    handler: (name: string, context: JobContext) => Promise<void> | void = () => undefined,
  ) {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const greeted: string[] = []
    jobs.handle(greet, async ({ name }, context) => {
      greeted.push(name)
      await handler(name, context)
    })
    await jobs.start()
    return { ...lab, jobs, greeted }
  }

  describe('a job', () => {
    test('runs with its payload, for its tenant', async () => {
      const contexts: JobContext[] = []
      const { jobs, enqueue, greeted, clock } = await greeter((_, context) => {
        contexts.push(context)
      })
      await enqueue(greet, { name: 'Ada' })
      await jobs.settle()
      expect(greeted).toEqual(['Ada'])
      expect(contexts).toMatchObject([{ tenantId: someTenant, attempt: 1, createdAtMs: clock.now() }])
    })

    test('does not exist when its transaction fails', async () => {
      const { jobs, db, greeted } = await greeter()
      const work = db.transact(someTenant, async (tx) => {
        await jobs.enqueue(tx, greet, { name: 'Ada' })
        throw new Error('The change fails')
      })
      await expect(work).rejects.toThrow('The change fails')
      await jobs.settle()
      expect(greeted).toEqual([])
      expect(await countByState(db.reader(serverTenant))).toMatchObject([{ kind: 'jobs.clean' }])
    })

    test('begins when the change is committed, while the clock stands still', async () => {
      const begun = Promise.withResolvers<void>()
      const { jobs, db } = await greeter(() => begun.resolve())
      await jobs.settle()
      await db.transact(someTenant, (tx) => jobs.enqueue(tx, greet, { name: 'Ada' }))
      await begun.promise
    })

    test('for later begins then, and settling leaves it alone', async () => {
      const { jobs, enqueue, greeted, clock } = await greeter()
      await enqueue(greet, { name: 'Ada' }, { runAtMs: clock.now() + 5000 })
      clock.advance(4999)
      await jobs.settle()
      expect(greeted).toEqual([])
      clock.advance(1)
      await jobs.settle()
      expect(greeted).toEqual(['Ada'])
    })

    test('of another process is found by looking around', async () => {
      const { jobs, enqueue, greeted, clock } = await greeter()
      await jobs.settle()
      await enqueue(greet, { name: 'Ada' })
      clock.advance(1000)
      while (greeted.length === 0) await flushMicrotasks(1)
    })

    test('in great number keeps to the concurrency of its kind, and all run', async () => {
      let running = 0
      let most = 0
      const { jobs, db, greeted } = await greeter(async () => {
        running += 1
        most = Math.max(most, running)
        await flushMicrotasks(1)
        running -= 1
      })
      const names = Array.from({ length: 300 }, (_, index) => `name ${index}`)
      await db.transact(someTenant, (tx) =>
        jobs.enqueueAll(
          tx,
          greet,
          names.map((name) => ({ payload: { name } })),
        ),
      )
      await jobs.settle()
      expect(greeted).toEqual(names)
      expect(most).toBe(4)
    })
  })

  describe('a payload', () => {
    test('that does not fit its schema is a bug where it is enqueued', async () => {
      const { enqueue, greeted, jobs } = await greeter()
      await expect(enqueue(greet, { name: 5 })).rejects.toThrow(TypeError)
      await expect(enqueue(greet, { name: 'x'.repeat(2 ** 20) })).rejects.toThrow(TypeError)
      await jobs.settle()
      expect(greeted).toEqual([])
    })

    test('of another version of the program that does not fit ends the job with the reason', async () => {
      const { jobs, enqueue, greeted, listDead } = await greeter()
      const former = { ...greet, payload: Type.Object({ person: Type.String() }) }
      await enqueue(former, { person: 'Ada' })
      await jobs.settle()
      expect(greeted).toEqual([])
      const [dead] = await listDead()
      expect(dead).toMatchObject({ kind: 'greet', state: 'dead', payload: { person: 'Ada' }, attempts: 1 })
      expect(dead?.lastError).toMatch(/payload.*name/)
    })
  })

  describe('a dedup key', () => {
    test('keeps out a second unfinished job of the kind and tenant, and only that', async () => {
      const { jobs, enqueue, greeted, clock } = await greeter()
      const later = { dedupKey: 'k', runAtMs: clock.now() + 1000 }
      await enqueue(greet, { name: 'first' }, later)
      await enqueue(greet, { name: 'second' }, later)
      await enqueue(greet, { name: 'other key' }, { ...later, dedupKey: 'other' })
      await enqueue(greet, { name: 'other tenant' }, { ...later, tenantId: otherTenant })
      clock.advance(1000)
      await jobs.settle()
      expect(greeted.sort()).toEqual(['first', 'other key', 'other tenant'])
      await enqueue(greet, { name: 'again' }, { dedupKey: 'k' })
      clock.advance(1000)
      await jobs.settle()
      expect(greeted).toContain('again')
    })

    test('is free again when the job begins, where the kind says so', async () => {
      const lab = await newLab()
      const { enqueue, clock } = lab
      const { jobs } = lab.addNode('a')
      const read: string[] = []
      const reader = jobKind({ ...greet, name: 'reader', freesDedupKey: true })
      jobs.handle(reader, async ({ name }) => {
        read.push(name)
        // What changes while it runs it has not read.
        if (read.length === 1)
          for (const change of ['change', 'another'])
            await enqueue(reader, { name: change }, { dedupKey: 'k', runAtMs: clock.now() + 1000 })
      })
      await enqueue(reader, { name: 'first' }, { dedupKey: 'k' })
      await enqueue(reader, { name: 'too many' }, { dedupKey: 'k' })
      await jobs.start()
      await jobs.settle()
      clock.advance(1000)
      await jobs.settle()
      expect(read).toEqual(['first', 'change'])
    })

    test('given twice in one call adds one job', async () => {
      const { jobs, db, greeted } = await greeter()
      const twin = { payload: { name: 'Ada' }, options: { dedupKey: 'k' } }
      await db.transact(someTenant, (tx) => jobs.enqueueAll(tx, greet, [twin, twin]))
      await jobs.settle()
      expect(greeted).toEqual(['Ada'])
    })
  })

  describe('a failing job', () => {
    test('is tried again with growing delays until it succeeds', async () => {
      const attempts: [number, number][] = []
      const { jobs, enqueue, list, clock } = await greeter((_, { attempt }) => {
        attempts.push([attempt, clock.now() - startMs])
        if (attempt < 3) throw new Error(`failure ${attempt}`)
      })
      const startMs = clock.now()
      await enqueue(greet, { name: 'Ada' }, { subject: 's' })
      await settleFor(jobs, clock, 500)
      expect(await list(greet, 's')).toMatchObject([
        {
          state: 'ready',
          attempts: 1,
          lastError: 'failure 1',
          lastAttemptAtMs: startMs,
          runAtMs: startMs + 1000,
        },
      ])
      await settleFor(jobs, clock, 5000)
      expect(attempts).toEqual([
        [1, 0],
        [2, 1000],
        [3, 3000],
      ])
      const [done] = await list(greet, 's')
      expect(done).toMatchObject({ state: 'done', attempts: 3 })
      expect(done?.lastError).toBeNull()
    })

    test('is dead after its last attempt, and stays for an admin to see', async () => {
      const { jobs, enqueue, listDead, clock, greeted, logged } = await greeter(() => {
        throw new Error('broken')
      })
      await enqueue(greet, { name: 'Ada' }, { subject: 's' })
      await settleFor(jobs, clock, 60_000)
      expect(greeted).toHaveLength(3)
      const [dead] = await listDead()
      expect(dead).toMatchObject({ state: 'dead', attempts: 3, lastError: 'broken', tenantId: someTenant })
      expect(logged.filter(({ level }) => level === 'warn')).toMatchObject([
        { message: 'A job is dead: broken', details: { kind: 'greet', attempt: 3 } },
      ])
    })

    test('stops at once, or comes back when told, by a verdict', async () => {
      const { jobs, enqueue, list, clock } = await greeter((name) => {
        if (name === 'stop') throw new JobVerdict('gone', { kind: 'dead' })
        throw new JobVerdict('busy', { kind: 'retry', atMs: clock.now() + 77_000 })
      })
      await enqueue(greet, { name: 'stop' }, { subject: 's' })
      await enqueue(greet, { name: 'later' }, { subject: 's' })
      await settleFor(jobs, clock, 1000)
      const [stopped, later] = await list(greet, 's')
      expect(stopped).toMatchObject({ state: 'dead', attempts: 1, lastError: 'gone' })
      expect(later).toMatchObject({ state: 'ready', attempts: 1, lastError: 'busy' })
      expect((later?.runAtMs ?? 0) - (later?.lastAttemptAtMs ?? 0)).toBe(77_000)
    })

    test('is given up when its time is over, though it has attempts left', async () => {
      const lab = await newLab()
      const { jobs } = lab.addNode('a')
      const brief = jobKind({ ...greet, retry: { ...retry, maxAttempts: 100, giveUpAfterMs: 20_000 } })
      const attempts: number[] = []
      jobs.handle(brief, async (_, { attempt }) => {
        attempts.push(attempt)
        throw new Error('broken')
      })
      await jobs.start()
      await lab.enqueue(brief, { name: 'Ada' })
      await settleFor(jobs, lab.clock, 60_000)
      expect(attempts).toEqual([1, 2, 3, 4, 5])
      expect(await lab.listDead()).toMatchObject([{ attempts: 5, lastError: 'broken' }])
    })
  })

  describe('a finished job', () => {
    test('stays as long as its kind keeps it', async () => {
      const { jobs, enqueue, list, clock } = await greeter()
      await enqueue(greet, { name: 'Ada' }, { subject: 's' })
      await settleFor(jobs, clock, 50_000)
      expect(await list(greet, 's')).toMatchObject([{ state: 'done', payload: { name: 'Ada' } }])
      await settleFor(jobs, clock, 120_000)
      expect(await list(greet, 's')).toEqual([])
    })

    test('is gone at once when its kind keeps none', async () => {
      const lab = await newLab()
      const { jobs } = lab.addNode('a')
      const brief = jobKind({ ...greet, keepDoneMs: 0 })
      jobs.handle(brief, async () => undefined)
      await jobs.start()
      await lab.enqueue(brief, { name: 'Ada' }, { subject: 's' })
      await settleFor(jobs, lab.clock, 1000)
      expect(await lab.list(brief, 's')).toEqual([])
    })

    test('stays 30 days when it is dead', async () => {
      const { jobs, enqueue, clock, listDead } = await greeter(() => {
        throw new JobVerdict('never', { kind: 'dead' })
      })
      await enqueue(greet, { name: 'Ada' })
      const day = 24 * 3600 * 1000
      await settleFor(jobs, clock, 1000)
      await jump(jobs, clock, 29 * day)
      expect(await listDead()).toHaveLength(1)
      await jump(jobs, clock, day)
      expect(await listDead()).toEqual([])
    })
  })

  describe('a dead job', () => {
    async function dead() {
      let isBroken = true
      const made = await greeter(() => {
        if (isBroken) throw new JobVerdict('broken', { kind: 'dead' })
      })
      await made.enqueue(greet, { name: 'Ada' })
      await made.jobs.settle()
      const [job] = await made.listDead()
      const retry = (jobId: number) => made.db.transact(serverTenant, (tx) => made.jobs.retryDead(tx, jobId))
      return { ...made, jobId: job?.jobId ?? 0, retry, mend: () => (isBroken = false) }
    }

    test('is tried again for its tenant, once', async () => {
      const { jobs, greeted, listDead, jobId, retry, mend } = await dead()
      mend()
      expect(await retry(jobId)).toBe(true)
      await jobs.settle()
      expect([greeted, await listDead()]).toEqual([['Ada', 'Ada'], []])
      expect(await retry(jobId)).toBe(false)
    })

    test('is dead again when nothing was mended, and can be forgotten', async () => {
      const { db, jobs, greeted, listDead, jobId, retry } = await dead()
      await retry(jobId)
      await jobs.settle()
      const [again] = await listDead()
      expect([greeted.length, again?.attempts]).toEqual([2, 1])
      const forget = () => db.transact(serverTenant, (tx) => removeDead(tx, again?.jobId ?? 0))
      expect([await forget(), await listDead(), await forget()]).toEqual([true, [], false])
    })
  })

  describe('lists', () => {
    test('show a tenant its own jobs about the subject alone, page by page', async () => {
      const { db, clock, enqueue, list } = await greeter()
      const later = { subject: 's', runAtMs: clock.now() + 1000 }
      await enqueue(greet, { name: 'mine' }, later)
      await enqueue(greet, { name: 'other subject' }, { ...later, subject: 't' })
      await enqueue(greet, { name: 'other tenant' }, { ...later, tenantId: otherTenant })
      const listed = await list(greet, 's')
      expect(listed.map(({ payload }) => payload)).toEqual([{ name: 'mine' }])
      expect(listed).toEqual([
        {
          jobId: listed[0]?.jobId,
          tenantId: someTenant,
          kind: 'greet',
          state: 'ready',
          payload: { name: 'mine' },
          subject: 's',
          dedupKey: null,
          orderingKey: null,
          groupKey: null,
          runAtMs: later.runAtMs,
          attempts: 0,
          lastError: null,
          lastAttemptAtMs: null,
          createdAtMs: clock.now(),
          giveUpAtMs: null,
          leaseToken: null,
        },
      ])
      await enqueue(greet, { name: 'second' }, later)
      const about = { kind: 'greet', subject: 's', offset: 1 }
      const rest = await listJobs(db.reader(someTenant), about)
      expect(rest.map(({ payload }) => payload)).toEqual([{ name: 'second' }])
    })

    test('of the whole server are refused to a tenant', async () => {
      const { db } = await greeter()
      const reader = db.reader(someTenant)
      await expect(pageDead(reader, { limit: 10 })).rejects.toThrow()
      await expect(pageUnfinished(reader, { limit: 10 })).rejects.toThrow()
      await expect(listGroups(reader, { kind: 'greet', limit: 10 })).rejects.toThrow()
      await expect(countByState(reader)).rejects.toThrow()
    })

    test('count unfinished and dead jobs by state', async () => {
      const { db, jobs, enqueue, clock } = await greeter((name) => {
        if (name === 'bad') throw new JobVerdict('never', { kind: 'dead' })
      })
      await enqueue(greet, { name: 'bad' })
      await enqueue(greet, { name: 'good' })
      await settleFor(jobs, clock, 1000)
      await enqueue(greet, { name: 'later' }, { runAtMs: clock.now() + 60_000 })
      await enqueue(greet, { name: 'new' }, { orderingKey: 'o' })
      const counts = await countByState(db.reader(serverTenant))
      expect(counts.filter(({ kind }) => kind === 'greet')).toEqual(
        expect.arrayContaining([
          { kind: 'greet', state: 'dead', count: 1, isRecurring: false },
          { kind: 'greet', state: 'ready', count: 1, isRecurring: false },
          { kind: 'greet', state: 'new', count: 1, isRecurring: false },
        ]),
      )
      expect(counts.filter(({ isRecurring }) => isRecurring)).toEqual([
        { kind: 'jobs.clean', state: 'ready', count: 1, isRecurring: true },
      ])
    })

    test('of dead jobs go newest first', async () => {
      const { db, jobs, enqueue, clock } = await greeter(() => {
        throw new JobVerdict('never', { kind: 'dead' })
      })
      for (const name of ['one', 'two', 'three']) await enqueue(greet, { name })
      await settleFor(jobs, clock, 1000)
      const server = db.reader(serverTenant)
      const { items: latest } = await pageDead(server, { limit: 2 })
      expect(latest.map(({ payload }) => payload)).toEqual([{ name: 'three' }, { name: 'two' }])
    })

    test('of unfinished jobs go newest first', async () => {
      const { db, jobs, enqueue, clock } = await greeter((name) => {
        if (name === 'bad') throw new JobVerdict('never', { kind: 'dead' })
      })
      await enqueue(greet, { name: 'bad' })
      await enqueue(greet, { name: 'good' })
      await settleFor(jobs, clock, 1000)
      for (const name of ['one', 'two']) await enqueue(greet, { name }, { runAtMs: clock.now() + 60_000 })
      const server = db.reader(serverTenant)
      const first = await pageUnfinished(server, { limit: 1 })
      const rest = await pageUnfinished(server, { limit: 100, cursor: first.nextCursor ?? undefined })
      const names = [...first.items, ...rest.items].filter(({ kind }) => kind === greet.name)
      expect(names.map(({ payload }) => payload)).toEqual([{ name: 'two' }, { name: 'one' }])
    })
  })

  describe('a handler', () => {
    test('is one per kind, registered before the start', async () => {
      const { jobs } = await greeter()
      const other = { ...greet, name: 'other' }
      expect(() => jobs.handle(other, async () => undefined)).toThrow('before the start')
      const lab = await newLab()
      const fresh = lab.addNode('b').jobs
      fresh.handle(greet, async () => undefined)
      expect(() => fresh.handle(greet, async () => undefined)).toThrow('two handlers')
      expect(() => fresh.handle({ ...other, concurrency: 0 }, async () => undefined)).toThrow(RangeError)
    })

    test('that a node does not have leaves its jobs to others', async () => {
      const lab = await newLab()
      const { jobs } = lab.addNode('a')
      await jobs.start()
      await lab.enqueue(greet, { name: 'Ada' }, { subject: 's' })
      await settleFor(jobs, lab.clock, 1000)
      expect(await lab.list(greet, 's')).toMatchObject([{ state: 'ready', attempts: 0 }])
    })

    test('runs in a context of its own, not in that of whoever enqueued', async () => {
      const request = new AsyncLocalStorage<string>()
      const seen: (string | undefined)[] = []
      const { jobs, db } = await greeter(() => {
        seen.push(request.getStore())
      })
      await jobs.settle()
      await request.run('a request', () =>
        db.transact(someTenant, (tx) => jobs.enqueue(tx, greet, { name: 'Ada' })),
      )
      await jobs.settle()
      expect(seen).toEqual([undefined])
    })

    test('may enqueue', async () => {
      const { jobs, db, enqueue, greeted, clock } = await greeter(async (name) => {
        if (name.length < 3)
          await db.transact(someTenant, (tx) => jobs.enqueue(tx, greet, { name: `${name}!` }))
      })
      await enqueue(greet, { name: 'A' })
      await settleFor(jobs, clock, 1000)
      expect(greeted).toEqual(['A', 'A!', 'A!!'])
    })

    test('is timed', async () => {
      const lab = await newLab()
      const ran: [string, string, number][] = []
      const metrics = {
        jobRan: (kind: string, outcome: string, durationMs: number) => ran.push([kind, outcome, durationMs]),
      }
      const { jobs } = lab.addNode('a', { metrics })
      jobs.handle(greet, async ({ name }) => {
        lab.clock.advance(10)
        if (name === 'bad') throw new Error('bad')
      })
      await jobs.start()
      await lab.enqueue(greet, { name: 'bad' })
      await lab.enqueue(greet, { name: 'good' }, { runAtMs: lab.clock.now() + 500 })
      await settleFor(jobs, lab.clock, 900)
      expect(ran.filter(([kind]) => kind === 'greet')).toEqual([
        ['greet', 'retry', 10],
        ['greet', 'done', 10],
      ])
    })
  })
})
