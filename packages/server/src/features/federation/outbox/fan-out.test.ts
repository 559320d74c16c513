import type { ActionId, IdTag } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { changeRelation, listCircle, relationsMigrations } from '#features/relations/index.ts'
import { listHosted, tenantsMigrations } from '#features/tenants/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { type RecordedTransaction, recordTransactions } from '#harness/recorded-statements.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type JobQueue, jobsMigrations, listJobs, openJobs, removeJobs } from '#infra/jobs/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { federationMigrations } from '../federation-migrations.ts'
import { findFreshInboxes } from '../identities/identities-store.ts'
import { continueLane, type FanOutDeps, queueForSending } from './fan-out.ts'
import { isFanningOut } from './fan-out-store.ts'
import { deliverCountsJob, deliverJob, fanOutJob } from './outbox-jobs.ts'
import type { Outgoing } from './outgoing.ts'

const migrations = [...jobsMigrations, ...tenantsMigrations, ...relationsMigrations, ...federationMigrations]
const alice = 7 as TenantId
const bob = 8 as TenantId
const issuerTag = 'alice.example.com' as IdTag
const clock = new TestClock()

/** The largest number of values in the statements of one transaction: a portion has about twelve for each recipient. */
const mostValues = 3000

const openedJobs: JobQueue[] = []
afterEach(async () => {
  for (const jobs of openedJobs.splice(0)) await jobs.stop()
})

eachDialect('a fan-out', (open) => {
  test('writes one delivery for each inbox, in portions of their own transactions', async () => {
    const lab = await openLab(open, 1000)
    await lab.send({ actionId: idOf(1) })
    const [first] = lab.db.committed
    expect(await lab.count(1)).toBe(100)
    expect(await isFanningOut(lab.db.reader(alice), idOf(1))).toBe(true)
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(1000)
    expect(await isFanningOut(lab.db.reader(alice), idOf(1))).toBe(false)
    const portions = lab.db.committed.filter((transaction) => writes(transaction, 'outbox.deliver'))
    expect(portions[0]).toBe(first)
    expect(portions).toHaveLength(1 + 900 / 100)
    for (const { values, statements } of lab.db.committed) {
      expect(values).toBeLessThan(mostValues)
      expect(statements.length).toBeLessThan(20)
    }
  })

  test('lets other writes come between its portions', async () => {
    const lab = await openLab(open, 2000)
    await lab.send({ actionId: idOf(1) })
    const seen: number[] = []
    let isDone = false
    const others = (async () => {
      while (!isDone) {
        await lab.db.transact(alice, (tx) => note(tx))
        seen.push(await lab.count(1))
      }
    })()
    await lab.jobs.settle()
    isDone = true
    await others
    // Another write finds the fan-out at most of its stages, and waits for one portion at a time.
    expect(new Set(seen).size).toBeGreaterThanOrEqual(5)
  })

  test('continues where it was when a server dies after a portion, and writes nothing twice', async () => {
    const lab = await openLab(open, 1500)
    await lab.send({ actionId: idOf(1) })
    // The note that the portion was written is lost.
    const dying = lab.continueWith(2, () => {
      throw new Error('the server is gone')
    })
    await expect(dying).rejects.toThrow('gone')
    expect(await lab.count(1)).toBe(300)
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(1500)
    expect((await lab.inboxes(1)).size).toBe(1500)
  })

  test('by two processes at once writes nothing twice', async () => {
    const lab = await openLab(open, 1500)
    await lab.send({ actionId: idOf(1) })
    const run = () =>
      continueLane(lab.deps, { lane: issuerTag }, { tenantId: alice, signal: new AbortController().signal })
    await Promise.all([run(), run(), run()])
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(1500)
    expect((await lab.inboxes(1)).size).toBe(1500)
  })

  test('delivers once to an inbox that recipients in several portions share', async () => {
    const lab = await openLab(open, 1000, (at) => `https://host${at % 3}.example/api/inbox`)
    lab.jobs.handle(deliverJob, async () => {})
    await lab.start()
    await lab.send({ actionId: idOf(1) })
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(3)
  })

  test('keeps the order of an issuer: later actions wait for the one that is being handed out', async () => {
    const lab = await openLab(open, 600)
    await lab.send({ actionId: idOf(1) })
    await lab.send({ actionId: idOf(2), circle: undefined, named: ['u599.example' as IdTag] })
    await lab.send({ actionId: idOf(3) })
    expect([await lab.count(2), await lab.count(3)]).toEqual([0, 0])
    await lab.jobs.settle()
    expect([await lab.count(2), await lab.count(3)]).toEqual([1, 600])
    const to = 'https://u599.example/api/inbox'
    const order = await lab.sentTo(to)
    expect(order).toEqual([idOf(1), idOf(2), idOf(3)])
  })

  test('ends when its action is no longer to be sent', async () => {
    const lab = await openLab(open, 1000)
    await lab.send({ actionId: idOf(1) })
    lab.withdrawn.add(idOf(1))
    await lab.send({ actionId: idOf(2), circle: 'ever' })
    await lab.jobs.settle()
    expect([await lab.count(1), await lab.count(2)]).toEqual([100, 1000])
  })

  test('ends after the portion during which its action was deleted, and the deletion reaches all', async () => {
    const lab = await openLab(open, 500)
    await lab.send({ actionId: idOf(1) })
    await lab.continueWith(2, async () => {
      lab.withdrawn.add(idOf(1))
      await lab.send({ actionId: idOf(2), circle: 'ever', isEnding: true })
    })
    await lab.jobs.settle()
    expect([await lab.count(1), await lab.count(2)]).toEqual([300, 500])
    expect((await lab.inboxes(2)).size).toBe(500)
  })

  test('of one tenant waits for one turn of another, however many lanes that one has', async () => {
    const lab = await openLab(open, 250)
    for (let at = 0; at < 5; at += 1) await lab.send({ actionId: idOf(at), countsOf: idOf(at) })
    await lab.db.transact(bob, async (tx) => {
      await addFollowers(tx, 0, 150)
      await queueForSending(lab.deps, tx, { actionId: idOf(9), issuerTag, named: [], circle: 'followers' })
    })
    lab.db.committed.length = 0
    await lab.jobs.settle()
    const lanes = lab.db.committed
      .filter(({ statements }) => statements.some((text) => text.startsWith('select * from "fan_outs"')))
      .map(({ distinct }) => [...distinct].find((value) => /^counts |^alice/.test(String(value))))
    expect(new Set(lanes.slice(0, lanes.indexOf(issuerTag))).size).toBe(1)
  })

  test('waits while its tenant is suspended, and continues afterwards', async () => {
    const lab = await openLab(open, 300)
    lab.suspended.add(alice)
    await lab.send({ actionId: idOf(1) })
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(100)
    lab.suspended.delete(alice)
    clock.advance(600_000)
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(300)
  })

  test('sends only endings while its tenant is suspended', async () => {
    const lab = await openLab(open, 300)
    lab.suspended.add(alice)
    await lab.send({ actionId: idOf(1) })
    await lab.send({ actionId: idOf(2) })
    lab.withdrawn.add(idOf(1))
    await lab.send({ actionId: idOf(3), circle: 'ever', isEnding: true })
    await lab.jobs.settle()
    expect([await lab.count(1), await lab.count(2), await lab.count(3)]).toEqual([100, 0, 300])
    lab.suspended.delete(alice)
    clock.advance(600_000)
    await lab.jobs.settle()
    expect([await lab.count(1), await lab.count(2)]).toEqual([100, 300])
  })

  test('keeps the time before which nothing may be sent, in each of its portions', async () => {
    const lab = await openLab(open, 300)
    const notBefore = Math.floor(clock.now() / 1000) + 60
    await lab.send({ actionId: idOf(1), notBefore })
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(300)
    expect(await lab.times(1)).toEqual(new Set([notBefore * 1000]))
  })

  test('leaves out followers who left since, and reaches new ones once', async () => {
    const lab = await openLab(open, 300)
    await lab.send({ actionId: idOf(1) })
    await lab.db.transact(alice, async (tx) => {
      const tables = tx.tables() as Kysely<unknown>
      await sql`update relations set in_circle = 0 where id_tag = ${'u299.example'}`.execute(tables)
      await addFollowers(tx, 300, 301)
    })
    await lab.jobs.settle()
    const reached = await lab.inboxes(1)
    expect(reached.has('https://u299.example/api/inbox')).toBe(false)
    expect(await lab.count(1)).toBe(reached.size)
  })

  test('of counts keeps one job for each inbox, however often counts are told', async () => {
    const lab = await openLab(open, 1000)
    for (let told = 1; told <= 5; told += 1) {
      await lab.send({ actionId: idOf(told), countsOf: idOf(99) })
      await lab.jobs.settle()
    }
    expect(await lab.rows(deliverCountsJob.name)).toBe(1000)
    expect(await lab.rows(deliverJob.name)).toBe(0)
  })

  test('of counts continues when newer counts have replaced those that it hands out', async () => {
    const lab = await openLab(open, 300)
    await lab.send({ actionId: idOf(1), countsOf: idOf(99) })
    lab.withdrawn.add(idOf(1))
    await lab.jobs.settle()
    expect(await lab.rows(deliverCountsJob.name)).toBe(300)
  })

  test('of counts leaves no jobs for live servers, and one for each dead server, for a day', async () => {
    const lab = await openLab(open, 200)
    lab.jobs.handle(deliverCountsJob, async ({ inboxUrl }) => {
      if (inboxUrl.endsWith('0.example/api/inbox')) throw new Error('down')
    })
    for (let told = 1; told <= 7; told += 1) {
      await lab.send({ actionId: idOf(told), countsOf: idOf(99) })
      await lab.jobs.settle()
      clock.advance(100_000)
      await lab.jobs.settle()
      expect(await lab.rows(deliverCountsJob.name)).toBe(20)
    }
    for (let hours = 0; hours < 26; hours += 1) {
      clock.advance(3_600_000)
      await lab.jobs.settle()
    }
    expect(await lab.rows(deliverCountsJob.name)).toBe(0)
  })
})

eachDialect('what happens during a fan-out', (open) => {
  test('leaves out identities that its tenant has blocked since', async () => {
    const lab = await openLab(open, 400)
    await lab.send({ actionId: idOf(1) })
    const blocked = [150, 250, 399]
    await lab.continueWith(1, () =>
      lab.db.transact(alice, async (tx) => {
        for (const at of blocked) await changeRelation(tx, tagOf(at) as IdTag, { isBlocked: true, at: 2 })
      }),
    )
    await lab.jobs.settle()
    const reached = await lab.inboxes(1)
    expect(blocked.map((at) => reached.has(ownInbox(at)))).toEqual([true, false, false])
    expect(await lab.count(1)).toBe(398)
  })

  test('writes nothing more once its tenant is purged', async () => {
    const lab = await openLab(open, 500)
    await lab.send({ actionId: idOf(1) })
    await lab.continueWith(2, () =>
      lab.db.transact(alice, async (tx) => {
        const tables = tx.tables() as Kysely<unknown>
        await sql`delete from fan_outs where tenant_id = ${alice}`.execute(tables)
        await removeJobs(tx)
      }),
    )
    await lab.jobs.settle()
    expect(await lab.count(1)).toBe(0)
    expect(await lab.rows(fanOutJob.name)).toBe(0)
  })
})

async function openLab(open: OpenTestDatabase, followers: number, inboxOf = ownInbox) {
  const db = recordTransactions(await open({ migrations, clock }))
  const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: 'lab' })
  openedJobs.push(jobs)
  const withdrawn = new Set<ActionId>()
  const suspended = new Set<TenantId>()
  const deps: FanOutDeps = {
    db,
    jobs,
    clock,
    listCircle,
    findLocal: listHosted,
    findInboxes: (tx, idTags) => findFreshInboxes(tx.as(serverTenant), idTags, 0),
    findToken: async (_, actionId) =>
      withdrawn.has(actionId) ? undefined : { token: 'a token', issuerTag, isEnding: false },
    findCountsToken: async (_, countsOf) => ({ actionId: countsOf, token: 'a token' }),
    isSuspended: async (tenantId) => suspended.has(tenantId),
  }
  jobs.handle(fanOutJob, (payload, context) => continueLane(deps, payload, context))
  await db.transact(alice, async (tx) => {
    await addFollowers(tx, 0, followers)
    await addIdentities(tx.as(serverTenant), followers + 1, inboxOf)
  })
  db.committed.length = 0
  let isStarted = false
  const start = async () => {
    if (!isStarted) await jobs.start()
    isStarted = true
  }
  const jobsOf = async (number: number) => {
    const about = { kind: deliverJob.name, subject: idOf(number) }
    const pages = await Promise.all(
      [0, 1000].map((offset) => listJobs(db.reader(alice), { ...about, offset })),
    )
    return pages.flat()
  }
  return {
    db,
    deps,
    withdrawn,
    suspended,
    start,
    jobs: { handle: jobs.handle.bind(jobs), settle: () => start().then(() => jobs.settle()) },
    /** One turn of the job; `act` runs after this many of its portions. */
    async continueWith(portion: number, act: () => unknown) {
      let portions = 0
      const watched: Database = {
        ...db,
        async transact(tenantId, work, options) {
          const result = await db.transact(tenantId, work, options)
          portions += 1
          if (portions === portion) await act()
          return result
        },
      }
      const context = { tenantId: alice, signal: new AbortController().signal }
      await continueLane({ ...deps, db: watched }, { lane: issuerTag }, context)
    },
    send: (outgoing: Partial<Outgoing> & { readonly actionId: ActionId }) =>
      db.transact(alice, (tx) =>
        queueForSending(deps, tx, { issuerTag, named: [], circle: 'followers', ...outgoing }),
      ),
    count: async (number: number) => (await jobsOf(number)).length,
    inboxes: async (number: number) =>
      new Set((await jobsOf(number)).map(({ payload }) => (payload as { inboxUrl: string }).inboxUrl)),
    async times(number: number) {
      const tables = db.reader(alice).tables<{ jobs: { subject: string; run_at_ms: number } }>()
      const rows = await tables
        .selectFrom('jobs')
        .select('run_at_ms')
        .where('subject', '=', idOf(number))
        .execute()
      return new Set(rows.map((row) => row.run_at_ms))
    },
    async sentTo(inboxUrl: string) {
      const tables = db.reader(alice).tables<{ jobs: { job_id: number; subject: string; payload: string } }>()
      const rows = await tables
        .selectFrom('jobs')
        .select(['subject', 'payload'])
        .where('payload', 'like', `%${inboxUrl}%`)
        .orderBy('job_id')
        .execute()
      return rows.map(({ subject }) => subject)
    },
    async rows(kind: string) {
      const tables = db.reader(alice).tables<{ jobs: { kind: string } }>()
      return (await tables.selectFrom('jobs').select('kind').where('kind', '=', kind).execute()).length
    },
  }
}

function idOf(number: number): ActionId {
  return `a1~${String(number).padStart(43, '0')}` as ActionId
}

function ownInbox(at: number): string {
  return `https://u${String(at).padStart(3, '0')}.example/api/inbox`
}

function tagOf(at: number): string {
  return `u${String(at).padStart(3, '0')}.example`
}

async function addFollowers(tx: Writer, from: number, to: number): Promise<void> {
  const tables = tx.tables() as Kysely<unknown>
  for (let at = from; at < to; at += 1)
    await sql`insert into relations (tenant_id, id_tag, updated_at, follower, in_circle, reached)
      values (${tx.tenantId}, ${tagOf(at)}, 1, 1, 1, 1)`.execute(tables)
}

async function addIdentities(tx: Writer, count: number, inboxOf: (at: number) => string): Promise<void> {
  const tables = tx.tables() as Kysely<unknown>
  for (let at = 0; at < count; at += 1)
    await sql`insert into identities (tenant_id, id_tag, server, inbox_url, document, fetched_at, expires_at)
      values (${tx.tenantId}, ${tagOf(at)}, 's', ${inboxOf(at)}, '{}', 1, 1000)`.execute(tables)
}

async function note(tx: Writer): Promise<void> {
  const tables = tx.tables() as Kysely<unknown>
  await sql`update relations set updated_at = updated_at + 1 where id_tag = ${tagOf(0)}`.execute(tables)
}

function writes({ distinct }: RecordedTransaction, kind: string): boolean {
  return distinct.has(kind)
}
