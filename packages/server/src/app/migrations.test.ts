import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Migration, serverTenant } from '#infra/db/index.ts'
import { migrations } from './migrations.ts'

// As development versions began, before there was one migration for each room.
const development: readonly Migration[] = [
  { id: '0010_keys', up: (schema) => schema.createTable('signing_keys', { tenant_id: 'integer' }) },
  { id: '0006_jobs', up: (schema) => schema.createTable('jobs', { job_id: 'autoincrement' }) },
]

eachDialect('A database of a development version', (open) => {
  test('is refused with its reason, and stays as it is', async () => {
    const db = await open({ migrations: development })
    await expect(open.again(db, { migrations })).rejects.toThrow(
      'has the migration 0010_keys where this program has 0001_keys',
    )
    const tables = db
      .reader(serverTenant)
      .tables<Record<string, { id: string; position: number; tenant_id: number }>>()
    const applied = await tables.selectFrom('kith_migrations').select('id').orderBy('position').execute()
    expect(applied).toEqual([{ id: '0010_keys' }, { id: '0006_jobs' }])
    expect(await tables.selectFrom('signing_keys').selectAll().execute()).toEqual([])
    await expect(tables.selectFrom('tenants').select('tenant_id').execute()).rejects.toThrow()
    await open.again(db, { migrations: development })
  })
})
