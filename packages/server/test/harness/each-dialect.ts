import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { type Database, type Dialect, type OpenDatabaseOptions, openDatabase } from '#infra/db/index.ts'
import { EmbeddedPostgres } from './embedded-postgres.ts'

/** What a test may choose; the place of the database is the harness's. */
export type TestDatabaseOptions = Omit<OpenDatabaseOptions, 'url' | 'connectPostgres'>

/** Opens an empty database that is closed and removed after the test. */
export interface OpenTestDatabase {
  (options: TestDatabaseOptions): Promise<Database>
  readonly dialect: Dialect
  /** Opens the database of another handle once more, as a second process would. */
  again(database: Database, options: TestDatabaseOptions): Promise<Database>
}

interface Place {
  readonly options: Pick<OpenDatabaseOptions, 'url' | 'connectPostgres'>
  remove(): Promise<void>
}

const realServerUrl = process.env.TEST_POSTGRES_URL

/** Runs a suite on SQLite and on PostgreSQL: an embedded one, or the server at TEST_POSTGRES_URL. */
export function eachDialect(name: string, suite: (open: OpenTestDatabase) => void): void {
  describe(`${name} (sqlite)`, () => suite(opener('sqlite', makeFile)))
  describe(`${name} (${realServerUrl ? 'postgres server' : 'postgres'})`, () => {
    if (realServerUrl) return suite(opener('postgres', () => makeServerSchema(realServerUrl)))
    let embedded: EmbeddedPostgres
    // Starting takes seconds, so one serves all tests of the suite, each in a schema of its own.
    beforeAll(() => {
      embedded = new EmbeddedPostgres()
      return embedded.createSchema('started')
    }, 60_000)
    afterAll(() => embedded.close())
    suite(opener('postgres', () => makeEmbeddedSchema(embedded)))
  })
}

/** A test that needs many connections to PostgreSQL, which the embedded one does not have. */
export function testOnServer(
  name: string,
  run: (open: OpenTestDatabase, url: string) => Promise<void>,
): void {
  if (realServerUrl) {
    const open = opener('postgres', () => makeServerSchema(realServerUrl))
    test(name, () => run(open, realServerUrl))
  } else {
    console.warn(`SKIPPED, needs a PostgreSQL server at TEST_POSTGRES_URL: ${name}`)
    test.skip(`${name} (needs TEST_POSTGRES_URL)`, () => undefined)
  }
}

function opener(dialect: Dialect, makePlace: () => Promise<Place>): OpenTestDatabase {
  const opened = new Map<Database, Place>()
  afterEach(async () => {
    const places = new Set(opened.values())
    await Promise.all([...opened.keys()].map((database) => database.close()))
    opened.clear()
    for (const place of places) await place.remove()
  })
  const openAt = async (place: Place, options: TestDatabaseOptions) => {
    const database = await openDatabase({ ...options, ...place.options })
    opened.set(database, place)
    return database
  }
  const open = async (options: TestDatabaseOptions) => {
    const place = await makePlace()
    try {
      return await openAt(place, options)
    } catch (error) {
      await place.remove()
      throw error
    }
  }
  const again = (database: Database, options: TestDatabaseOptions) => {
    const place = opened.get(database)
    if (!place) throw new Error('This database was not opened here')
    return openAt(place, options)
  }
  return Object.assign(open, { dialect, again })
}

async function makeFile(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-db-'))
  return {
    options: { url: `sqlite:${join(folder, 'kith.db')}` },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function makeEmbeddedSchema(embedded: EmbeddedPostgres): Promise<Place> {
  const schema = freshName()
  await embedded.createSchema(schema)
  return {
    options: { url: 'postgres://embedded', connectPostgres: embedded.pools(schema) },
    remove: () => embedded.dropSchema(schema),
  }
}

async function makeServerSchema(serverUrl: string): Promise<Place> {
  const schema = freshName()
  await onServer(serverUrl, `create schema ${schema}`)
  const url = new URL(serverUrl)
  url.searchParams.set('options', `-c search_path=${schema}`)
  return { options: { url: url.href }, remove: () => onServer(serverUrl, `drop schema ${schema} cascade`) }
}

async function onServer(url: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(command)
  } finally {
    await client.end()
  }
}

function freshName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}
