import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, jump, settleFor, someTenant } from '#harness/jobs-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type JobContext, jobKind } from './index.ts'
import type { JobTables } from './job-tables.ts'

const leaseMs = 30_000
const work = jobKind({
  name: 'work',
  payload: Type.Object({ name: Type.String() }),
  retry: { maxAttempts: 4, firstDelayMs: 1000, longestDelayMs: 10_000 },
  concurrency: 4,
  keepDoneMs: 3600_000,
})

eachDialect('leases of jobs', (open) => {
  const newLab = jobsLab(open)
  type Lab = Awaited<ReturnType<typeof newLab>>

  /** Starts a node whose handler notes that it began, then waits for the node's gate. */
  async function startNode(
    lab: Lab,
    nodeId: string,
    { isOpen = true, ...options }: { isOpen?: boolean; graceMs?: number; formerNodeId?: string } = {},
  ) {
    const node = lab.addNode(nodeId, { leaseMs, ...options })
    const gate = Promise.withResolvers<void>()
    if (isOpen) gate.resolve()
    const begun: string[] = []
    const contexts: JobContext[] = []
    node.jobs.handle(work, async ({ name }, context) => {
      begun.push(name)
      contexts.push(context)
      await gate.promise
    })
    await node.jobs.start()
    const hasBegun = async (count = 1) => {
      while (begun.length < count) await flushMicrotasks(1)
    }
    return { ...node, begun, contexts, gate, hasBegun }
  }

  async function findLeaseEnd(lab: Lab): Promise<number | undefined> {
    const job = await lab.db
      .reader(serverTenant)
      .tables<JobTables>()
      .selectFrom('jobs')
      .innerJoin('job_leases', 'job_leases.lease_token', 'jobs.lease_token')
      .select('job_leases.until_ms')
      .where('jobs.kind', '=', work.name)
      .executeTakeFirst()
    return job?.until_ms
  }

  describe('of a node that crashed', () => {
    test('are taken over at once when the same node starts again', async () => {
      const lab = await newLab()
      const former = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await former.hasBegun()
      former.crash()
      const next = await startNode(lab, 'a')
      await next.jobs.settle()
      expect(next.begun).toEqual(['job'])
      expect(next.contexts[0]?.attempt).toBe(2)
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 2 }])
    })

    test('are taken over at once by the process that takes its place, and by no other', async () => {
      const lab = await newLab()
      const former = await startNode(lab, 'first start', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      await former.hasBegun()
      former.crash()
      const elsewhere = await startNode(lab, 'another machine')
      await elsewhere.jobs.settle()
      expect(elsewhere.begun).toEqual([])
      const next = await startNode(lab, 'second start', { formerNodeId: 'first start' })
      await Promise.all([next, elsewhere].map(({ jobs }) => jobs.settle()))
      expect([...next.begun, ...elsewhere.begun]).toEqual(['job'])
    })

    test('are taken over by another node when they have run out, not before', async () => {
      const lab = await newLab()
      const crashed = await startNode(lab, 'a', { isOpen: false })
      const other = lab.addNode('b', { leaseMs })
      const taken: string[] = []
      other.jobs.handle(work, async ({ name }) => void taken.push(name))
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await crashed.hasBegun()
      crashed.crash()
      await other.jobs.start()
      // It may have begun at any time within the second that was let pass.
      await settleFor(other.jobs, lab.clock, 28_500)
      expect(taken).toEqual([])
      await settleFor(other.jobs, lab.clock, 2000)
      expect(taken).toEqual(['job'])
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 2 }])
    })

    test('come back ever later, and end, when the job itself brings the node down', async () => {
      const lab = await newLab()
      await lab.enqueue(work, { name: 'poison' }, { subject: 's' })
      for (const waitMs of [0, 0, 1000, 2000]) {
        const node = await startNode(lab, 'a', { isOpen: false })
        if (waitMs > 0) {
          await node.jobs.settle()
          await jump(node.jobs, lab.clock, waitMs - 1)
          expect(node.begun).toEqual([])
          lab.clock.advance(1)
        }
        await node.hasBegun()
        node.crash()
      }
      const last = await startNode(lab, 'a')
      await jump(last.jobs, lab.clock, 100_000)
      expect(last.begun).toEqual([])
      expect(await lab.list(work, 's')).toMatchObject([
        { state: 'dead', attempts: 4, lastError: 'The server stopped while this ran' },
      ])
    })

    test('hold up the order until another has done the job', async () => {
      const lab = await newLab()
      const crashed = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'first' }, { orderingKey: 'o' })
      await lab.enqueue(work, { name: 'second' }, { orderingKey: 'o' })
      lab.clock.advance(1000)
      await crashed.hasBegun()
      crashed.crash()
      const other = await startNode(lab, 'b')
      await settleFor(other.jobs, lab.clock, 28_000)
      expect(other.begun).toEqual([])
      await settleFor(other.jobs, lab.clock, 3000)
      expect(other.begun).toEqual(['first', 'second'])
    })
  })

  describe('of a job that takes long', () => {
    test('are renewed, so that no other node begins it', async () => {
      const lab = await newLab()
      const slow = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await slow.hasBegun()
      const other = await startNode(lab, 'b')
      for (let renewals = 0; renewals < 12; renewals += 1) {
        lab.clock.advance(leaseMs / 3)
        while ((await findLeaseEnd(lab)) !== lab.clock.now() + leaseMs) await flushMicrotasks(1)
        await other.jobs.settle()
      }
      expect(other.begun).toEqual([])
      slow.gate.resolve()
      await slow.jobs.settle()
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 1 }])
    })

    test('are not ended by the sweep of its own process, wherever in it the machine stood still', async () => {
      const lab = await newLab()
      const slow = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await slow.hasBegun()
      for (let turns = 0; turns < 30; turns += 1) {
        lab.clock.advance(2 * leaseMs)
        await flushMicrotasks(turns)
      }
      expect(slow.contexts[0]?.signal.aborted).toBe(false)
      slow.gate.resolve()
      await slow.jobs.settle()
      expect(slow.begun).toEqual(['job'])
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 1 }])
    })

    test('that was lost nevertheless tells its handler, whose outcome no longer counts', async () => {
      const lab = await newLab()
      const slow = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await slow.hasBegun()
      // A second process that starts as the same node takes the lease for one of its predecessor's.
      const other = await startNode(lab, 'a')
      await other.jobs.settle()
      expect(other.begun).toEqual(['job'])
      expect(slow.contexts[0]?.signal.aborted).toBe(false)
      while (!slow.contexts[0]?.signal.aborted) {
        lab.clock.advance(1000)
        await other.jobs.settle()
      }
      slow.gate.reject(new Error('too late'))
      await slow.jobs.settle()
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 2 }])
      expect(lab.logged.map(({ message }) => message)).toContain('Lost the lease of a job that was running')
      // It goes on with a lease of its own.
      await other.stop()
      await lab.enqueue(work, { name: 'later' }, { subject: 't' })
      lab.clock.advance(1000)
      await slow.hasBegun(2)
      expect(slow.begun).toEqual(['job', 'later'])
    })
  })

  describe('of a node that stops', () => {
    test('are kept while its jobs end', async () => {
      const lab = await newLab()
      const node = await startNode(lab, 'a', { isOpen: false })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await node.hasBegun()
      const stopped = node.jobs.stop()
      await lab.enqueue(work, { name: 'next' }, { subject: 's' })
      await flushMicrotasks()
      node.gate.resolve()
      await stopped
      expect(node.begun).toEqual(['job'])
      expect(node.contexts[0]?.signal.aborted).toBe(false)
      const [job, next] = await lab.list(work, 's')
      expect([job?.state, next?.state]).toEqual(['done', 'ready'])
    })

    test('are not taken when it stops while it starts', async () => {
      const lab = await newLab()
      const { jobs } = lab.addNode('a')
      const begun: string[] = []
      jobs.handle(work, async ({ name }) => void begun.push(name))
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      const started = jobs.start()
      await Promise.all([jobs.stop(), jobs.stop(), started])
      lab.clock.advance(10_000)
      await flushMicrotasks()
      const [job] = await lab.list(work, 's')
      expect(job?.state).toBe(begun.length === 0 ? 'ready' : 'done')
      await lab.enqueue(work, { name: 'later' }, { subject: 't' })
      lab.clock.advance(10_000)
      await flushMicrotasks()
      expect(await lab.list(work, 't')).toMatchObject([{ state: 'ready', attempts: 0 }])
    })

    test('are given back when a job does not end, and its attempt does not count', async () => {
      const lab = await newLab()
      const node = await startNode(lab, 'a', { isOpen: false, graceMs: 5000 })
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await node.hasBegun()
      const signal = node.contexts[0]?.signal
      await node.stop()
      expect(signal?.aborted).toBe(true)
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'ready', attempts: 0 }])
      node.gate.resolve()
      await flushMicrotasks()
      expect(await lab.list(work, 's')).toMatchObject([{ state: 'ready', attempts: 0 }])
    })

    test('are given back when its handler ends because it was told to', async () => {
      const lab = await newLab()
      const node = lab.addNode('a', { leaseMs })
      const begun = Promise.withResolvers<void>()
      node.jobs.handle(work, async (_, { signal }) => {
        begun.resolve()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      })
      await node.jobs.start()
      await lab.enqueue(work, { name: 'job' }, { subject: 's' })
      lab.clock.advance(1000)
      await begun.promise
      await node.stop()
      const [job] = await lab.list(work, 's')
      expect(job).toMatchObject({ state: 'ready', attempts: 0 })
      expect(job?.lastError).toBeNull()
    })

    test('are left to run out when the database is away, and stopping ends all the same', async () => {
      const lab = await newLab()
      const node = await startNode(lab, 'a', { isOpen: false, graceMs: 5000 })
      await lab.enqueue(work, { name: 'job' })
      lab.clock.advance(1000)
      await node.hasBegun()
      node.crash()
      await node.stop()
      expect(lab.logged.some(({ level }) => level === 'error')).toBe(true)
    })
  })

  test('of two nodes never meet: each job runs once', async () => {
    const lab = await newLab()
    const ran: string[] = []
    const nodes = ['a', 'b'].map((nodeId) => {
      const node = lab.addNode(nodeId, { pollMs: 50 })
      const seen: string[] = []
      node.jobs.handle(work, async ({ name }) => {
        ran.push(name)
        seen.push(name)
        await flushMicrotasks(1)
      })
      return { ...node, seen }
    })
    for (const node of nodes) await node.jobs.start()
    const names = Array.from({ length: 200 }, (_, index) => `job ${index}`)
    const [first] = nodes
    for (const name of names) {
      await lab.db.transact(someTenant, async (tx) => first?.jobs.enqueue(tx, work, { name }))
      lab.clock.advance(20)
    }
    while (ran.length < names.length) for (const node of nodes) await node.jobs.settle()
    expect(ran.sort()).toEqual(names.sort())
    expect(nodes.map(({ seen }) => seen.length > 0)).toEqual([true, true])
  })

  test('are taken though the clock was set back a day', async () => {
    const lab = await newLab()
    const { jobs, begun, hasBegun } = await startNode(lab, 'a')
    await jobs.settle()
    lab.clock.advance(-24 * 3600 * 1000)
    await lab.db.transact(someTenant, (tx) => jobs.enqueue(tx, work, { name: 'own' }))
    await hasBegun()
    await flushMicrotasks()
    // The next look around is a second from now, not a day and a second.
    await lab.enqueue(work, { name: 'of another process' })
    lab.clock.advance(1000)
    await hasBegun(2)
    expect(begun).toEqual(['own', 'of another process'])
  })

  test('survive a database that is away for a while', async () => {
    const lab = await newLab()
    const node = lab.addNode('a')
    const begun: string[] = []
    node.jobs.handle(work, async ({ name }) => {
      begun.push(name)
      if (name === 'before') node.crash()
    })
    await node.jobs.start()
    await lab.enqueue(work, { name: 'before' }, { subject: 's' })
    await expect(settleFor(node.jobs, lab.clock, 2000)).rejects.toThrow('crashed')
    await lab.enqueue(work, { name: 'after' }, { subject: 's' })
    node.recover()
    await jump(node.jobs, lab.clock, 1000)
    expect(begun).toEqual(['before', 'after'])
    expect(await lab.list(work, 's')).toMatchObject([{ state: 'done', attempts: 1 }, { state: 'done' }])
  })
})
