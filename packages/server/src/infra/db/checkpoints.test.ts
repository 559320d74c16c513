import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { Checkpoints } from './checkpoints.ts'
import { unwatched } from './database-watch.ts'
import { type Database, openDatabase, type TenantId } from './index.ts'

const alice = 1 as TenantId
const rowsPerTransaction = 500
const migration = {
  id: '0001_items',
  up: (schema: { createTable(name: string, columns: Record<string, string>): Promise<void> }) =>
    schema.createTable('items', { id: 'autoincrement', body: 'text' }),
}

async function openFile() {
  const folder = await mkdtemp(join(tmpdir(), 'kith-checkpoints-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'kith.db')
  const logged: string[] = []
  const log = (_: object, message: string) => void logged.push(message)
  const open = () =>
    openDatabase({
      url: `sqlite:${path}`,
      migrations: [migration as never],
      logger: { warn: log, error: log },
    })
  return { path, logged, open }
}

/** Each row fills a page of the log. */
const write = (db: Database, rows: number) =>
  db.transact(alice, (tx) =>
    tx
      .tables<{ items: { id?: number; body: string } }>()
      .insertInto('items')
      .values(Array.from({ length: rows }, () => ({ body: 'x'.repeat(4000) })))
      .execute(),
  )

test('nothing is lost while another thread copies', async () => {
  const { path, logged, open } = await openFile()
  const db = await open()
  const transactions = 24
  for (let at = 0; at < transactions; at += 1) await write(db, rowsPerTransaction)
  await db.close()
  const file = new DatabaseSync(path)
  expect(file.prepare('select count(*) as count from items').get()).toEqual({
    count: transactions * rowsPerTransaction,
  })
  expect(file.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
  file.close()
  expect(logged).toEqual([])
})

test('another thread copies what was written, once it is much', async () => {
  const { path } = await openFile()
  const file = new DatabaseSync(path)
  file.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table items (body text)')
  const checkpoints = new Checkpoints(path, unwatched.logger)
  const insert = file.prepare('insert into items values (?)')
  for (let at = 0; at < 1000; at += 1) insert.run('x'.repeat(4000))
  checkpoints.committed(1000)
  const sizeBefore = (await stat(path)).size
  checkpoints.committed(4000)
  await checkpoints.close()
  expect([sizeBefore < 100_000, (await stat(path)).size > 4_000_000]).toEqual([true, true])
  file.close()
})

test('ends with the database, also in the middle of a copy', async () => {
  const { path, open } = await openFile()
  const db = await open()
  for (let at = 0; at < 9; at += 1) await write(db, rowsPerTransaction)
  await db.close()
  // Whoever closes it last takes the log away.
  await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT')
})

test('a reader of an old state does not keep others from writing', async () => {
  const { open } = await openFile()
  const db = await open()
  await write(db, 1)
  const counted = await db.snapshot(async (reader) => {
    const tables = reader(alice).tables<{ items: { id: number } }>()
    const count = async () => (await tables.selectFrom('items').select('id').execute()).length
    const before = await count()
    for (let at = 0; at < 20; at += 1) await write(db, rowsPerTransaction)
    return [before, await count()]
  })
  expect(counted).toEqual([1, 1])
  await db.close()
})
