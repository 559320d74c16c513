import { type IdTag, type ProfileStatus, profileStatuses } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { explainStatement, recordReader } from '#harness/recorded-statements.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Reader, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type Circle, countCircle, listCircle, listReceivers } from './circle-store.ts'
import { isLastLeader } from './last-leader.ts'
import {
  connectionState,
  noRelation,
  type Relation,
  rankOf,
  relationshipOf,
  roleOf,
  statusOf,
  withServerStatus,
  withStatus,
} from './relation.ts'
import {
  changeRelation,
  findEffectiveRelation,
  findRelation,
  findsBlocksOrMutes,
  listLeaders,
} from './relation-store.ts'
import { relationsMigrations } from './relations-migrations.ts'

const alice = 1 as TenantId
const carol = 2 as TenantId
const bob = 'bob.example.com' as IdTag
const dora = 'dora.example.com' as IdTag

test.each<[Partial<Relation>, string]>([
  [{}, 'none'],
  [{ isFollower: true }, 'none'],
  [{ isFollowing: true }, 'following'],
  [{ isFollowing: true, connection: 'requested' }, 'pending'],
  [{ connection: 'asked' }, 'pending'],
  [{ isFollowing: true, connection: 'connected' }, 'connected'],
  [{ connection: 'connected', isMuted: true }, 'muted'],
  [{ connection: 'connected', isMuted: true, isBlocked: true }, 'blocked'],
])('%o is called %s', (relation, word) => {
  expect(relationshipOf({ ...noRelation(bob), ...relation })).toBe(word)
})

test.each(profileStatuses)('the status %s keeps its name, and blocks or mutes as it should', (status) => {
  const relation = { ...noRelation(bob), role: 'leader' as const, ...withStatus(status) }
  expect(statusOf(relation)).toBe(status)
  const isOut = status === 'Blocked' || status === 'Suspended' || status === 'Banned'
  expect(roleOf(relation)).toBe(isOut ? 'public' : 'leader')
  expect(relation.isMuted).toBe(isOut ? status !== 'Blocked' : status === 'Muted')
})

test.each<[ProfileStatus, ProfileStatus, ProfileStatus]>([
  ['Active', 'Active', 'Active'],
  ['Trusted', 'Active', 'Trusted'],
  ['Active', 'Trusted', 'Trusted'],
  ['Muted', 'Trusted', 'Muted'],
  ['Muted', 'Blocked', 'Blocked'],
  ['Blocked', 'Muted', 'Blocked'],
  ['Banned', 'Active', 'Banned'],
  ['Suspended', 'Banned', 'Banned'],
  ['Trusted', 'Suspended', 'Suspended'],
])('%s here and %s on the server make %s', (own, server, together) => {
  const relation = { ...noRelation(bob), ...withStatus(own) }
  expect(statusOf(withServerStatus(relation, { ...noRelation(bob), ...withStatus(server) }))).toBe(together)
})

test('the wire does not show who asked for a connection', () => {
  expect(connectionState({ connection: 'asked' })).toBe('pending')
  expect(connectionState({ connection: 'requested' })).toBe('pending')
})

eachDialect('relations', (open) => {
  const start = (openDatabase: OpenTestDatabase['forPlans'] = open) =>
    openDatabase({ migrations: relationsMigrations, clock: new TestClock() })

  test('keep the members that a change does not name', async () => {
    const db = await start()
    expect(await findRelation(db.reader(alice), bob)).toBeUndefined()
    await db.transact(alice, (tx) => changeRelation(tx, bob, { isFollowing: true, at: 10 }))
    await db.transact(alice, (tx) => changeRelation(tx, bob, { role: 'moderator', at: 20 }))
    expect(await findRelation(db.reader(alice), bob)).toEqual({
      ...noRelation(bob),
      isFollowing: true,
      role: 'moderator',
      updatedAt: 20,
    })
  })

  test('belong to one tenant', async () => {
    const db = await start()
    await db.transact(alice, (tx) => changeRelation(tx, bob, { isFollower: true, at: 1 }))
    expect(await findRelation(db.reader(carol), bob)).toBeUndefined()
    expect(await membersOf(db.reader(carol), 'followers')).toEqual([])
  })

  test('give the audience: followers and connections, or connections alone, never the blocked', async () => {
    const db = await start()
    const blocked = 'eve.example.com' as IdTag
    await db.transact(alice, async (tx) => {
      await changeRelation(tx, bob, { isFollower: true, at: 1 })
      await changeRelation(tx, dora, { connection: 'connected', at: 1 })
      await changeRelation(tx, blocked, { isFollower: true, connection: 'connected', isBlocked: true, at: 1 })
      await changeRelation(tx, 'fay.example.com' as IdTag, { isFollowing: true, connection: 'asked', at: 1 })
    })
    expect(await membersOf(db.reader(alice), 'followers')).toEqual([bob, dora])
    expect(await membersOf(db.reader(alice), 'connections')).toEqual([dora])
    await db.transact(alice, (tx) => changeRelation(tx, bob, { isFollower: false, at: 2 }))
    expect(await membersOf(db.reader(alice), 'followers')).toEqual([dora])
    expect(await membersOf(db.reader(alice), 'ever')).toEqual([bob, dora, blocked])
  })

  test('are listed in pages that read a bounded number of rows', async () => {
    const db = await start()
    const tags = Array.from({ length: 10 }, (_, at) => `u${at}.example.com` as IdTag)
    await db.transact(alice, async (tx) => {
      for (const [at, idTag] of tags.entries())
        await changeRelation(tx, idTag, { isFollower: true, at: 1, ...(at === 7 ? connected : {}) })
    })
    const reader = db.reader(alice)
    const page = (circle: Circle, after: string) => listCircle(reader, circle, { after, limit: 4 })
    expect(await page('followers', '')).toEqual({ idTags: tags.slice(0, 4), next: tags[3] })
    expect(await page('followers', 'u7.example.com')).toEqual({ idTags: tags.slice(8) })
    expect(await page('connections', '')).toEqual({ idTags: [], next: tags[3] })
    expect(await page('connections', 'u3.example.com')).toEqual({ idTags: [tags[7]], next: tags[7] })
    expect(await countCircle(reader, 'followers', 100)).toBe(10)
    expect(await countCircle(reader, 'followers', 6)).toBe(6)
    expect(await countCircle(reader, 'connections', 100)).toBe(1)
  })

  test('of strangers are not read for a page of a circle', async () => {
    const db = await start(open.forPlans)
    const statements = new Map<string, readonly unknown[]>()
    const reader = recordReader(db.reader(alice), (text, values) => statements.set(text, values))
    for (const circle of ['followers', 'connections', 'ever'] as const) {
      await listCircle(reader, circle, { after: '', limit: 10 })
      await countCircle(reader, circle, 10)
    }
    await db.transact(alice, async (tx) => {
      await addStrangers(tx)
      for (const [text, values] of statements) {
        const plan = (await explainStatement(tx, text, values)).join()
        expect(plan).toMatch(/relations_(circle|reached)/)
        expect(plan).not.toMatch(/TEMP B-TREE|Sort/)
      }
    })
  })

  test('give the audience of a community by its roles', async () => {
    const db = await start()
    const given: [string, Partial<Relation>][] = [
      ['connected', { connection: 'connected' }],
      ['lowered', { connection: 'connected', role: 'supporter' }],
      ['out', { connection: 'connected', role: 'public' }],
      ['follower', { isFollower: true, role: 'follower' }],
      ['leader', { role: 'leader' }],
      ['barred', { connection: 'connected', role: 'leader', ...withStatus('Suspended') }],
    ]
    await db.transact(alice, async (tx) => {
      for (const [name, relation] of given)
        await changeRelation(tx, `${name}.example.com` as IdTag, { ...relation, at: 1 })
    })
    const names = async (reach: 'followers' | 'connections') =>
      (await membersOf(db.reader(alice), reach)).map((idTag) => idTag.split('.')[0])
    expect(await names('followers')).toEqual(['connected', 'follower', 'leader', 'lowered'])
    expect(await names('connections')).toEqual(['connected', 'leader'])
    expect(await listLeaders(db.reader(alice))).toEqual(['leader.example.com'])
    expect(await isLastLeader(db.reader(alice), 'leader.example.com' as IdTag)).toBe(true)
    expect(await isLastLeader(db.reader(alice), 'barred.example.com' as IdTag)).toBe(false)
  })

  test('are overruled by the server’s decisions', async () => {
    const db = await start()
    await db.transact(serverTenant, async (tx) => {
      await changeRelation(tx, bob, { ...withStatus('Banned'), standingReason: 'Spam', at: 5 })
      await changeRelation(tx.as(alice), bob, { isFollower: true, role: 'moderator', at: 1 })
    })
    expect(await findsBlocksOrMutes(db.reader(carol))).toBe(true)
    const effective = await findEffectiveRelation(db.reader(alice), bob)
    expect(effective).toMatchObject({
      isFollower: true,
      role: 'moderator',
      isBlocked: true,
      standing: 'Banned',
    })
    expect(effective && [statusOf(effective), roleOf(effective), rankOf(effective)]).toEqual([
      'Banned',
      'public',
      'moderator',
    ])
    expect(await findEffectiveRelation(db.reader(carol), bob)).toMatchObject({ isBlocked: true })
    expect(await findRelation(db.reader(alice), bob)).toMatchObject({ isBlocked: false })
    expect(await findEffectiveRelation(db.reader(alice), dora)).toBeUndefined()
    await db.transact(serverTenant, (tx) => changeRelation(tx, bob, { ...withStatus('Active'), at: 6 }))
    expect(await findEffectiveRelation(db.reader(alice), bob)).toMatchObject({
      isBlocked: false,
      standing: undefined,
      standingReason: undefined,
    })
    expect(await findsBlocksOrMutes(db.reader(carol))).toBe(false)
  })

  test('tell which tenants receive from an identity', async () => {
    const db = await start()
    await db.transact(alice, async (tx) => {
      await changeRelation(tx, bob, { isFollowing: true, at: 1 })
      await changeRelation(tx, dora, { isFollower: true, at: 1 })
    })
    await db.transact(carol, (tx) => changeRelation(tx, bob, { connection: 'connected', at: 1 }))
    expect(await listReceivers(db.reader(alice), bob)).toEqual([alice, carol])
    expect(await listReceivers(db.reader(alice), dora)).toEqual([])
    expect(await listReceivers(db.reader(alice), bob, 'connections')).toEqual([carol])
    await db.transact(carol, (tx) => changeRelation(tx, bob, { isBlocked: true, at: 2 }))
    expect(await listReceivers(db.reader(alice), bob)).toEqual([alice])
  })
})

const connected = { connection: 'connected' } as const

async function membersOf(reader: Reader, circle: Circle): Promise<readonly IdTag[]> {
  return (await listCircle(reader, circle, { after: '', limit: 100 })).idTags
}

async function addStrangers(tx: Writer): Promise<void> {
  const tables = tx.tables() as Kysely<unknown>
  const numbers =
    tx.dialect === 'sqlite'
      ? sql`with recursive n(g) as (select 0 union all select g + 1 from n where g < 9999) select g from n`
      : sql`select g from generate_series(0, 9999) as g`
  await sql`insert into relations (tenant_id, id_tag, updated_at, in_circle, reached)
    select ${tx.tenantId}, 's' || g, 1, case when g % 100 = 0 then 1 else 0 end,
      case when g % 100 = 0 then 1 else 0 end from (${numbers}) as numbers`.execute(tables)
  await sql`analyze relations`.execute(tables)
}
