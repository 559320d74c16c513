import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openDatabase, serverTenant } from '#infra/db/index.ts'
import { listOwnWithName, profilesMigrations, profileTableMigrations } from './index.ts'

eachDialect('profiles of before', (open) => {
  test('are found by their names', async () => {
    const { url } = await open.place()
    const former = await openDatabase({ url, migrations: profileTableMigrations })
    const row = { type: 'person', created_at: 0, updated_at: 0 }
    await former.transact(serverTenant, async (tx) => {
      const values = Array.from({ length: 1_001 }, (_, at) => ({
        ...{ ...row, tenant_id: at + 1, id_tag: `p${String(at).padStart(4, '0')}.localhost` },
        name: at === 1_000 ? 'Émile Ångström' : 'Ada',
      }))
      values.push({ ...row, tenant_id: 2_000, id_tag: 'xn--bcher-kva.localhost', name: 'Books' })
      for (const one of values)
        await tx.tables<{ profiles: object }>().insertInto('profiles').values(one).execute()
    })
    await former.close()
    const db = await openDatabase({ url, migrations: profilesMigrations })
    const found = await listOwnWithName(db.reader(serverTenant), 'ÅNGS', 10)
    expect(found).toEqual(['p1000.localhost'])
    expect(await listOwnWithName(db.reader(serverTenant), 'BÜCH', 10)).toEqual(['xn--bcher-kva.localhost'])
    await db.close()
  })
})
