import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { tenantViewer } from '#features/relations/index.ts'
import { tenantsMigrations } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'
import {
  actionsMigrations,
  listIndexMigrations,
  pageMigrations,
  searchIndexMigrations,
  tagTimesMigrations,
  visitorListMigrations,
} from '../actions-migrations.ts'
import { searchQuery } from './search-query-store.ts'

const tenantId = 1 as TenantId
const after = [...listIndexMigrations, ...searchIndexMigrations, ...pageMigrations, ...visitorListMigrations]
const before = [...tenantsMigrations, ...actionsMigrations, ...tagTimesMigrations]

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

  test('of visitors take in what was stored before: who is shown its tags and audience', async () => {
    const old = await open({ migrations: [...before, ...after.slice(0, -visitorListMigrations.length)] })
    const rows = [
      { action_id: 'public', visibility: 'P', feed_only: 0 },
      { action_id: 'followers', visibility: 'F', feed_only: 0 },
      { action_id: 'hidden', visibility: 'P', feed_only: 1 },
    ]
    await old.transact(tenantId, async (tx) => {
      const tables = tx.tables<Record<'actions' | 'action_tags' | 'action_recipients', object>>()
      const member = { type: 'POST', issuer_tag: 'bob.example.com', status: 'A', created_at: 7, issued_at: 7 }
      for (const row of rows) {
        const of = { tenant_id: tenantId, action_id: row.action_id, created_at: 7 }
        await tables
          .insertInto('actions')
          .values({ ...member, ...of, ...row })
          .execute()
        await tables
          .insertInto('action_tags')
          .values({ ...of, tag: 'one' })
          .execute()
        await tables
          .insertInto('action_recipients')
          .values({ ...of, id_tag: 'carol.example.com' })
          .execute()
      }
    })
    const db = await open.again(old, { migrations: [...before, ...after] })
    const tables = db.reader(tenantId).tables<ActionTables>()
    const tags = tables.selectFrom('action_tags').select(['action_id', 'feed_only', 'is_public'])
    expect(await tags.orderBy('action_id').execute()).toEqual([
      { action_id: 'followers', feed_only: 0, is_public: 0 },
      { action_id: 'hidden', feed_only: 1, is_public: 0 },
      { action_id: 'public', feed_only: 0, is_public: 1 },
    ])
    const recipients = tables.selectFrom('action_recipients').select(['action_id', 'feed_only'])
    expect(await recipients.where('feed_only', '=', 1).execute()).toEqual([
      { action_id: 'hidden', feed_only: 1 },
    ])
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
    const db = await open.again(old, { migrations: [...before, ...after] })
    const reader = db.reader(tenantId)
    const query =
      searchQuery(reader, {
        ...{ search: 'word', filter: {} },
        viewer: tenantViewer({ tenantId, idTag: 'alice.example.com' as IdTag, type: 'person' } as Tenant),
      }) ?? ''
    const condition =
      db.dialect === 'sqlite'
        ? sql<boolean>`action_texts match ${query}`
        : sql<boolean>`body @@ cast(${query} as tsquery)`
    const found = reader.tables<{ action_texts: object }>().selectFrom('action_texts').where(condition)
    expect(await found.select(sql`1`.as('one')).execute()).toHaveLength(1)
  })
})
