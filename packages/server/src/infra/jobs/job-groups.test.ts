import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, jump, settleFor, someTenant } from '#harness/jobs-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import { countQueued, type JobKind, JobVerdict, jobKind, listGroups } from './index.ts'

const send = jobKind({
  name: 'send',
  payload: Type.Object({ name: Type.String() }),
  retry: { maxAttempts: 100, firstDelayMs: 1000, longestDelayMs: 10_000 },
  concurrency: 6,
  keepDoneMs: 3600_000,
  group: { concurrency: 2, breakerFailures: 5, restMs: 60_000, longestRestMs: 200_000 },
})

eachDialect('groups of jobs', (open) => {
  const newLab = jobsLab(open)

  async function sender(
    kind: JobKind<typeof send.payload> = send,
    handler: (name: string) => Promise<void> | void = () => undefined,
  ) {
    const lab = await newLab()
    const { jobs } = lab.addNode('a')
    const sent: string[] = []
    jobs.handle(kind, async ({ name }) => {
      sent.push(name)
      await handler(name)
    })
    await jobs.start()
    return {
      ...lab,
      jobs,
      sent,
      /** One job for each name, to the host before the colon. */
      sendAll: (names: readonly string[], tenantId = someTenant) =>
        lab.db.transact(tenantId, (tx) =>
          jobs.enqueueAll(
            tx,
            kind,
            names.map((name) => ({ payload: { name }, options: { groupKey: hostOf(name), subject: 's' } })),
          ),
        ),
      groups: (onlyFailing = false) =>
        listGroups(lab.db.reader(serverTenant), { kind: kind.name, limit: 100, onlyFailing }),
    }
  }

  test('run at most so many jobs of a group at a time, and use the rest of the room for others', async () => {
    const running = new Map<string, number>()
    let mostOfGroup = 0
    let most = 0
    const { jobs, sendAll, sent } = await sender(send, async (name) => {
      running.set(hostOf(name), (running.get(hostOf(name)) ?? 0) + 1)
      mostOfGroup = Math.max(mostOfGroup, ...running.values())
      most = Math.max(
        most,
        running.values().reduce((sum, count) => sum + count, 0),
      )
      await flushMicrotasks(3)
      running.set(hostOf(name), (running.get(hostOf(name)) ?? 0) - 1)
    })
    await sendAll(manyTo(['a', 'b', 'c', 'd'], 10))
    await jobs.settle()
    expect(sent).toHaveLength(40)
    expect(mostOfGroup).toBe(2)
    expect(most).toBe(6)
  })

  test('take turns, however many jobs each has', async () => {
    const narrow = jobKind({ ...send, concurrency: 1 })
    const { jobs, sendAll, sent } = await sender(narrow)
    await sendAll([...manyTo(['big'], 50), ...manyTo(['small', 'tiny'], 3)])
    await jobs.settle()
    expect(sent.slice(0, 9).map(hostOf).sort()).toEqual([...'bbb', ...'sss', ...'ttt'].map(longName).sort())
    expect(sent).toHaveLength(56)
  })

  test('go on with the newcomer before the one that was just served', async () => {
    const narrow = jobKind({ ...send, concurrency: 1 })
    const { jobs, sendAll, sent } = await sender(narrow, async (name) => {
      if (name === 'big:5') await sendAll(['late:0'])
    })
    await sendAll(manyTo(['big'], 20))
    await jobs.settle()
    expect(sent.indexOf('late:0')).toBe(6)
  })

  test('rest after failures in a row, and then try one job, ever later', async () => {
    let isDown = true
    const { jobs, sendAll, sent, clock, groups, list } = await sender(send, (name) => {
      if (isDown && hostOf(name) === 'down') throw new Error('connection refused')
    })
    const startMs = clock.now()
    await sendAll([...manyTo(['down'], 20), ...manyTo(['up'], 20)])
    await jobs.settle()
    const down = () => sent.filter((name) => hostOf(name) === 'down').length
    // Two at a time: the sixth was under way when the fifth failed.
    expect(down()).toBe(6)
    expect(sent.length - down()).toBe(20)
    expect(await groups(true)).toEqual([
      {
        groupKey: 'down',
        failures: 5,
        restsUntilMs: startMs + 60_000,
        lastServedAtMs: startMs,
        oldestAtMs: startMs,
        queued: 20,
      },
    ])
    // While it rests no attempt is burnt.
    await settleFor(jobs, clock, 59_500)
    expect(down()).toBe(6)
    const waiting = (await list(send, 's')).filter(({ state }) => state === 'ready')
    expect(waiting.filter(({ attempts }) => attempts === 0)).toHaveLength(14)
    // One probe each time: after 60 s, then after 120 s, then after the longest rest.
    await settleFor(jobs, clock, 500)
    expect(down()).toBe(7)
    await settleFor(jobs, clock, 119_500)
    expect(down()).toBe(7)
    await settleFor(jobs, clock, 500)
    expect(down()).toBe(8)
    isDown = false
    await jump(jobs, clock, 199_999)
    expect(down()).toBe(8)
    await jump(jobs, clock, 1)
    expect(down()).toBe(8 + 20)
    expect(await groups(true)).toEqual([])
    expect(await groups()).toMatchObject([
      { groupKey: 'down', failures: 0, queued: 0 },
      { groupKey: 'up', failures: 0, queued: 0 },
    ])
  })

  test('wait for the one probe before they go on', async () => {
    const slow = Promise.withResolvers<void>()
    let isDown = true
    let begun = 0
    const { jobs, sendAll, clock } = await sender(send, async () => {
      begun += 1
      if (isDown) throw new Error('down')
      if (begun === 7) await slow.promise
    })
    await sendAll(manyTo(['host'], 30))
    await jobs.settle()
    expect(begun).toBe(6)
    isDown = false
    clock.advance(60_000)
    while (begun < 7) await flushMicrotasks(1)
    await flushMicrotasks(50)
    expect(begun).toBe(7)
    slow.resolve()
    await jobs.settle()
    expect(begun).toBe(36)
  })

  test('are not blamed for jobs that their handler stops', async () => {
    const { jobs, sendAll, sent, groups } = await sender(send, () => {
      throw new JobVerdict('refused', { kind: 'dead' })
    })
    await sendAll(manyTo(['host'], 30))
    await jobs.settle()
    expect(sent).toHaveLength(30)
    expect(await groups()).toMatchObject([{ failures: 0, queued: 0 }])
  })

  test('that rest do not stop the time of their jobs', async () => {
    const brief = jobKind({ ...send, retry: { ...send.retry, giveUpAfterMs: 30_000 } })
    const { jobs, sendAll, sent, clock, listDead, groups } = await sender(brief, () => {
      throw new Error('down')
    })
    await sendAll(manyTo(['host'], 40))
    await settleFor(jobs, clock, 29_500)
    expect(await listDead()).toEqual([])
    await settleFor(jobs, clock, 500)
    expect(sent).toHaveLength(6)
    const dead = await listDead()
    expect(dead).toHaveLength(40)
    expect(dead.filter(({ attempts }) => attempts === 0)).toHaveLength(34)
    expect(await groups()).toMatchObject([{ queued: 0 }])
  })

  test('keep the order of a key, and a dead one of it does not stop the next', async () => {
    const { jobs, db, sent } = await sender(send, async (name) => {
      await flushMicrotasks(3)
      if (name === 'host:1') throw new JobVerdict('refused', { kind: 'dead' })
    })
    const names = manyTo(['host'], 8)
    await db.transact(someTenant, (tx) =>
      jobs.enqueueAll(
        tx,
        send,
        names.map((name) => ({ payload: { name }, options: { groupKey: 'host', orderingKey: 'me|host' } })),
      ),
    )
    await jobs.settle()
    expect(sent).toEqual(names)
  })

  test('get the next of an order though it began in another group', async () => {
    const { jobs, db, sent } = await sender()
    const names = ['a:1', 'b:1', 'a:2']
    await db.transact(someTenant, (tx) =>
      jobs.enqueueAll(
        tx,
        send,
        names.map((name) => ({ payload: { name }, options: { groupKey: hostOf(name), orderingKey: 'o' } })),
      ),
    )
    await jobs.settle()
    expect(sent).toEqual(names)
  })

  test('are counted as far as is asked', async () => {
    const { jobs, sendAll, db, clock, enqueue } = await sender()
    await jobs.settle()
    const later = { groupKey: 'host', runAtMs: clock.now() + 1000 }
    for (const name of ['1', '2', '3']) await enqueue(send, { name }, later)
    await sendAll(['other:1'])
    await jobs.settle()
    const count = (atMost: number) =>
      countQueued(db.reader(serverTenant), { kind: 'send', groupKey: 'host', atMost })
    expect([await count(2), await count(10)]).toEqual([2, 3])
  })

  test('are forgotten a day after their last job', async () => {
    const { jobs, sendAll, clock, groups } = await sender()
    await sendAll(['a:1', 'b:1'])
    await jobs.settle()
    await jump(jobs, clock, 23 * 3600_000)
    await sendAll(['b:2'])
    await jobs.settle()
    expect(await groups()).toHaveLength(2)
    await jump(jobs, clock, 2 * 3600_000)
    await jump(jobs, clock, 60_000)
    expect(await groups()).toMatchObject([{ groupKey: 'b' }])
  })

  test('that rest longer than that are remembered', async () => {
    const day = 24 * 3600_000
    const stubborn = jobKind({
      ...send,
      retry: { ...send.retry, maxAttempts: 1 },
      group: { concurrency: 1, breakerFailures: 1, restMs: 3 * day, longestRestMs: 3 * day },
    })
    const { jobs, sendAll, clock, groups } = await sender(stubborn, () => {
      throw new Error('down')
    })
    await sendAll(['a:1'])
    await jobs.settle()
    await jump(jobs, clock, 2 * day)
    expect(await groups()).toMatchObject([{ groupKey: 'a', failures: 1, queued: 0 }])
    await jump(jobs, clock, 2 * day)
    await jump(jobs, clock, 60_000)
    expect(await groups()).toEqual([])
  })

  test('go with a group key, and the other way round', async () => {
    const { enqueue } = await sender()
    await expect(enqueue(send, { name: 'a' })).rejects.toThrow('group')
    const { group: _, ...plain } = send
    await expect(enqueue(plain, { name: 'a' }, { groupKey: 'a' })).rejects.toThrow('group')
  })
})

function hostOf(name: string): string {
  return name.split(':')[0] ?? ''
}

function longName(initial: string): string {
  return { b: 'big', s: 'small', t: 'tiny' }[initial] ?? ''
}

function manyTo(hosts: readonly string[], count: number): string[] {
  return hosts.flatMap((host) => Array.from({ length: count }, (_, index) => `${host}:${index}`))
}
