import type { Generated, Insertable } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Database, type Migration, type MigrationSchema, openDatabase, serverTenant } from './index.ts'

interface Tables {
  pets: { pet_id: Generated<number>; name: string; kind?: string; owner_id?: number | null }
  owners: { tenant_id: number; owner_id: number; name: string }
  kith_migrations: { position: number; id: string; applied_at: number }
}

const createPets: Migration = {
  id: '0001_pets',
  up: (schema) => schema.createTable('pets', { pet_id: 'autoincrement', name: 'text' }),
}
const addKind: Migration = {
  id: '0002_kind',
  async up(schema) {
    await schema.addColumn('pets', 'kind', "text default 'cat'")
    await schema.tables<Tables>().insertInto('pets').values({ name: 'Mici' }).execute()
  },
}
const failing: Migration = {
  id: '0003_failing',
  async up(schema) {
    await schema.createTable('toys', { toy_id: 'autoincrement' })
    throw new Error('out of toys')
  },
}
const clock = { now: () => 1_700_000_000_000, wakeAt: () => () => undefined }

const applied = async (db: Database) =>
  db
    .reader(serverTenant)
    .tables<Tables>()
    .selectFrom('kith_migrations')
    .select(['position', 'id', 'applied_at'])
    .orderBy('position')
    .execute()
const pets = (db: Database) =>
  db.reader(serverTenant).tables<Tables>().selectFrom('pets').select(['name', 'kind']).execute()

eachDialect('migrations', (open) => {
  test('are applied in order, once, and written down', async () => {
    const db = await open({ migrations: [createPets, addKind], clock })
    await open.again(db, { migrations: [createPets, addKind], clock })
    expect(await applied(db)).toEqual([
      { position: 0, id: '0001_pets', applied_at: 1_700_000_000 },
      { position: 1, id: '0002_kind', applied_at: 1_700_000_000 },
    ])
    expect(await pets(db)).toEqual([{ name: 'Mici', kind: 'cat' }])
  })

  test('go on where an older program stopped', async () => {
    const db = await open({ migrations: [createPets] })
    const newer = await open.again(db, { migrations: [createPets, addKind] })
    expect(await pets(newer)).toHaveLength(1)
  })

  test('leave the database as it was when one fails', async () => {
    const db = await open({ migrations: [createPets] })
    const upgrade = open.again(db, { migrations: [createPets, addKind, failing] })
    await expect(upgrade).rejects.toThrow('out of toys')
    expect(await applied(db)).toHaveLength(1)
    const repaired = await open.again(db, { migrations: [createPets, addKind] })
    expect(await pets(repaired)).toHaveLength(1)
  })

  test('refuse a database that a newer program has changed', async () => {
    const db = await open({ migrations: [createPets, addKind] })
    await expect(open.again(db, { migrations: [createPets] })).rejects.toThrow(
      'has the migration 0002_kind, which this program does not know',
    )
  })

  test('refuse a database where they came in another order', async () => {
    const db = await open({ migrations: [createPets] })
    await expect(open.again(db, { migrations: [addKind, createPets] })).rejects.toThrow(
      'has the migration 0001_pets where this program has 0002_kind',
    )
    expect(await applied(db)).toHaveLength(1)
  })

  test('are refused when one is listed twice', async () => {
    await expect(open({ migrations: [createPets, createPets] })).rejects.toThrow('listed twice')
  })

  test('are applied once when several processes start together', async () => {
    const place = await open.place()
    const migrations = [createPets, addKind]
    const databases = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ ...place, migrations })),
    )
    expect(await pets(databases[0]!)).toHaveLength(1)
    await Promise.all(databases.map((db) => db.close()))
  })
})

eachDialect('a migration schema', (open) => {
  const openWith = (up: (schema: MigrationSchema) => Promise<void>) =>
    open({ migrations: [{ id: '0001_all', up }] })

  test('makes keys, defaults and references that hold', async () => {
    const db = await openWith(async (schema) => {
      await schema.createTable(
        'owners',
        { tenant_id: 'integer', owner_id: 'integer', name: 'text' },
        { primaryKey: ['tenant_id', 'owner_id'], unique: [['tenant_id', 'name']], clustered: true },
      )
      await schema.createTable(
        'pets',
        { pet_id: 'autoincrement', tenant_id: 'integer default 1', name: 'text', owner_id: 'integer null' },
        {
          foreignKeys: [
            {
              columns: ['tenant_id', 'owner_id'],
              references: 'owners',
              on: ['tenant_id', 'owner_id'],
              onDelete: 'cascade',
            },
          ],
        },
      )
      await schema.createIndex('pets_by_name', 'pets', ['tenant_id', 'name desc'], {
        unique: true,
        where: 'owner_id is not null',
      })
    })
    const addPet = (name: string, owner_id: number | null) =>
      db.transact(serverTenant, (tx) =>
        tx.tables<Tables>().insertInto('pets').values({ name, owner_id }).returning('pet_id').execute(),
      )
    const addOwner = (owner_id: number, name: string) =>
      db.transact(serverTenant, (tx) =>
        tx.tables<Tables>().insertInto('owners').values({ tenant_id: 1, owner_id, name }).execute(),
      )
    await addOwner(1, 'Ann')
    await expect(addOwner(1, 'Eve')).rejects.toThrow()
    await expect(addOwner(2, 'Ann')).rejects.toThrow()
    expect(await addPet('Mici', 1)).toEqual([{ pet_id: 1 }])
    await expect(addPet('Mici', 1)).rejects.toThrow()
    await expect(addPet('Bodri', 7)).rejects.toThrow()
    await addPet('Mici', null)
    await addPet('Mici', null)
    await db.transact(serverTenant, (tx) => tx.tables<Tables>().deleteFrom('owners').execute())
    const left = await db
      .reader(serverTenant)
      .tables<Tables>()
      .selectFrom('pets')
      .select('owner_id')
      .execute()
    expect(left).toEqual([{ owner_id: null }, { owner_id: null }])
  })

  test('refuses a value of the wrong type and an absent one', async () => {
    const db = await openWith((schema) => schema.createTable('pets', { pet_id: 'integer', name: 'text' }))
    const insert = (row: object) =>
      db.transact(serverTenant, (tx) =>
        tx
          .tables<Tables>()
          .insertInto('pets')
          .values(row as Insertable<Tables['pets']>)
          .execute(),
      )
    await expect(insert({ pet_id: 'one', name: 'x' })).rejects.toThrow()
    await expect(insert({ pet_id: 1 })).rejects.toThrow()
    await expect(insert({ pet_id: 1, name: null })).rejects.toThrow()
    await insert({ pet_id: 1, name: 'x' })
  })

  test('runs what only one dialect needs, and takes tables and indexes away', async () => {
    const db = await openWith(async (schema) => {
      await schema.createTable('toys', { toy_id: 'autoincrement', name: 'text' })
      await schema.createIndex('toys_by_name', 'toys', ['lower(name)'])
      await schema.dropIndex('toys_by_name')
      await schema.dropTable('toys')
      await schema.run({
        sqlite: 'create table pets (pet_id integer, name text)',
        postgres: 'create table pets (pet_id bigint, name text)',
      })
      await schema.run({ sqlite: undefined, postgres: undefined })
    })
    const rows = await db.reader(serverTenant).tables<Tables>().selectFrom('pets').select('name').execute()
    expect(rows).toEqual([])
  })
})
