import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { namingColumns } from '#app/purge/forget-identity.ts'
import { listMovedTables } from '#features/transfer/tenant-tables.ts'
import { listTableNames, listTenantTables, serverTenant } from '#infra/db/index.ts'
import { eachDialect } from './harness/each-dialect.ts'
import { TestServer } from './harness/test-server.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/operations/tables.md'), 'utf8')
const [, growth = '', fates = ''] = page.split(/^## /m)
const rowsOf = (section: string) =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
const rows = rowsOf(growth)
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

  test('tells of each table what a purge, an export and a backup do with it', async () => {
    const db = await open({ migrations })
    const reader = db.reader(serverTenant)
    const ofTenants = new Set((await listTenantTables(reader)).map(({ name }) => name))
    const moved = new Map((await listMovedTables(reader)).map((table) => [table.name, table]))
    const naming = new Set(namingColumns.map(({ table }) => table))
    const purgeOf = (name: string) => {
      if (!ofTenants.has(name)) return 'nothing'
      return naming.has(name) ? 'its rows, and what names it at others' : 'its rows'
    }
    const exportOf = (name: string) => {
      const table = moved.get(name)
      if (!table) return 'stays'
      return table.only || table.leaving || table.outgoing ? 'in part' : 'goes along'
    }
    const found = (await listTableNames(reader)).map((name) => [name, purgeOf(name), exportOf(name)])
    const told = rowsOf(fates).flatMap(([, names, purge, moves]) =>
      namesIn(names).map((name) => [name, purge, moves]),
    )
    const sorted = told.filter(([name]) => name !== 'action_texts').sort()
    expect(sorted).toEqual(found.filter(([name]) => name !== 'action_texts').sort())
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
