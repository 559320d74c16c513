import type { Migration, Reader, TenantId, Writer } from '#infra/db/index.ts'

interface BacklogTables {
  search_backlog: { tenant_id: TenantId; after_seq: number }
}

/** Words and tags are compared by another form from now on: which tenants' actions are still indexed by the former one,
 * and up to which action that has been mended. */
export const searchBacklogMigrations: readonly Migration[] = [
  {
    id: '0062_search_backlog',
    async up(schema) {
      await schema.createTable(
        'search_backlog',
        { tenant_id: 'integer', after_seq: 'integer default 0' },
        { primaryKey: ['tenant_id'] },
      )
      const fill = 'insert into search_backlog (tenant_id) select distinct tenant_id from actions'
      await schema.run({ sqlite: fill, postgres: fill })
    },
  },
]

/** NOTE: over all tenants: one whose actions are to be indexed again, and after which of them. */
export async function findBacklog(
  reader: Reader,
): Promise<{ readonly tenantId: TenantId; readonly after: number } | undefined> {
  const row = await reader
    .tables<BacklogTables>()
    .selectFrom('search_backlog')
    .selectAll()
    .orderBy('tenant_id')
    .limit(1)
    .executeTakeFirst()
  return row && { tenantId: row.tenant_id, after: Number(row.after_seq) }
}

/** Notes up to which action of the tenant the index has been mended; undefined: all of them. */
export async function noteIndexed(tx: Writer, after: number | undefined): Promise<void> {
  const tables = tx.tables<BacklogTables>()
  const { tenantId } = tx
  if (after === undefined)
    await tables.deleteFrom('search_backlog').where('tenant_id', '=', tenantId).execute()
  else
    await tables
      .updateTable('search_backlog')
      .set({ after_seq: after })
      .where('tenant_id', '=', tenantId)
      .execute()
}
