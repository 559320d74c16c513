import { type Kysely, sql } from 'kysely'
import { afterEach, describe } from 'vitest'
import {
  type Database,
  type Dialect,
  type OpenDatabaseOptions,
  openDatabase,
  serverTenant,
} from '#infra/db/index.ts'
import type { DatabasePlace, RemovablePlace } from './database-place.ts'
import { makeFile } from './migrated-file.ts'
import { runsOf } from './property-runs.ts'
import { ServerSchemas } from './server-schemas.ts'
import { skipSuite } from './skip-suite.ts'
import { testRun } from './test-run.ts'

/** What a test may choose; the place of the database is the harness's. */
export type TestDatabaseOptions = Omit<OpenDatabaseOptions, 'url'>

/** Opens an empty database that is closed and removed after the test. */
export interface OpenTestDatabase {
  (options: TestDatabaseOptions): Promise<Database>
  readonly dialect: Dialect
  /** How often to try a property that is usually tried `usual` times (`runsOf`): a third of them on PostgreSQL, which plans
   * each query of its own anew. */
  runs(usual: number): number
  /** One whose plans depend on what the test puts there alone: no test has used it before, and nothing counts its rows. */
  forPlans(options: TestDatabaseOptions): Promise<Database>
  /** An empty database that is not opened yet; who opens it closes it before the test ends. */
  place(): Promise<DatabasePlace>
  /** Opens the database of another handle once more, as a second process would. */
  again(database: Database, options: TestDatabaseOptions): Promise<Database>
}

const serverUrl = process.env.TEST_POSTGRES_URL
// The files of a worker share what one of them has migrated.
let schemas: ServerSchemas | undefined
const needsPostgres = 'needs a PostgreSQL server: name it in TEST_POSTGRES_URL (CONTRIBUTING.md, Tests)'

/** Runs a suite on SQLite, and in the run of services on the PostgreSQL server at TEST_POSTGRES_URL (in the run of faults on
 * both). Call it at the top of a test file. */
export function eachDialect(name: string, suite: (open: OpenTestDatabase) => void): void {
  if (testRun !== 'services') describe(`${name} (sqlite)`, () => suite(opener('sqlite', makeFile)))
  onPostgresServer(name, suite)
}

/** A suite that asks the database nothing which another one does not ask on both. */
export function onSqlite(name: string, suite: (open: OpenTestDatabase) => void): void {
  describe(name, () => suite(opener('sqlite', makeFile)))
}

function onServer(name: string, url: string, suite: (open: OpenTestDatabase) => void): void {
  describe(`${name} (postgres)`, () => {
    schemas ??= new ServerSchemas(url)
    suite(opener('postgres', schemas.make.bind(schemas)))
  })
}

/** A suite for what SQLite has not, such as several connections. */
export function onPostgresServer(
  name: string,
  suite: (open: OpenTestDatabase, serverUrl: string) => void,
): void {
  if (testRun === 'local') return
  if (serverUrl) onServer(name, serverUrl, (open) => suite(open, serverUrl))
  else skipSuite(`${name} (postgres)`, needsPostgres)
}

/** Makes an empty database; with `migrations`, it may be one that has them already. */
type MakePlace = (migrations?: OpenDatabaseOptions['migrations']) => Promise<RemovablePlace>

function opener(dialect: Dialect, make: MakePlace): OpenTestDatabase {
  const opened = new Map<Database, DatabasePlace>()
  const removers: (() => Promise<void>)[] = []
  afterEach(async () => {
    await Promise.all([...opened.keys()].map((database) => database.close()))
    opened.clear()
    await Promise.all(removers.splice(0).map((remove) => remove()))
  })
  const place = async (migrations?: OpenDatabaseOptions['migrations']) => {
    const made = await make(migrations)
    removers.push(() => made.remove())
    return made.place
  }
  const openAt = async (where: DatabasePlace, options: TestDatabaseOptions) => {
    const database = await openDatabase({ ...options, ...where })
    opened.set(database, where)
    return database
  }
  const open = async (options: TestDatabaseOptions) => openAt(await place(options.migrations), options)
  const forPlans = async (options: TestDatabaseOptions) => {
    const database = await openAt(await place(), options)
    if (dialect === 'postgres') await endAutovacuum(database)
    return database
  }
  const again = (database: Database, options: TestDatabaseOptions) => {
    const where = opened.get(database)
    if (!where) throw new Error('This database was not opened here')
    return openAt(where, options)
  }
  const runs = (usual: number) => runsOf(dialect === 'sqlite' ? usual : usual / 3)
  return Object.assign(open, { dialect, runs, forPlans, place: () => place(), again })
}

async function endAutovacuum(database: Database): Promise<void> {
  const command = `do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = current_schema() loop
      execute format('alter table %I set (autovacuum_enabled = off)', name);
    end loop;
  end $$`
  await database.transact(serverTenant, async (tx) => {
    await sql.raw(command).execute(tx.tables() as Kysely<unknown>)
  })
}
