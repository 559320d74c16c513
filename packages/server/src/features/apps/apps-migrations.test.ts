import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { serverTenant } from '#infra/db/index.ts'
import { appsMigrations, heldOffersMigrations, offerWordsMigrations } from './index.ts'

interface Tables {
  app_offers: Record<string, string | number | null>
}

eachDialect('offers of before', (open) => {
  test('are found by their whole words', async () => {
    const older = [...appsMigrations, ...heldOffersMigrations]
    const before = await open({ migrations: older })
    const row = {
      ...{ publisher_tag: 'a.example', name: 'chess', version: '1.0.0', version_order: '1' },
      ...{
        file_id: 'b1~a',
        capabilities: '[]',
        description: 'A game',
        tags: '["खेल"]',
        words: ' a game chess ख',
      },
      ...{ titles: null, descriptions: '{"hi":"शतरंज"}', file_types: null, created_at: 0 },
    }
    const offers = Array.from({ length: 501 }, (_, at) => ({
      ...row,
      tenant_id: 1 + (at % 2),
      action_id: `a1~${at}`,
    }))
    await before.transact(serverTenant, (tx) =>
      tx.tables<Tables>().insertInto('app_offers').values(offers).execute(),
    )
    const db = await open.again(before, { migrations: [...older, ...offerWordsMigrations] })
    const found = await db
      .reader(serverTenant)
      .tables<Tables>()
      .selectFrom('app_offers')
      .select('words')
      .execute()
    expect(found).toHaveLength(501)
    expect(new Set(found.map(({ words }) => words))).toEqual(new Set([' शतरंज खेल chess a game']))
  })
})
