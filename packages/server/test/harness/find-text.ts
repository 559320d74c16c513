import { type Database, listTableNames, type TenantId } from '#infra/db/index.ts'

type AnyTables = Record<string, Record<string, unknown>>

/** Where these words stand in the rows of a tenant: every table and column of them all, also inside tokens and bytes. Of
 * tables without tenants all rows are looked at. */
export async function findText(db: Database, tenantId: TenantId, words: string): Promise<string[]> {
  const reader = db.reader(tenantId)
  const tables = reader.tables<AnyTables>()
  const found: string[] = []
  for (const table of await listEveryTable(db, tenantId)) {
    const rows = await tables.selectFrom(table).selectAll().execute()
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if ((row.tenant_id ?? tenantId) === tenantId && says(value, words)) found.push(`${table}.${column}`)
  }
  return [...new Set(found)]
}

/** On SQLite with those in which its search index keeps the words. */
async function listEveryTable(db: Database, tenantId: TenantId): Promise<string[]> {
  const reader = db.reader(tenantId)
  const names = await listTableNames(reader)
  if (reader.dialect === 'postgres') return names
  const schema = reader.tables<{ sqlite_schema: { name: string; type: string } }>()
  const rows = await schema.selectFrom('sqlite_schema').select('name').where('type', '=', 'table').execute()
  return [...new Set([...names, ...rows.map(({ name }) => name)])]
}

const encoded = /[A-Za-z0-9+/_-]{16,}/g

/** Whether these words stand in a value, also as part of a token or in another text that is encoded as one. */
export function says(value: unknown, words: string): boolean {
  if (value instanceof Uint8Array) return says(Buffer.from(value).toString('latin1'), words)
  if (typeof value !== 'string') return false
  if (value.includes(words)) return true
  return (value.match(encoded) ?? []).some((part) =>
    Buffer.from(part, 'base64url').toString('latin1').includes(words),
  )
}
