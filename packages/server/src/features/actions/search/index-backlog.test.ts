import type { ActionTypeName } from '@kith/protocol'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { actionLab, guest } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { indexBacklog } from './reindex-actions.ts'

interface Tables {
  action_tags: { tenant_id: number; tag: string; action_id: string }
  action_texts: { rowid: number; tenant_id: number }
  search_backlog: { tenant_id: number; after_seq: number }
}

eachDialect('actions that were indexed by a former form', (open) => {
  const openLab = actionLab(open)
  const post = (text: string, more: object = {}) => ({
    type: 'POST' as ActionTypeName,
    content: { text, ...more },
  })

  /** Two tenants whose actions in Hindi are indexed as they once were: under their first letter, without a word. */
  async function start() {
    const lab = await openLab()
    const [alice, bob] = [await lab.makeTenant('alice.example.com'), await lab.makeTenant('bob.example.com')]
    for (const who of [alice, bob]) {
      await who.create(post('plain words', { tags: ['kept'] }))
      for (let at = 0; at < 201; at += 1) await who.create(post(`#हिन्दी शब्द${at}`))
      await who.create(post('अंत', { tags: [' été ', 'e\u0301te\u0301'] }))
    }
    await lab.db.transact(serverTenant, async (tx) => {
      const tables = tx.tables<Tables>()
      await tables.updateTable('action_tags').set({ tag: 'ह' }).where('tag', '=', 'हिन्दी').execute()
      const rest = sql<boolean>`${sql.ref(tx.dialect === 'sqlite' ? 'rowid' : 'seq')} > 0`
      await tables.deleteFrom('action_texts').where(rest).execute()
      for (const { tenant } of [alice, bob])
        await tables
          .insertInto('search_backlog')
          .values({ tenant_id: tenant.tenantId, after_seq: 0 })
          .execute()
    })
    const backlog = async () =>
      (await lab.db.reader(serverTenant).tables<Tables>().selectFrom('search_backlog').selectAll().execute())
        .length
    return { ...lab, alice, bob, backlog }
  }

  test('are found by their whole words and tags', async () => {
    const { db, alice, bob, backlog } = await start()
    for (const who of [alice, bob]) expect(await who.list({ search: 'शब्द7' })).toEqual([])
    await indexBacklog({ db })
    for (const who of [alice, bob]) {
      expect(await who.list({ search: 'शब्द', limit: 200 })).toHaveLength(200)
      expect(await who.list({ search: 'शब्द20' })).toHaveLength(2)
      expect(await who.list({ tag: 'हिन्दी', limit: 200 })).toHaveLength(200)
      expect(await who.as(guest).list({ search: 'शब्द20', tag: 'हिन्दी', type: ['POST'] })).toHaveLength(2)
      for (const tag of ['été', 'e\u0301te\u0301', ' été'])
        expect(await who.list({ tag })).toMatchObject([{ content: { text: 'अंत' } }])
      expect(await who.list({ tag: 'ह' })).toEqual([])
      expect(await who.list({ tag: 'kept' })).toHaveLength(1)
    }
    expect(await backlog()).toBe(0)
  })

  test('are indexed from where a process has ended', async () => {
    const { db, bob, alice, backlog } = await start()
    let portions = 0
    const ending: Pick<Database, 'reader' | 'transact'> = {
      reader: (tenantId) => db.reader(tenantId),
      transact: (tenantId, work, options) => {
        portions += 1
        if (portions === 2) throw new Error('The process ends')
        return db.transact(tenantId, work, options)
      },
    }
    await expect(indexBacklog({ db: ending as Database })).rejects.toThrow('The process ends')
    expect(await backlog()).toBe(2)
    await indexBacklog({ db })
    for (const who of [alice, bob]) expect(await who.list({ search: 'शब्द200' })).toHaveLength(1)
    expect(await backlog()).toBe(0)
  })
})
