import type { ActionId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { type Actor, actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { findStoredAction } from '../action-store.ts'
import { putReads } from '../feed/reader-store.ts'
import { listUnanswered } from './deleted-rows-store.ts'
import { sweepDeletedRows, sweepMemory } from './sweep-memory.ts'

type AnyTables = Record<string, Record<string, unknown>>

const daySecs = 86_400
const keptDays = 180

function list(db: Database, table: string): Promise<Record<string, unknown>[]> {
  return db.reader(serverTenant).tables<AnyTables>().selectFrom(table).selectAll().execute()
}

eachDialect('the sweep of deleted and read actions', (open) => {
  const openLab = actionLab(open)
  const openForPlans = actionLab(open.forPlans)

  async function start(from = openLab) {
    const lab = await from()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    await lab.db.transact(alice.tenant.tenantId, (tx) =>
      changeRelation(tx, bob.idTag, { isFollowing: true, at: 1 }),
    )
    const now = () => Math.floor(lab.clock.now() / 1000)
    const take = async (members: Record<string, unknown>) =>
      lab.receive(alice.tenant, await lab.forge(bob, { type: 'POST', content: { text: 'a' }, ...members }))
    const idsOf = async ({ tenant }: Actor) =>
      (await list(lab.db, 'actions')).flatMap((row) =>
        row.tenant_id === tenant.tenantId ? [String(row.action_id)] : [],
      )
    await lab.settle()
    return { ...lab, alice, bob, now, take, idsOf }
  }

  test('removes a deleted action entirely in the end, and its token is refused', async () => {
    const lab = await start()
    const { alice, bob, idsOf } = lab
    const content = { text: 'Hello #there' }
    const token = await lab.forge(bob, { type: 'POST', content, visibility: 'P', audienceTag: alice.idTag })
    expect(await lab.receive(alice.tenant, token)).toEqual({ kind: 'stored' })
    const [held] = await idsOf(alice)
    const end = await lab.forge(bob, {
      type: 'POST',
      subType: 'DEL',
      subject: held,
      audienceTag: alice.idTag,
    })
    await lab.receive(alice.tenant, end)
    for (const days of [1, keptDays - 2]) {
      lab.tick(days * daySecs)
      await lab.settle()
      expect(await lab.receive(alice.tenant, token)).toEqual({ kind: 'known' })
      expect(await idsOf(alice)).toHaveLength(2)
    }
    // From now on its token is too old. A month later no list shows that it was deleted.
    lab.tick(2 * daySecs)
    await lab.settle()
    expect(await idsOf(alice)).toHaveLength(2)
    lab.tick(30 * daySecs + 3600)
    await lab.settle()
    expect(await idsOf(alice)).toEqual([])
    for (const table of ['action_recipients', 'action_tags', 'action_attachments'])
      expect(await list(lab.db, table)).toEqual([])
    const old = { kind: 'refused', failure: expect.objectContaining({ code: 'E-VALIDATION' }) }
    for (const replayed of [token, end]) expect(await lab.receive(alice.tenant, replayed)).toEqual(old)
    expect(await idsOf(alice)).toEqual([])
  })

  test('accepts a new action of less than 180 days', async () => {
    const { now, take } = await start()
    expect(await take({ iat: now() - keptDays * daySecs })).toMatchObject({ kind: 'refused' })
    expect(await take({ iat: now() - keptDays * daySecs + 1 })).toEqual({ kind: 'stored' })
  })

  test('keeps what a shown action refers to, and removes many rows in portions', async () => {
    const lab = await start()
    const { alice, bob, idsOf } = lab
    const post = { type: 'POST' as const, visibility: 'P' as const, content: { text: 'a' } }
    const root = await alice.create(post)
    const comment = await lab.forge(bob, {
      type: 'CMNT',
      parentId: root.actionId,
      content: { text: 'b' },
      audienceTag: alice.idTag,
    })
    expect(await lab.receive(alice.tenant, comment)).toEqual({ kind: 'stored' })
    await alice.remove(root.actionId)
    for (let index = 0; index < 60; index += 1) await alice.remove((await alice.create(post)).actionId)
    for (const days of [keptDays, 31, 31]) {
      lab.tick(days * daySecs)
      await lab.settle()
    }
    const left = await idsOf(alice)
    expect(left).toHaveLength(2)
    expect(left).toContain(root.actionId)
    expect(await findStoredAction(alice.reader, root.actionId as ActionId)).toMatchObject({ status: 'D' })
  })

  test('ends a request that nobody answered for 90 days, with what it began', async () => {
    const lab = await start()
    const { alice, makeTenant } = lab
    const eve = await makeTenant('eve.example.com')
    await eve.create({ type: 'CONN', audienceTag: alice.idTag })
    await eve.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    lab.tick(90 * daySecs - 60)
    await lab.settle()
    expect(await alice.list({ status: ['C'] })).toHaveLength(1)
    lab.tick(3600)
    await lab.settle()
    expect(await alice.list({ status: ['C'] })).toEqual([])
    expect(await findRelation(alice.reader, eve.idTag)).toMatchObject({
      connection: 'disconnected',
      isFollower: true,
    })
  })

  const comments = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ commentId: `c${index}`, parentId: 'p' }))

  async function readBy(db: Database, { tenant }: Actor, readerTag: string, day: number, count: number) {
    const read = comments(count)
    await db.transact(tenant.tenantId, async (tx) => {
      for (const { commentId, parentId } of read)
        await tx
          .tables<AnyTables>()
          .insertInto('actions')
          .values({
            tenant_id: tenant.tenantId,
            action_id: commentId,
            type: 'CMNT',
            issuer_tag: 'x',
            status: 'A',
            created_at: 1,
            issued_at: 1,
            parent_id: parentId,
          })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      await putReads(tx, { readerTag: readerTag as IdTag, day }, read)
    })
  }
  const counts = async (db: Database) =>
    Object.fromEntries((await list(db, 'action_reads')).map((row) => [row.reader_tag, row.comments]))

  test('forgets after 180 days who has read a comment', async () => {
    const { db, alice, now } = await start()
    const today = Math.floor(now() / daySecs)
    await readBy(db, alice, 'old', today - keptDays, 120)
    await readBy(db, alice, 'both', today - keptDays, 2)
    await readBy(db, alice, 'both', today - keptDays + 1, 5)
    await sweepMemory(db, { now: now() })
    expect(await counts(db)).toEqual({ both: 3 })
    expect(await list(db, 'comment_reads')).toHaveLength(3)
  })

  test('forgets the oldest reads when there are too many', async () => {
    const { db, alice, now } = await start()
    const today = Math.floor(now() / daySecs)
    await readBy(db, alice, 'before', today - 2, 100)
    await readBy(db, alice, 'today', today, 5)
    await sweepMemory(db, { now: now(), maxRows: 25 })
    // One sweep removes at most as many as may remain.
    expect(await counts(db)).toEqual({ before: 75, today: 5 })
    for (let times = 0; times < 3; times += 1) await sweepMemory(db, { now: now(), maxRows: 25 })
    expect(await list(db, 'comment_reads')).toHaveLength(25)
  })

  test('finds its rows by indexes alone', async () => {
    const { db, now } = await start(openForPlans)
    const steps = await planStatements(db, async (recorded) => {
      await sweepMemory(recorded, { now: now() })
      await sweepDeletedRows(recorded, now())
      await listUnanswered(recorded.reader(serverTenant), { upTo: now(), limit: 100 })
    })
    expect(steps.filter((step) => /Seq Scan|^SCAN (?!some|.*INDEX)|TEMP B-TREE|Sort/.test(step))).toEqual([])
    const used = steps.flatMap((step) => step.match(/(?<=INDEX |using |Index Scan on )\w+/g) ?? [])
    // An action by its id may be found by other indexes as well: to the planner those of an empty table are alike.
    for (const name of [
      'comment_reads_age',
      'idempotency_keys_age',
      'action_views_day',
      'stranger_rows_day',
      'actions_remains',
      'actions_by_parent',
      'actions_by_root',
      'actions_by_subject',
      'actions_requests',
    ])
      expect(used).toContain(name)
  })
})
