import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { TenantId } from '#infra/db/index.ts'
import {
  changeRelation,
  connectionState,
  findRelation,
  listAudience,
  listReceivers,
  noRelation,
  type Relation,
  relationshipOf,
  relationsMigrations,
  standingMigrations,
} from './index.ts'

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

test('who asked for a connection does not show on the wire', () => {
  expect(connectionState({ connection: 'asked' })).toBe('pending')
  expect(connectionState({ connection: 'requested' })).toBe('pending')
})

eachDialect('relations', (open) => {
  const start = () =>
    open({ migrations: [...relationsMigrations, ...standingMigrations], clock: new TestClock() })

  test('keep what a change does not name', async () => {
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
    expect(await listAudience(db.reader(carol), 'followers')).toEqual([])
  })

  test('make the audience: followers and connections, or connections alone, never the blocked', async () => {
    const db = await start()
    const blocked = 'eve.example.com' as IdTag
    await db.transact(alice, async (tx) => {
      await changeRelation(tx, bob, { isFollower: true, at: 1 })
      await changeRelation(tx, dora, { connection: 'connected', at: 1 })
      await changeRelation(tx, blocked, { isFollower: true, connection: 'connected', isBlocked: true, at: 1 })
      await changeRelation(tx, 'fay.example.com' as IdTag, { isFollowing: true, connection: 'asked', at: 1 })
    })
    expect(await listAudience(db.reader(alice), 'followers')).toEqual([bob, dora])
    expect(await listAudience(db.reader(alice), 'connections')).toEqual([dora])
    await db.transact(alice, (tx) => changeRelation(tx, bob, { isFollower: false, at: 2 }))
    expect(await listAudience(db.reader(alice), 'followers')).toEqual([dora])
    expect(await listAudience(db.reader(alice), 'ever')).toEqual([bob, dora, blocked])
  })

  test('tell which tenants receive an identity', async () => {
    const db = await start()
    await db.transact(alice, async (tx) => {
      await changeRelation(tx, bob, { isFollowing: true, at: 1 })
      await changeRelation(tx, dora, { isFollower: true, at: 1 })
    })
    await db.transact(carol, (tx) => changeRelation(tx, bob, { connection: 'connected', at: 1 }))
    expect(await listReceivers(db.reader(alice), bob)).toEqual([alice, carol])
    expect(await listReceivers(db.reader(alice), dora)).toEqual([])
    await db.transact(carol, (tx) => changeRelation(tx, bob, { isBlocked: true, at: 2 }))
    expect(await listReceivers(db.reader(alice), bob)).toEqual([alice])
  })
})
