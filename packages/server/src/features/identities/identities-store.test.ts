import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { newPublicKey } from '#harness/remote-servers.ts'
import { TestClock } from '#harness/test-clock.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { identitiesMigrations } from './identities-migrations.ts'
import {
  findFreshInboxes,
  findStoredIdentity,
  pruneIdentities,
  putIdentity,
  type StoredIdentity,
} from './identities-store.ts'
import { withKeys } from './identity-key.ts'

const publicKey = newPublicKey()

function stored(idTag: string, expiresAt: number): StoredIdentity {
  const serverUrl = `https://${idTag}`
  return {
    identity: withKeys({
      idTag: idTag as IdTag,
      serverUrl,
      inboxUrl: `${serverUrl}/api/inbox`,
      keys: [{ kid: 'k1', publicKey, expiresAt: 5 }],
      name: 'A name',
      type: 'community',
    }),
    server: serverUrl,
    etag: undefined,
    fetchedAt: expiresAt - 100,
    expiresAt,
  }
}

eachDialect('the identities store', (open) => {
  test('gives back what was put last', async () => {
    const db = await open({ migrations: identitiesMigrations, clock: new TestClock() })
    const first = stored('a.example', 100)
    const second = { ...stored('a.example', 200), etag: 'W/"2"' }
    await db.transact(serverTenant, (tx) => putIdentity(tx, first))
    await db.transact(serverTenant, (tx) => putIdentity(tx, second))
    expect(await findStoredIdentity(db.reader(serverTenant), 'a.example' as IdTag)).toEqual(second)
  })

  test('gives nothing to a tenant', async () => {
    const db = await open({ migrations: identitiesMigrations, clock: new TestClock() })
    await db.transact(serverTenant, (tx) => putIdentity(tx, stored('a.example', 100)))
    const tenant = db.reader(7 as TenantId)
    expect(await findStoredIdentity(tenant, 'a.example' as IdTag)).toBeUndefined()
    expect((await findFreshInboxes(tenant, ['a.example' as IdTag], 0)).size).toBe(0)
  })

  test('keeps no more rows than allowed, the freshest', async () => {
    const db = await open({ migrations: identitiesMigrations, clock: new TestClock() })
    const idTags = Array.from({ length: 10 }, (_, at) => `u${at}.example` as IdTag)
    await db.transact(serverTenant, async (tx) => {
      for (const [at, idTag] of idTags.entries()) await putIdentity(tx, stored(idTag, 100 + at))
    })
    const prune = (expiredBefore: number, maxRows: number) =>
      db.transact(serverTenant, (tx) => pruneIdentities(tx, { expiredBefore, maxRows }))
    expect(await prune(102, 10)).toBe(3)
    expect(await prune(0, 4)).toBe(3)
    const left = await findFreshInboxes(db.reader(serverTenant), idTags, 0)
    expect([...left.keys()].sort()).toEqual(['u6.example', 'u7.example', 'u8.example', 'u9.example'])
  })
})
