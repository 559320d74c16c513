import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  changeRowsWith,
  deleteRowsWith,
  deleteTenantRows,
  insertTenantRows,
  isSqliteFileInUse,
  listAppliedMigrations,
  listTenantRows,
  listTenantTables,
  type Migration,
  openDatabase,
  type TableShape,
  type TenantId,
} from './index.ts'

const migrations: Migration[] = [
  {
    id: '0001_things',
    async up(schema) {
      await schema.createTable('log', { id: 'autoincrement', tenant_id: 'integer', body: 'text' })
      await schema.createTable(
        'things',
        { tenant_id: 'integer', name: 'text', part: 'integer', share: 'real null', bytes: 'blob null' },
        { primaryKey: ['tenant_id', 'name', 'part'] },
      )
      await schema.createTable(
        'a_child',
        { tenant_id: 'integer', name: 'text', part: 'integer' },
        {
          primaryKey: ['tenant_id', 'name', 'part'],
          clustered: true,
          foreignKeys: [
            {
              columns: ['tenant_id', 'name', 'part'],
              references: 'things',
              on: ['tenant_id', 'name', 'part'],
            },
          ],
        },
      )
      await schema.createTable('of_nobody', { id: 'integer' }, { primaryKey: ['id'] })
    },
  },
]
const alice = 1 as TenantId
const bob = 2 as TenantId
const rows = ['a', 'b'].flatMap((name) =>
  [1, 2, 3].map((part) => ({
    name,
    part,
    share: part === 2 ? null : 0.5,
    bytes: new Uint8Array([part, 0, 255]),
  })),
)

eachDialect('rows of a tenant', (open) => {
  async function start() {
    const db = await open({ migrations })
    const tables = await listTenantTables(db.reader(alice))
    const table = (name: string) => tables.find((shape) => shape.name === name) as TableShape
    return { db, tables, table }
  }

  test('lie in tables that the catalogue describes, referred ones first', async () => {
    const { tables, table } = await start()
    expect(tables.map(({ name }) => name)).toEqual(['things', 'a_child', 'log'])
    expect(table('things')).toEqual({
      name: 'things',
      primaryKey: ['tenant_id', 'name', 'part'],
      columns: [
        { name: 'tenant_id', kind: 'integer', isGenerated: false },
        { name: 'name', kind: 'text', isGenerated: false },
        { name: 'part', kind: 'integer', isGenerated: false },
        { name: 'share', kind: 'real', isGenerated: false },
        { name: 'bytes', kind: 'blob', isGenerated: false },
      ],
    })
    expect(table('log').columns[0]).toEqual({ name: 'id', kind: 'integer', isGenerated: true })
  })

  test('come back page by page as they were put in, without those of others', async () => {
    const { db, table } = await start()
    for (const tenant of [alice, bob])
      await db.transact(tenant, (tx) => insertTenantRows(tx, table('things'), rows))
    const reader = db.reader(bob)
    const first = await listTenantRows(reader, table('things'), { limit: 4 })
    const after = first.at(-1) ?? {}
    const second = await listTenantRows(reader, table('things'), { limit: 4, after })
    const read = [...first, ...second].map((row) => ({
      ...row,
      bytes: new Uint8Array(row.bytes as Uint8Array),
    }))
    expect(read).toEqual(rows)
    expect(await listTenantRows(reader, table('things'), { limit: 9, only: { name: 'b' } })).toHaveLength(3)
  })

  test('get numbers of their own where the database gives them', async () => {
    const { db, table } = await start()
    await db.transact(bob, (tx) => insertTenantRows(tx, table('log'), [{ id: 1, body: 'first' }]))
    await db.transact(alice, (tx) =>
      insertTenantRows(tx, table('log'), [
        { id: 1, body: 'x' },
        { id: 9, body: 'y' },
      ]),
    )
    const numbered = await listTenantRows(db.reader(alice), table('log'), { limit: 9 })
    expect(numbered).toEqual([
      { id: 2, body: 'x' },
      { id: 3, body: 'y' },
    ])
  })

  test('are deleted in bounded steps, those of others stay', async () => {
    const { db, table } = await start()
    for (const tenant of [alice, bob])
      await db.transact(tenant, (tx) => insertTenantRows(tx, table('things'), rows))
    const step = () => db.transact(alice, (tx) => deleteTenantRows(tx, table('things'), 4))
    expect([await step(), await step(), await step()]).toEqual([4, 2, 0])
    expect(await listTenantRows(db.reader(bob), table('things'), { limit: 9 })).toHaveLength(6)
  })

  test('are deleted and changed by what stands in them, those of others stay', async () => {
    const { db, table } = await start()
    for (const tenant of [alice, bob])
      await db.transact(tenant, (tx) => insertTenantRows(tx, table('things'), rows))
    await db.transact(alice, async (tx) => {
      await deleteRowsWith(tx, 'things', { name: 'a' })
      await changeRowsWith(tx, 'things', { match: { name: 'b', part: 1 }, set: { name: 'c' } })
    })
    const namesOf = async (tenant: TenantId) => {
      const found = await listTenantRows(db.reader(tenant), table('things'), { limit: 9 })
      return found.map(({ name, part }) => `${name}${part}`)
    }
    expect(await namesOf(alice)).toEqual(['b2', 'b3', 'c1'])
    expect(await namesOf(bob)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
  })

  test('are read as they were at one moment', async () => {
    const { db, table } = await start()
    await db.transact(alice, (tx) => insertTenantRows(tx, table('things'), rows.slice(0, 1)))
    const seen = await db.snapshot(async (reader) => {
      const before = await listTenantRows(reader(alice), table('things'), { limit: 9 })
      if (db.dialect === 'sqlite')
        await db.transact(alice, (tx) => insertTenantRows(tx, table('things'), rows.slice(1)))
      return [before, await listTenantRows(reader(alice), table('things'), { limit: 9 })]
    })
    expect(seen.map((found) => found.length)).toEqual([1, 1])
  })

  test('cannot be changed in a snapshot', async () => {
    const { db, table } = await start()
    const reader = db.snapshot(async (of) => of(alice))
    await expect(db.snapshot((of) => deleteTenantRows(of(alice) as never, table('log'), 1))).rejects.toThrow()
    await expect(listTenantRows(await reader, table('log'), { limit: 1 })).rejects.toThrow()
  })

  test('know which migrations made their tables', async () => {
    const { db } = await start()
    expect(await listAppliedMigrations(db.reader(alice))).toEqual(['0001_things'])
  })
})

test('a database can be looked at without bringing it up to date', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-db-'))
  try {
    const path = join(folder, 'kith.db')
    const db = await openDatabase({ url: `sqlite:${path}`, migrations, schema: 'as it is' })
    expect(await listAppliedMigrations(db.reader(alice))).toEqual([])
    await db.close()
    expect(isSqliteFileInUse(path)).toBe(false)
  } finally {
    await rm(folder, { recursive: true })
  }
})
