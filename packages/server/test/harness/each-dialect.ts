import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, type RunnerTestSuite, type SuiteCollector } from 'vitest'
import { type Database, type Dialect, type OpenDatabaseOptions, openDatabase } from '#infra/db/index.ts'
import {
  type DatabasePlace,
  freshName,
  keyOf,
  type Migrations,
  type RemovablePlace,
} from './database-place.ts'
import { EmbeddedPostgres } from './embedded-postgres.ts'
import { ServerSchemas } from './server-schemas.ts'
import { skipSuite } from './skip-suite.ts'

/** What a test may choose; the place of the database is the harness's. */
export type TestDatabaseOptions = Omit<OpenDatabaseOptions, 'url' | 'connectPostgres'>

/** Opens an empty database that is closed and removed after the test. */
export interface OpenTestDatabase {
  (options: TestDatabaseOptions): Promise<Database>
  readonly dialect: Dialect
  /** How often a property that writes its own queries is tried: PostgreSQL plans each anew, the embedded one slowly. */
  runs(count: number): number
  /** An empty database that is not opened yet; who opens it closes it before the test ends. */
  place(): Promise<DatabasePlace>
  /** Opens the database of another handle once more, as a second process would. */
  again(database: Database, options: TestDatabaseOptions): Promise<Database>
}

const serverUrl = process.env.TEST_POSTGRES_URL
// Ends with the process: the files of a worker share it.
let embedded: Promise<EmbeddedPostgres> | undefined

/** Runs a suite on SQLite and on PostgreSQL: an embedded one, or the server at TEST_POSTGRES_URL. For statements. Call
 * it at the top of a test file. */
export function eachDialect(name: string, suite: (open: OpenTestDatabase) => void): void {
  describe(`${name} (sqlite)`, () => suite(opener('sqlite', makeFile)))
  if (serverUrl) onServer(name, serverUrl, suite)
  else onEmbedded(name, suite)
}

/** Runs a suite on SQLite, and on the server at TEST_POSTGRES_URL where there is one, which is quick. For HTTP and use
 * cases, whose statements are proved on both dialects elsewhere. */
export function onSqlite(name: string, suite: (open: OpenTestDatabase) => void): void {
  describe(name, () => suite(opener('sqlite', makeFile)))
  if (serverUrl) onServer(name, serverUrl, suite)
}

/** Runs a suite as `onSqlite` does, and those of its tests that have the options `alsoOnPostgres` on the embedded
 * PostgreSQL as well. For use cases with statements that no other test runs there. */
export function mostlyOnSqlite(name: string, suite: (open: OpenTestDatabase) => void): void {
  onSqlite(name, suite)
  if (serverUrl) return
  const collector = onEmbedded(name, suite)
  const collect = collector.collect
  collector.collect = async (file) => {
    const collected = await collect(file)
    keepMarked(collected)
    return collected
  }
}

/** Of a test in a suite of `mostlyOnSqlite`. */
export const alsoOnPostgres = { tags: ['also-on-postgres'] }

function keepMarked(suite: RunnerTestSuite): boolean {
  suite.tasks = suite.tasks.filter((task) =>
    task.type === 'suite' ? keepMarked(task) : alsoOnPostgres.tags.some((tag) => task.tags?.includes(tag)),
  )
  return suite.tasks.length > 0
}

function onEmbedded(name: string, suite: (open: OpenTestDatabase) => void): SuiteCollector {
  return describe(`${name} (postgres)`, () => {
    beforeAll(startEmbedded, 60_000)
    suite(opener('postgres', makeEmbeddedSchema))
  })
}

function onServer(name: string, url: string, suite: (open: OpenTestDatabase) => void): void {
  describe(`${name} (postgres server)`, () => {
    const schemas = new ServerSchemas(url)
    afterAll(() => schemas.drop())
    suite(opener('postgres', (migrations) => schemas.make(migrations)))
  })
}

/** A suite for what the embedded PostgreSQL has not, such as several connections. */
export function onPostgresServer(
  name: string,
  suite: (open: OpenTestDatabase, serverUrl: string) => void,
): void {
  if (serverUrl) {
    onServer(name, serverUrl, (open) => suite(open, serverUrl))
    return
  }
  skipSuite(name, 'needs a PostgreSQL server: name it in TEST_POSTGRES_URL')
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
  const again = (database: Database, options: TestDatabaseOptions) => {
    const where = opened.get(database)
    if (!where) throw new Error('This database was not opened here')
    return openAt(where, options)
  }
  const share = dialect === 'sqlite' ? 1 : serverUrl ? 3 : 10
  const runs = (count: number) => Math.ceil(count / share)
  return Object.assign(open, { dialect, runs, place: () => place(), again })
}

function startEmbedded(): Promise<EmbeddedPostgres> {
  embedded ??= EmbeddedPostgres.start()
  return embedded
}

// Files that are migrated, for tests that begin with the same migrations; made for the second of them.
const migratedFiles = new Map<string, Promise<Buffer> | undefined>()

async function makeFile(migrations?: Migrations): Promise<RemovablePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-db-'))
  const path = join(folder, 'kith.db')
  const migrated = migrations && (await migratedFile(migrations))
  if (migrated) await writeFile(path, migrated, { mode: 0o600 })
  return {
    place: { url: `sqlite:${path}` },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function migratedFile(migrations: Migrations): Promise<Buffer> | undefined {
  const key = keyOf(migrations)
  const file = migratedFiles.has(key) ? (migratedFiles.get(key) ?? migrateFile(migrations)) : undefined
  migratedFiles.set(key, file)
  return file
}

async function migrateFile(migrations: Migrations): Promise<Buffer> {
  const { place, remove } = await makeFile()
  try {
    const database = await openDatabase({ ...place, migrations })
    await database.close()
    return await readFile(place.url.slice('sqlite:'.length))
  } finally {
    await remove()
  }
}

// Migrating takes the embedded PostgreSQL longer than most tests: schemas that are migrated are emptied and used again.
// As many as the databases that one test opens.
const emptied = new Map<string, string[]>()

async function makeEmbeddedSchema(migrations?: Migrations): Promise<RemovablePlace> {
  const server = await startEmbedded()
  const key = migrations && keyOf(migrations)
  const known = key === undefined ? undefined : emptied.get(key)?.pop()
  const schema = known ?? freshName()
  if (known === undefined) await server.createSchema(schema)
  return {
    place: { url: 'postgres://embedded', connectPostgres: server.pools(schema) },
    async remove() {
      const ids = migrations?.map(({ id }) => id)
      if (key === undefined || !(await server.emptySchema(schema, ids))) await server.dropSchema(schema)
      else emptied.set(key, [...(emptied.get(key) ?? []), schema])
    },
  }
}
