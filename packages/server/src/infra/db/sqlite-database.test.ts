import { mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, type Migration, openDatabase, type TenantId, type Writer } from './index.ts'
import { openReader, openWriter, type SqliteConnection } from './sqlite-connection.ts'

interface Tables {
  items: { id: number; body: string }
}

const migrations: Migration[] = [
  { id: '0001_items', up: (schema) => schema.createTable('items', { id: 'autoincrement', body: 'text' }) },
]
const alice = 1 as TenantId
let folder: string
let path: string
const opened: Database[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-sqlite-'))
  path = join(folder, 'kith.db')
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()))
  rmSync(folder, { recursive: true })
})

const open = async () => {
  const db = await openDatabase({ url: `sqlite:${path}`, migrations })
  opened.push(db)
  return db
}
const add = (tx: Writer, id: number, body = 'x') =>
  tx.tables<Tables>().insertInto('items').values({ id, body }).execute()
const idsIn = (file: string) => {
  const raw = new DatabaseSync(file, { readOnly: true })
  try {
    return raw
      .prepare('select id from items order by id')
      .all()
      .map(({ id }) => Number(id))
  } finally {
    raw.close()
  }
}

test('keeps its files from other users of the machine', async () => {
  await open()
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
  expect(readdirSync(folder)).toContain('kith.db-wal')
})

test('closing leaves one file with everything in it', async () => {
  const db = await open()
  await db.transact(alice, (tx) => add(tx, 1))
  await db.close()
  expect(readdirSync(folder)).toEqual(['kith.db'])
  expect(idsIn(path)).toEqual([1])
})

test('nothing waits inside SQLite, neither for the disk nor for a lock', async () => {
  const writer = openWriter(path)
  const reader = openReader(path)
  const pragma = (from: SqliteConnection, name: string) =>
    Object.values(from.raw.prepare(`pragma ${name}`).get() ?? {})[0]
  try {
    const names = ['synchronous', 'journal_mode', 'foreign_keys', 'busy_timeout']
    expect(names.map((name) => pragma(writer, name))).toEqual([1, 'wal', 1, 0])
    expect(pragma(reader, 'query_only')).toBe(1)
    expect(() => reader.command('create table no (id integer)')).toThrow('readonly')
  } finally {
    reader.close()
    writer.close()
  }
})

test('readers do not wait for a transaction that has begun, and see the state before it', async () => {
  const db = await open()
  const { promise: halfway, resolve: reach } = Promise.withResolvers<void>()
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>()
  const writing = db.transact(alice, async (tx) => {
    await add(tx, 1)
    reach()
    await goOn
  })
  await halfway
  expect(await db.reader(alice).tables<Tables>().selectFrom('items').selectAll().execute()).toEqual([])
  release()
  await writing
  expect(await db.reader(alice).tables<Tables>().selectFrom('items').selectAll().execute()).toHaveLength(1)
})

test('two processes write at the same time and lose nothing', async () => {
  const first = await open()
  const second = await open()
  await Promise.all(
    Array.from({ length: 100 }, (_, id) => (id % 2 ? first : second).transact(alice, (tx) => add(tx, id))),
  )
  expect(idsIn(path)).toHaveLength(100)
})

test('a backup is complete while writes go on', async () => {
  const db = await open()
  await db.transact(alice, async (tx) => {
    for (let id = 1; id <= 500; id += 1) await add(tx, id, 'x'.repeat(1000))
  })
  const copy = join(folder, 'copy.db')
  const backup = db.backup(copy)
  for (let id = 501; id <= 520; id += 1) await db.transact(alice, (tx) => add(tx, id))
  await backup
  expect(idsIn(copy).length).toBeGreaterThanOrEqual(500)
  await expect(db.backup(copy)).rejects.toThrow('exists already')
})

test('finds what is broken in the file', async () => {
  const db = await open()
  await db.transact(alice, async (tx) => {
    for (let id = 1; id <= 2000; id += 1) await add(tx, id, `row ${id}`)
  })
  expect(await db.integrityCheck()).toEqual([])
  await db.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, 4096 * 5)
  const damaged = await open()
  expect(await damaged.integrityCheck()).not.toEqual([])
})

test('answers a ping until it is closed', async () => {
  const db = await open()
  await db.ping()
  await db.close()
  await expect(db.ping()).rejects.toThrow()
})

test('refuses another kind of URL', async () => {
  await expect(openDatabase({ url: 'mysql://host/db', migrations })).rejects.toThrow('sqlite: or postgres:')
})

test('takes deletions from an index of texts, which number rows beyond what a number can be', async () => {
  const texts: Migration = {
    id: '0002_texts',
    up: (schema) =>
      schema.run({
        sqlite: "create virtual table texts using fts5 (body, content='', contentless_delete=1)",
        postgres: undefined,
      }),
  }
  const db = await openDatabase({ url: `sqlite:${path}`, migrations: [...migrations, texts] })
  opened.push(db)
  type Texts = { texts: { rowid: number; body: string } }
  const remove = (tx: Writer, rowid: number) =>
    tx.tables<Texts>().deleteFrom('texts').where('rowid', '=', rowid).executeTakeFirstOrThrow()
  await db.transact(alice, async (tx) => {
    for (const rowid of [1, 2, 3])
      await tx.tables<Texts>().insertInto('texts').values({ rowid, body: 'word' }).execute()
    await remove(tx, 3)
  })
  // The second deletion from a segment writes only the page that lists the deleted rows, whose number is 2^53 and more.
  for (const rowid of [1, 2])
    expect((await db.transact(alice, (tx) => remove(tx, rowid))).numDeletedRows).toBe(1n)
})
