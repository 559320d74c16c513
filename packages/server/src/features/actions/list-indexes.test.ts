import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { ActionTables } from './action-tables.ts'
import {
  actionsMigrations,
  listIndexMigrations,
  searchIndexMigrations,
  tagTimesMigrations,
} from './actions-migrations.ts'
import { searchQuery } from './search-query-store.ts'

const tenantId = 1 as TenantId
const before = [...actionsMigrations, ...tagTimesMigrations]

eachDialect('the indexes of lists', (open) => {
  test('take in what was stored before: its time, and each recipient once', async () => {
    const old = await open({ migrations: before })
    await old.transact(tenantId, async (tx) => {
      const tables = tx.tables<{ actions: object; action_recipients: object }>()
      await tables
        .insertInto('actions')
        .values({
          tenant_id: tenantId,
          action_id: 'a',
          type: 'MSG',
          issuer_tag: 'alice.example.com',
          audience_tag: 'bob.example.com',
          status: 'A',
          created_at: 7,
          issued_at: 7,
        })
        .execute()
      for (const id_tag of ['bob.example.com', 'carol.example.com'])
        await tables
          .insertInto('action_recipients')
          .values({ tenant_id: tenantId, action_id: 'a', id_tag })
          .execute()
    })
    const db = await open.again(old, { migrations: [...before, ...listIndexMigrations] })
    const rows = await db
      .reader(tenantId)
      .tables<ActionTables>()
      .selectFrom('action_recipients')
      .select(['id_tag', 'created_at'])
      .execute()
    expect(rows).toEqual([{ id_tag: 'carol.example.com', created_at: 7 }])
  })

  test('of words take in what was stored before, but not what is deleted', async () => {
    const old = await open({ migrations: before })
    await old.transact(tenantId, async (tx) => {
      const tables = tx.tables<{ actions: object }>()
      const text = JSON.stringify({ text: 'some words' })
      for (const [action_id, status, content] of [
        ['a', 'A', text],
        ['b', 'D', text],
        ['c', 'A', null],
      ] as const)
        await tables
          .insertInto('actions')
          .values({
            tenant_id: tenantId,
            action_id,
            type: 'POST',
            issuer_tag: 'alice.example.com',
            status,
            content,
            created_at: 7,
            issued_at: 7,
          })
          .execute()
    })
    const db = await open.again(old, { migrations: [...before, ...searchIndexMigrations] })
    const reader = db.reader(tenantId)
    const query = searchQuery(reader, { search: 'word', filter: {}, isGuest: false }) ?? ''
    const condition =
      db.dialect === 'sqlite'
        ? sql<boolean>`action_texts match ${query}`
        : sql<boolean>`body @@ cast(${query} as tsquery)`
    const found = reader.tables<{ action_texts: object }>().selectFrom('action_texts').where(condition)
    expect(await found.select(sql`1`.as('one')).execute()).toHaveLength(1)
  })
})
