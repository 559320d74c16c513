import { type SqlBool, sql } from 'kysely'
import type { Prepared, Writer } from './database.ts'
import { statement } from './statement.ts'

// For sweeps, which go over all tenants. The names of tables and columns are the program's own.

/** Which rows of a table have expired, and how a sweep finds them without reading the others. */
interface AgedRows {
  readonly table: string
  /** The columns of the primary key, or of another unique key. */
  readonly key: readonly string[]
  /** The column with the time; an index on it alone, or after those that `where` fixes, leads to the rows. */
  readonly time: string
  /** A condition in portable SQL, word for word as in a partial index, or on columns that stand first in the index. */
  readonly where?: string
}

/** A part of a sweep: what is due up to a time, `limit` rows at most. */
interface AgedPortion {
  /** In the unit of the column. */
  readonly upTo: number
  readonly limit: number
}

type Tables = Record<string, Record<string, unknown>>

/** Prepares the deletion of a portion, the oldest first. It answers how many rows went. */
export function deletionOf(rows: AgedRows): (tx: Writer, portion: AgedPortion) => Promise<number> {
  const prepared = deletionStatement(rows)
  return (tx, { upTo, limit }) => tx.change(prepared, { upTo, limit })
}

// NOTE: on PostgreSQL by `ctid`, so that no plan reads other rows, whatever its statistics say.
function deletionStatement({ table, key, time, where }: AgedRows): Prepared<AgedPortion, unknown> {
  const keys = sql.join(key.map((column) => sql.ref(column)))
  return statement<Tables, AgedPortion, unknown>((tables, value, dialect) => {
    const condition = where === undefined ? sql`` : sql`and ${sql.raw(where)}`
    const found = (columns: typeof keys) =>
      sql`select ${columns} from ${sql.table(table)} where ${sql.ref(time)} <= ${value('upTo')} ${condition}
        order by ${sql.ref(time)} limit ${value('limit')}`
    return tables
      .deleteFrom(table)
      .where(
        dialect === 'postgres'
          ? sql<SqlBool>`ctid = any (array(${found(sql`ctid`)}))`
          : sql<SqlBool>`(${keys}) in (${found(keys)})`,
      )
  })
}
