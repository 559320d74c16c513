import type { Reader } from './database.ts'
import { catalogueColumns, catalogueReferences } from './dialect.ts'
import { type MigrationTables, migrationTable } from './migrator.ts'

interface ColumnShape {
  readonly name: string
  /** `other`: a kind of one dialect alone, which rows cannot take elsewhere. */
  readonly kind: 'integer' | 'real' | 'text' | 'blob' | 'other'
  /** Numbered by the database. */
  readonly isGenerated: boolean
}

/** A table as the database describes it. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly ColumnShape[]
  readonly primaryKey: readonly string[]
}

type Column = ColumnShape & { readonly table: string; readonly keyPosition: number }

const kinds: Readonly<Record<string, ColumnShape['kind']>> = {
  integer: 'integer',
  bigint: 'integer',
  real: 'real',
  'double precision': 'real',
  text: 'text',
  blob: 'blob',
  bytea: 'blob',
}

/** The tables with rows of tenants, in an order in which rows can be inserted: what a row refers to comes before it. */
export async function listTenantTables(reader: Reader): Promise<TableShape[]> {
  const columns = await listColumns(reader)
  const names = [...new Set(columns.filter(({ name }) => name === 'tenant_id').map(({ table }) => table))]
  const references = await reader
    .tables<Record<never, never>>()
    .selectFrom(catalogueReferences(reader.dialect).as('link'))
    .select(['link.table_name', 'link.referenced'])
    .execute()
  const seen = new Set<string>()
  const sorted: string[] = []
  const place = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const { table_name, referenced } of references)
      if (table_name === name && referenced !== name) place(referenced)
    sorted.push(name)
  }
  for (const name of names.sort()) place(name)
  return sorted.filter((name) => names.includes(name)).map((name) => shapeOf(name, columns))
}

/** The names of all tables, sorted. */
export async function listTableNames(reader: Reader): Promise<string[]> {
  return [...new Set((await listColumns(reader)).map(({ table }) => table))].sort()
}

async function listColumns(reader: Reader): Promise<Column[]> {
  const rows = await reader
    .tables<Record<never, never>>()
    .selectFrom(catalogueColumns(reader.dialect).as('catalogue'))
    .selectAll()
    .orderBy('catalogue.table_name')
    .orderBy('catalogue.position')
    .execute()
  return rows.map((row) => ({
    table: row.table_name,
    name: row.column_name,
    kind: kinds[row.column_type] ?? 'other',
    isGenerated: Boolean(row.is_generated),
    keyPosition: Number(row.key_position),
  }))
}

function shapeOf(table: string, all: readonly Column[]): TableShape {
  const columns = all.filter((column) => column.table === table)
  const key = columns.filter(({ keyPosition }) => keyPosition > 0)
  return {
    name: table,
    columns: columns.map(({ name, kind, isGenerated }) => ({ name, kind, isGenerated })),
    primaryKey: key.sort((a, b) => a.keyPosition - b.keyPosition).map(({ name }) => name),
  }
}

/** The migrations that the database has seen, in order; none when it is empty. */
export async function listAppliedMigrations(reader: Reader): Promise<string[]> {
  const columns = await listColumns(reader)
  if (!columns.some(({ table }) => table === migrationTable)) return []
  const rows = await reader
    .tables<MigrationTables>()
    .selectFrom(migrationTable)
    .select('id')
    .orderBy('position')
    .execute()
  return rows.map(({ id }) => id)
}
