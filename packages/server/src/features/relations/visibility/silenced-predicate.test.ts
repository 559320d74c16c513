import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { federationMigrations } from '#features/federation/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { relationsMigrations } from '../relations-migrations.ts'
import { isSilencedHere } from './silenced-predicate.ts'

interface Tables {
  domain_blocks: { tenant_id: number; domain: string; created_by: string; created_at: number }
}

eachDialect('an identity in a blocked domain', (open) => {
  const isSilenced = async (idTag: string) => {
    const db = await open({ migrations: [...federationMigrations, ...relationsMigrations] })
    await db.transact(serverTenant, async (tx) => {
      const values = { domain: 'spam.example', created_by: 'admin.example.com', created_at: 1 }
      const blocks = tx.tables<Tables>().insertInto('domain_blocks')
      await blocks.values({ tenant_id: serverTenant, ...values }).execute()
    })
    return await isSilencedHere(db.reader(2 as TenantId), idTag as IdTag)
  }

  test.each([
    ['that is the domain', 'spam.example'],
    ['below it', 'a.b.spam.example'],
    ['with an A-label', 'xn--mnchen-3ya.spam.example'],
    ['with digits and hyphens', '1-2--3.spam.example'],
    ['of 120 labels', `${'a.'.repeat(120)}spam.example`],
  ])('is silenced: one %s', async (_, idTag) => {
    expect(await isSilenced(idTag)).toBe(true)
  })

  test.each([
    ['above it', 'example'],
    ['that only ends alike', 'nospam.example'],
    ['that only begins alike', 'spam.example.org'],
    ['beside it', 'ham.example'],
  ])('is heard: one %s', async (_, idTag) => {
    expect(await isSilenced(idTag)).toBe(false)
  })
})
