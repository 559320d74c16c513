import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isSqliteError } from './database-errors.ts'
import { assertSameOrder, type Migration, migrationTable } from './migrator.ts'
import { openDatabase } from './open-database.ts'

interface SchemaOptions {
  /** Every migration of the program, in order. */
  readonly migrations: readonly Migration[]
  /** Where there is no file yet: a database to compare with is made there, which the caller removes. */
  readonly scratchPath: string
}

/** A row of `sqlite_schema`. */
interface SchemaEntry {
  readonly type: string
  readonly name: string
  readonly table: string
  /** With white space as one space; null for the indexes that belong to the keys of tables. */
  readonly sql: string | null
}

// Far more than any version has: what holds more is not looked through.
const maxEntries = 5000
const maxSqlChars = 100_000
const maxIdChars = 200

/** What ANALYZE makes, which somebody may have run by hand: numbers about indexes, for the planner. */
const statistics = new Map([
  ['sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'],
  ['sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
])

/** Says what a SQLite file has, or has not, that those migrations would have made which it has seen; undefined where all of it is
 * theirs. A file of a stranger could run code of its own by triggers, views, checks, defaults, generated columns and expressions in
 * indexes: here it is read without any of them, and a statement names no table of it but one that is known already. Throws
 * `OtherVersion` for migrations that this program has not. */
export async function findForeignSchema(
  path: string,
  { migrations, scratchPath }: SchemaOptions,
): Promise<string | undefined> {
  let found: readonly SchemaEntry[]
  let applied: readonly string[]
  try {
    using file = openUntrusted(path)
    const encoding = String(file.prepare('pragma encoding').get()?.encoding)
    if (encoding !== 'UTF-8') return `it keeps texts as ${encoding}`
    found = readSchema(file)
    const known = await madeBy([], `${scratchPath}-none`)
    const ofMigrations = found.filter(({ name, table }) => [name, table].includes(migrationTable))
    const problem = difference(ofMigrations, known)
    if (problem !== undefined) return problem
    applied = readApplied(file, migrations.length + 1)
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return error.message
  }
  assertSameOrder(applied, migrations)
  return difference(found, await madeBy(migrations.slice(0, applied.length), scratchPath))
}

/** Opening runs nothing: no journal and no log is replayed, and what the schema says is not trusted. */
function openUntrusted(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  const file = new DatabaseSync(url, { readOnly: true, defensive: true })
  file.exec('pragma trusted_schema = off; pragma cell_size_check = on; pragma query_only = on;')
  return file
}

function readSchema(file: DatabaseSync): SchemaEntry[] {
  const rows = file
    .prepare(
      'select type, name, tbl_name, substr(sql, 1, ?) as sql from sqlite_schema order by type, name, tbl_name limit ?',
    )
    .all(maxSqlChars, maxEntries)
  return rows.map(({ type, name, tbl_name: table, sql }) => ({
    type: String(type),
    name: String(name),
    table: String(table),
    sql: sql === null ? null : String(sql).replaceAll(/\s+/g, ' '),
  }))
}

function readApplied(file: DatabaseSync, most: number): string[] {
  const rows = file.prepare(
    `select substr(id, 1, ${maxIdChars}) as id from ${migrationTable} order by position limit ?`,
  )
  return rows.all(most).map(({ id }) => String(id))
}

/** What the migrations make, in a file that is not there yet. */
async function madeBy(migrations: readonly Migration[], path: string): Promise<SchemaEntry[]> {
  const database = await openDatabase({ url: `sqlite:${path}`, migrations })
  await database.close()
  using file = new DatabaseSync(path, { readOnly: true })
  return readSchema(file)
}

/** The first thing of `found` that is not in `made`, or of `made` that is not in `found`. */
function difference(found: readonly SchemaEntry[], made: readonly SchemaEntry[]): string | undefined {
  const missing = new Map(made.map((entry) => [keyOf(entry), entry]))
  for (const entry of found) {
    const { type, name, table, sql } = entry
    const isStatistics = type === 'table' && name === table && sql !== null && statistics.get(name) === sql
    if (isStatistics || missing.delete(keyOf(entry))) continue
    const isChanged = made.some((other) => other.type === type && other.name === name)
    return isChanged ? `its ${type} ${name} is not that of this program` : `it has the ${type} ${name}`
  }
  // Tables go before their indexes.
  const [first] = [...missing.values()].sort((one, other) => other.type.localeCompare(one.type))
  return first && `it lacks the ${first.type} ${first.name}`
}

function keyOf({ type, name, table, sql }: SchemaEntry): string {
  return JSON.stringify([type, name, table, sql])
}
