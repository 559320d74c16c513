import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openDatabase, type TenantId } from '#infra/db/index.ts'
import { filesMigrations, fileTableMigrations, findFile } from './index.ts'

const tenants = [1, 2].map((id) => id as TenantId)

interface Rows {
  files: object
  file_tags: object
  file_variants: object
}

eachDialect('Files of before', (open) => {
  test('have the size of their picture, a name that is searched, and tags that are spelt once', async () => {
    const { url } = await open.place()
    const former = await openDatabase({ url, migrations: fileTableMigrations })
    const common = {
      file_tp: 'BLOB',
      status: 'A',
      owner_tag: 'a.example',
      preset: 'default',
      content_type: 'image/jpeg',
    }
    for (const tenantId of tenants)
      await former.transact(tenantId, async (tx) => {
        const tables = tx.tables<Rows>()
        for (let at = 0; at < 700; at += 1) {
          const key = { tenant_id: tenantId, file_id: `b1~${String(at).padStart(4, '0')}` }
          const times = { created_at: 0, modified_at: 0, tags: '[]', size: 1 }
          const file_name = at === 1 ? 'gpj.\u202eexe e\u0301 ' : `Émile ${tenantId} ${at}`
          const row = { ...common, ...key, ...times, file_name }
          await tables.insertInto('files').values(row).execute()
        }
        const tagged = ['e\u0301te\u0301', 'été', ' x ', '\u200b']
        const key0 = { tenant_id: tenantId, file_id: 'b1~0000' }
        await tables
          .updateTable('files')
          .set({ tags: JSON.stringify(tagged) })
          .where(sql<boolean>`file_id = 'b1~0000'`)
          .execute()
        await tables
          .insertInto('file_tags')
          .values(tagged.map((tag) => ({ ...key0, tag })))
          .execute()
        for (const [at, odd] of ['null', '[1,null,"x"]', '{"a":1}', '"abc"', 'nope'].entries())
          await tables
            .updateTable('files')
            .set({ tags: odd })
            .where(sql<boolean>`file_id = ${`b1~002${at}`}`)
            .execute()
        const original = { variant: 'orig', blob_hash: 'x', width: 30, height: 20, size: 1, format: 'jpeg' }
        const key = { tenant_id: tenantId, file_id: 'b1~0003' }
        await tables
          .insertInto('file_variants')
          .values({ ...key, ...original })
          .execute()
      })
    await former.close()
    const db = await openDatabase({ url, migrations: filesMigrations })
    for (const tenantId of tenants) {
      const rows = await db
        .reader(tenantId)
        .tables<{ files: { tenant_id: number; search_name: string } }>()
        .selectFrom('files')
        .select('search_name')
        .where('tenant_id', '=', tenantId)
        .execute()
      for (const [at, tags] of [[], ['x'], [], [], []].entries())
        expect((await findFile(db.reader(tenantId), `b1~002${at}` as never))?.tags).toEqual(tags)
      const named = await findFile(db.reader(tenantId), 'b1~0001' as never)
      expect(named?.fileName).toBe('gpj.exe é')
      expect(rows.filter((row) => row.search_name.startsWith(`emile ${tenantId} `))).toHaveLength(699)
      expect((await findFile(db.reader(tenantId), 'b1~0000' as never))?.tags).toEqual(['été', 'x'])
      const tags = await db
        .reader(tenantId)
        .tables<{ file_tags: { tenant_id: number; tag: string } }>()
        .selectFrom('file_tags')
        .select('tag')
        .where('tenant_id', '=', tenantId)
        .orderBy('tag')
        .execute()
      expect(tags.map(({ tag }) => tag)).toEqual(['x', 'x', 'été'])
      const picture = async (fileId: string) =>
        (await findFile(db.reader(tenantId), fileId as never))?.picture
      expect(await picture('b1~0003')).toEqual({ width: 30, height: 20, takenAt: undefined })
      expect(await picture('b1~0004')).toBeUndefined()
    }
    await db.close()
  })
})
