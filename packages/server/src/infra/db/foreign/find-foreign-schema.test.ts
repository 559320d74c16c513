import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Migration } from '../migrator.ts'
import { openDatabase } from '../open-database.ts'
import { examineForeignFile } from './find-foreign-schema.ts'

const pageSize = 4096
const migrations: readonly Migration[] = [
  { id: '0001_pets', up: (schema) => schema.createTable('pets', { id: 'integer', name: 'text' }) },
]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-foreign-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function examine(change: (path: string) => Promise<void> | void, limitMs?: number) {
  files += 1
  const path = join(folder, `${files}.db`)
  const database = await openDatabase({ url: `sqlite:${path}`, migrations })
  await database.close()
  await change(path)
  const options = { migrations, scratchPath: `${path}.made`, ...(limitMs === undefined ? {} : { limitMs }) }
  return await examineForeignFile(path, options)
}

function rewrite(path: string, statement: string): void {
  using database = new DatabaseSync(path, { defensive: false })
  database.exec(`pragma writable_schema = on; ${statement}; pragma writable_schema = off`)
}

/** A page of a table's tree that leads to `child` so many times. */
function pointing(child: number, times: number): Buffer {
  const page = Buffer.alloc(pageSize)
  page[0] = 5
  page.writeUInt16BE(times, 3)
  page.writeUInt32BE(child, 8)
  for (let at = 0; at < times; at += 1) {
    const cell = pageSize - 5 * (at + 1)
    page.writeUInt32BE(child, cell)
    page[cell + 4] = 0x7f
    page.writeUInt16BE(cell, 12 + 2 * at)
  }
  page.writeUInt16BE(pageSize - 5 * times, 5)
  return page
}

/** A page with one row of the list of tables: the index that belongs to the key of the list of migrations. */
function listing(rootPage: number): Buffer {
  const texts = ['index', 'sqlite_autoindex_kith_migrations_1', 'kith_migrations'].map((it) =>
    Buffer.from(it),
  )
  const sizes = texts.map(({ length }) => 13 + 2 * length)
  const record = Buffer.concat([Buffer.from([6, ...sizes, 1, 0]), ...texts, Buffer.from([rootPage])])
  const page = Buffer.alloc(pageSize)
  const cell = pageSize - record.length - 2
  page[0] = 13
  page.writeUInt16BE(1, 3)
  for (const place of [5, 8]) page.writeUInt16BE(cell, place)
  Buffer.from([record.length, 0x7f]).copy(page, cell)
  record.copy(page, cell + 2)
  return page
}

function rootPageOf(path: string, name: string): number {
  using database = new DatabaseSync(path, { readOnly: true })
  return Number(database.prepare('select rootpage from sqlite_schema where name = ?').get(name)?.rootpage)
}

/** Makes of the list of tables a tree of six levels, each of which leads three hundred times to the next. */
async function makeEndless(path: string): Promise<void> {
  const file = await readFile(path)
  const leaf = listing(rootPageOf(path, 'sqlite_autoindex_kith_migrations_1'))
  const first = file.length / pageSize + 1
  const levels = Array.from({ length: 6 }, (_, level) => pointing(first + level, 300))
  const whole = Buffer.concat([file, leaf, ...levels])
  const header = whole.subarray(0, 100)
  header.writeUInt32BE(whole.length / pageSize, 28)
  header.writeUInt32BE(header.readUInt32BE(24), 92)
  const top = pointing(first + levels.length, 300)
  // The first page begins with the header of the file.
  top.copy(whole, 100, 0, 12)
  for (let at = 0; at < 300; at += 1) whole.writeUInt16BE(pageSize - 5 * (at + 1), 112 + 2 * at)
  top.copy(whole, pageSize - 1500, pageSize - 1500)
  await writeFile(path, whole)
}

test('a file of this program is its own', async () => {
  expect(await examine(() => undefined)).toBeUndefined()
})

test('a file whose pages lead to each other without end is given up', async () => {
  expect(await examine(makeEndless, 2000)).toBe('to look through it takes too long')
})

test('what SQLite does not take for white space is a change, and so is what stands behind a NUL', async () => {
  const changed = 'its table kith_migrations is not that of this program'
  const set = (sql: string) => (path: string) =>
    rewrite(path, `update sqlite_schema set sql = ${sql} where name = 'kith_migrations'`)
  expect(await examine(set(`replace(sql, ' ', '\n ')`))).toBeUndefined()
  expect(await examine(set(`replace(sql, ' not null', char(160) || 'not' || char(160) || 'null')`))).toBe(
    changed,
  )
  expect(await examine(set(`sql || char(0) || ', more'`))).toBe(changed)
})

test('a damaged page is found', async () => {
  const damage = async (path: string) => {
    const file = await readFile(path)
    file.fill(0x42, file.length - pageSize)
    await writeFile(path, file)
  }
  expect(await examine(damage)).toMatch(/btree|page|malformed|invalid/)
})
