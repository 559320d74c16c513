import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import type { TenantId } from '#infra/db/index.ts'
import { federationMigrations } from '../federation-migrations.ts'
import { deleteOverdue, deleteWaiting, insertWaiting, isWaiting, sumWaiting } from './waiting-token-store.ts'

eachDialect('tokens that wait', (open) => {
  const [one, two] = [1 as TenantId, 2 as TenantId]

  test('are counted, found and forgotten for each tenant alone', async () => {
    const db = await open({ migrations: federationMigrations })
    const whose = { domain: 'one.example', sender: '203.0.113.9' }
    const sums = (tenantId: TenantId) => sumWaiting(db.reader(tenantId), whose)
    const hashes = ['a', 'b', 'c', 'd']
    const kept = async (tenantId: TenantId) => {
      const found = await Promise.all(hashes.map((hash) => isWaiting(db.reader(tenantId), hash)))
      return hashes.filter((_, at) => found[at]).join('')
    }
    const nothing = { tokens: 0, bytes: 0 }
    expect(await sums(one)).toEqual({ all: nothing, ofDomain: nothing, ofSender: nothing })
    for (const [tenantId, bytes] of [
      [one, 1],
      [two, 1000],
    ] as const)
      await db.transact(tenantId, async (tx) => {
        const token = { ...whose, bytes, receivedAt: 10 }
        await insertWaiting(tx, { ...token, tokenHash: 'a' })
        await insertWaiting(tx, { ...token, tokenHash: 'b', domain: 'two.example', receivedAt: 9 })
        await insertWaiting(tx, { ...token, tokenHash: 'c', sender: '203.0.113.8' })
      })
    await db.transact(two, (tx) =>
      insertWaiting(tx, { ...whose, tokenHash: 'd', bytes: 1000, receivedAt: 9 }),
    )
    expect(await sums(one)).toEqual({
      all: { tokens: 3, bytes: 3 },
      ofDomain: { tokens: 2, bytes: 2 },
      ofSender: { tokens: 2, bytes: 2 },
    })
    expect([await kept(one), await kept(two)]).toEqual(['abc', 'abcd'])
    await db.transact(one, (tx) => deleteOverdue(tx, 10))
    expect([await kept(one), await kept(two)]).toEqual(['ac', 'abcd'])
    await db.transact(one, (tx) => deleteWaiting(tx, 'a'))
    expect([await kept(one), await kept(two)]).toEqual(['c', 'abcd'])
  })
})
