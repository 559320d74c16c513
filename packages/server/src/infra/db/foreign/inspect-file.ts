import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isSqliteError } from '../database-errors.ts'
import { type SchemaEntry, schemaDifference } from './schema-entry.ts'

export interface Inspection {
  readonly path: string
  /** The table in which the applied migrations stand, and what of the schema is that table. */
  readonly migrationTable: string
  readonly known: readonly SchemaEntry[]
  /** Whether every page of the file is to be looked at. */
  readonly looksForDamage: boolean
}

/** What a SQLite file says of itself, or why it is none that this program could have made. */
export type Inspected =
  | { readonly problem: string }
  | { readonly found: readonly SchemaEntry[]; readonly applied: readonly string[] }

// Far more than any version has: what holds more is not looked through.
const maxEntries = 2000
const maxSqlBytes = 20_000
const maxIdChars = 200

/** Reads the schema of a file and the names of the migrations that it has seen. Opening it runs nothing: no journal and
 * no log is replayed, what the schema says is not trusted, and a statement names no table of it but one that is
 * known. */
export function inspectFile({ path, migrationTable, known, looksForDamage }: Inspection): Inspected {
  try {
    using file = openUntrusted(path)
    const encoding = String(file.prepare('pragma encoding').get()?.encoding)
    if (encoding !== 'UTF-8') return { problem: `it keeps texts as ${encoding}` }
    const found = readSchema(file)
    const ofMigrations = found.filter(({ name, table }) => [name, table].includes(migrationTable))
    const problem = schemaDifference(ofMigrations, known)
    if (problem !== undefined) return { problem }
    const applied = readApplied(file, migrationTable)
    const damage = looksForDamage ? findDamage(file) : undefined
    return damage === undefined ? { found, applied } : { problem: damage }
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return { problem: error.message }
  }
}

function openUntrusted(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  const file = new DatabaseSync(url, { readOnly: true, defensive: true })
  file.exec('pragma trusted_schema = off; pragma cell_size_check = on; pragma query_only = on;')
  return file
}

/** As bytes, so that nothing hides behind a NUL. Only what is white space to SQLite becomes a blank. */
export function readSchema(file: DatabaseSync): SchemaEntry[] {
  const rows = file
    .prepare(
      `select type, name, tbl_name, substr(cast(sql as blob), 1, ?) as sql from sqlite_schema
      order by type, name, tbl_name limit ?`,
    )
    .all(maxSqlBytes, maxEntries)
  return rows.map(({ type, name, tbl_name: table, sql }) => ({
    type: String(type),
    name: String(name),
    table: String(table),
    sql:
      sql === null
        ? null
        : Buffer.from(sql as Uint8Array)
            .toString('utf8')
            .replaceAll(/[ \t\n\f\r]+/g, ' '),
  }))
}

function readApplied(file: DatabaseSync, migrationTable: string): string[] {
  const rows = file.prepare(
    `select substr(id, 1, ${maxIdChars}) as id from ${migrationTable} order by position limit ${maxEntries}`,
  )
  return rows.all().map(({ id }) => String(id))
}

function findDamage(file: DatabaseSync): string | undefined {
  const said = String(file.prepare('pragma integrity_check(1)').get()?.integrity_check)
  return said === 'ok' ? undefined : said.split('\n').at(-1)
}
