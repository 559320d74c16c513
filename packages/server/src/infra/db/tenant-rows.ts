import { sql } from 'kysely'
import type { TableShape } from './catalogue.ts'
import type { Reader, Writer } from './database.ts'
import type { TenantRow } from './tenant-row.ts'

// For moving or removing a whole tenant. The names of tables and columns come from the database's own catalogue.

type Value = TenantRow[string]
type Tables = Record<string, Record<string, Value>>

interface TenantRowsPage {
  readonly limit: number
  /** The last row of the page before. */
  readonly after?: TenantRow
  /** Only rows with these values. */
  readonly only?: Readonly<Record<string, string>>
  /** Only rows that meet this condition of the program's own, in portable SQL. */
  readonly where?: string
}

// Half of what SQLite binds in one statement.
const maxBoundValues = 16_000

/** The reader's rows of a table, in the order of its primary key. */
export async function listTenantRows(
  reader: Reader,
  table: TableShape,
  { limit, after, only = {}, where }: TenantRowsPage,
): Promise<TenantRow[]> {
  const key = keyOf(table)
  let query = reader
    .tables<Tables>()
    .selectFrom(table.name)
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .limit(limit)
  for (const column of key) query = query.orderBy(column)
  for (const [column, value] of Object.entries(only)) query = query.where(column, '=', value)
  if (where !== undefined) query = query.where(sql.raw<boolean>(where))
  if (after) {
    const values = key.map((column) => sql`${after[column] ?? null}`)
    query = query.where(sql<boolean>`(${columnsOf(key)}) > (${sql.join(values)})`)
  }
  const rows = await query.execute()
  return rows.map(({ tenant_id: _number, ...row }) => row)
}

/** Inserts rows for the tenant of `tx`; columns that the database numbers get new numbers, in the order of the rows. */
export async function insertTenantRows(
  tx: Writer,
  table: TableShape,
  rows: readonly TenantRow[],
): Promise<void> {
  const generated = table.columns.filter(({ isGenerated }) => isGenerated).map(({ name }) => name)
  const rowsAtOnce = Math.max(1, Math.floor(maxBoundValues / table.columns.length))
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const values = rows.slice(from, from + rowsAtOnce).map((row) => {
      const kept = Object.entries(row).filter(([name]) => !generated.includes(name))
      return { ...Object.fromEntries(kept), tenant_id: tx.tenantId }
    })
    await tx.tables<Tables>().insertInto(table.name).values(values).execute()
  }
}

/** Deletes rows of the tenant of `tx`, `limit` at most; answers how many. */
export async function deleteTenantRows(tx: Writer, table: TableShape, limit: number): Promise<number> {
  const key = columnsOf(table.primaryKey)
  const tables = tx.tables<Tables>()
  const some = sql`(select ${key} from ${sql.table(table.name)} where tenant_id = ${tx.tenantId} limit ${limit})`
  const { numDeletedRows } = await tables
    .deleteFrom(table.name)
    .where('tenant_id', '=', tx.tenantId)
    .where(sql<boolean>`(${key}) in ${some}`)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** What tells the rows of one tenant apart. */
function keyOf({ primaryKey }: TableShape): readonly string[] {
  const own = primaryKey.filter((column) => column !== 'tenant_id')
  return own.length > 0 ? own : primaryKey
}

function columnsOf(names: readonly string[]) {
  return sql.join(names.map((name) => sql.ref(name)))
}

/** Rows by what stands in their columns. */
export type RowMatch = Readonly<Record<string, string | number>>

/** Deletes the rows of the tenant of `tx` in which these values stand. */
export async function deleteRowsWith(tx: Writer, table: string, match: RowMatch): Promise<void> {
  let query = tx.tables<Tables>().deleteFrom(table).where('tenant_id', '=', tx.tenantId)
  for (const [column, value] of Object.entries(match)) query = query.where(column, '=', value)
  await query.execute()
}

/** Writes values into the rows of the tenant of `tx` in which others stand. */
export async function changeRowsWith(
  tx: Writer,
  table: string,
  { match, set }: { readonly match: RowMatch; readonly set: Readonly<Record<string, string | null>> },
): Promise<void> {
  let query = tx.tables<Tables>().updateTable(table).set(set).where('tenant_id', '=', tx.tenantId)
  for (const [column, value] of Object.entries(match)) query = query.where(column, '=', value)
  await query.execute()
}
