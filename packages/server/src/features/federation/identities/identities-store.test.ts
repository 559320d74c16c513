import type { IdTag } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { explainStatement, recordReader } from '#harness/recorded-statements.ts'
import { newPublicKey } from '#harness/remote-servers.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { federationMigrations } from '../federation-migrations.ts'
import {
  deleteExpired,
  findFreshInboxes,
  findStoredIdentity,
  findSurplusExpiry,
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
  test('returns what was put last', async () => {
    const db = await open({ migrations: federationMigrations, clock: new TestClock() })
    const first = stored('a.example', 100)
    const second = { ...stored('a.example', 200), etag: 'W/"2"' }
    await db.transact(serverTenant, (tx) => putIdentity(tx, first))
    await db.transact(serverTenant, (tx) => putIdentity(tx, second))
    expect(await findStoredIdentity(db.reader(serverTenant), 'a.example' as IdTag)).toEqual(second)
  })

  test('returns nothing to a tenant', async () => {
    const db = await open({ migrations: federationMigrations, clock: new TestClock() })
    await db.transact(serverTenant, (tx) => putIdentity(tx, stored('a.example', 100)))
    const tenant = db.reader(7 as TenantId)
    expect(await findStoredIdentity(tenant, 'a.example' as IdTag)).toBeUndefined()
    expect((await findFreshInboxes(tenant, ['a.example' as IdTag], 0)).size).toBe(0)
  })

  test('keeps no more rows than allowed, the freshest', async () => {
    const db = await open({ migrations: federationMigrations, clock: new TestClock() })
    const reader = db.reader(serverTenant)
    const idTags = Array.from({ length: 10 }, (_, at) => `u${at}.example` as IdTag)
    await db.transact(serverTenant, async (tx) => {
      for (const [at, idTag] of idTags.entries()) await putIdentity(tx, stored(idTag, 100 + at))
    })
    const sweep = (expiredBefore: number, limit: number) =>
      db.transact(serverTenant, (tx) => deleteExpired(tx, { expiredBefore, limit }))
    expect(await findSurplusExpiry(reader, 10)).toBeUndefined()
    expect(await sweep(102, 2)).toBe(2)
    expect(await sweep(102, 2)).toBe(1)
    expect(await findSurplusExpiry(reader, 4)).toBe(105)
    expect(await sweep(105, 100)).toBe(3)
    const left = await findFreshInboxes(reader, idTags, 0)
    expect([...left.keys()].sort()).toEqual(['u6.example', 'u7.example', 'u8.example', 'u9.example'])
    expect((await findFreshInboxes(reader, idTags, 107)).size).toBe(2)
  })

  test('looks inboxes up by name, however many others are fresh', async () => {
    const db = await open.forPlans({ migrations: federationMigrations, clock: new TestClock() })
    await fill(db)
    const statements = new Map<string, readonly unknown[]>()
    const reader = recordReader(db.reader(serverTenant), (text, values) => statements.set(text, values))
    for (const count of [2, 3, 1000]) {
      const wanted = Array.from({ length: count }, (_, at) => `u${at}.example` as IdTag)
      expect((await findFreshInboxes(reader, wanted, 5)).size).toBe(count)
    }
    for (const [text, values] of statements) {
      const plan = (await db.transact(serverTenant, (tx) => explainStatement(tx, text, values))).join()
      expect(plan).not.toMatch(/identities_expiry/)
      expect(plan).toMatch(
        db.dialect === 'sqlite'
          ? /SEARCH identities .*\(tenant_id=\? AND id_tag=\?\)/
          : /Index Cond: \(\(tenant_id = .*\) AND \(id_tag = /,
      )
    }
  })
})

/** Many fresh rows, without statistics on SQLite, as when nobody has run `analyze`. */
async function fill(db: Database): Promise<void> {
  await db.transact(serverTenant, async (tx) => {
    const tables = tx.tables() as Kysely<unknown>
    const numbers =
      db.dialect === 'sqlite'
        ? sql`with recursive n(g) as (select 0 union all select g + 1 from n where g < 19999) select g from n`
        : sql`select g from generate_series(0, 19999) as g`
    await sql`insert into identities (tenant_id, id_tag, server, inbox_url, document, fetched_at, expires_at)
      select 0, 'u' || g || '.example', 's', 'i', '{}', 0, 100 + g from (${numbers}) as numbers`.execute(
      tables,
    )
    if (db.dialect === 'postgres') await sql`analyze`.execute(tables)
  })
}
