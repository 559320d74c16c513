import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { listTableNames, serverTenant } from '#infra/db/index.ts'
import { eachDialect } from './harness/each-dialect.ts'
import { TestServer } from './harness/test-server.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/operations/tables.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')

test('each row says what a table grows with, what bounds it, and when it is swept', () => {
  for (const cells of rows) {
    expect(cells).toHaveLength(6)
    for (const cell of cells.slice(1, 5)) expect(cell, cells.join('|')).not.toBe('')
  }
})

eachDialect('the page of tables', (open) => {
  test('has a row for each table of a new database, and for no other', async () => {
    const db = await open({ migrations })
    const tables = await listTableNames(db.reader(serverTenant))
    const described = rows.flatMap(([, cell]) => namesIn(cell)).sort()
    // Of the index of words SQLite has no plain table.
    const plain = db.dialect === 'sqlite' ? described.filter((name) => name !== 'action_texts') : described
    expect(plain).toEqual(tables)
  })
})

test('the jobs that sweep are those that recur', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-tables-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const server = await TestServer.start({ dataDir })
  const database = new DatabaseSync(join(dataDir, 'kith.db'), { readOnly: true })
  const recurring = database.prepare("select kind from jobs where dedup_key = 'every'").all()
  database.close()
  await server[Symbol.asyncDispose]()
  const named = new Set(rows.flatMap((cells) => namesIn(cells[4])))
  expect([...named].sort()).toEqual(recurring.map(({ kind }) => String(kind)).sort())
})
