import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { ActionTables } from './action-tables.ts'
import { actionsMigrations, listIndexMigrations, tagTimesMigrations } from './actions-migrations.ts'

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
})
