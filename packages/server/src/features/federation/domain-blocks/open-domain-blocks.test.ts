import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { auditMigrations } from '#features/audit/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { ownerOf } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { federationMigrations } from '../federation-migrations.ts'
import { blockDomain, unblockDomain } from './change-domain-blocks.ts'
import { countBlocks, pageBlocks } from './domain-block-store.ts'
import { openDomainBlocks } from './open-domain-blocks.ts'

const tenant = { tenantId: 1 as TenantId, idTag: 'home.example.com' as IdTag, type: 'person' } as const
const caller = { ...ownerOf(tenant), isAdmin: true }
const ip = '192.0.2.1'

eachDialect('domain blocks', (open) => {
  async function lab() {
    const clock = new TestClock()
    const db = await open({ migrations: [...auditMigrations, ...federationMigrations], clock })
    const domainBlocks = openDomainBlocks({ db, clock })
    const deps = { db, clock, domainBlocks }
    return {
      ...deps,
      block: (domain: string, reason?: string) =>
        blockDomain(deps, { tenant, caller, ip, domain, ...(reason === undefined ? {} : { reason }) }),
      unblock: (domain: string) => unblockDomain(deps, { tenant, caller, ip, domain }),
    }
  }

  test('apply to the domain and everything below it, immediately', async () => {
    const { domainBlocks, block, unblock } = await lab()
    expect(await domainBlocks.isBlocked('spam.example')).toBe(false)
    await block('spam.example')
    for (const name of ['spam.example', 'a.spam.example', 'b.a.spam.example'])
      expect(await domainBlocks.isBlocked(name)).toBe(true)
    for (const name of ['example', 'notspam.example', 'spam.example.org', 'localhost'])
      expect(await domainBlocks.isBlocked(name)).toBe(false)
    await unblock('spam.example')
    expect(await domainBlocks.isBlocked('spam.example')).toBe(false)
  })

  test('set by another process apply within five seconds', async () => {
    const { db, clock, domainBlocks, block } = await lab()
    const elsewhere = openDomainBlocks({ db, clock })
    expect(await elsewhere.isBlocked('spam.example')).toBe(false)
    await block('spam.example')
    expect(await elsewhere.isBlocked('spam.example')).toBe(false)
    clock.advance(5_000)
    expect(await elsewhere.isBlocked('spam.example')).toBe(true)
    expect(await domainBlocks.isBlocked('spam.example')).toBe(true)
  })

  test('exist once per domain: a second one replaces the reason', async () => {
    const { db, block } = await lab()
    await block('spam.example', 'one')
    await block('spam.example', 'two')
    const reader = db.reader(serverTenant)
    expect(await countBlocks(reader)).toBe(1)
    const { items } = await pageBlocks(reader, { cursor: undefined, limit: 10 })
    expect(items).toMatchObject([{ domain: 'spam.example', reason: 'two' }])
  })

  test('cannot include the server itself', async () => {
    const { block, unblock } = await lab()
    for (const domain of ['home.example.com', 'example.com'])
      await expect(block(domain)).rejects.toMatchObject({ code: 'E-VALIDATION' })
    await expect(unblock('spam.example')).rejects.toMatchObject({ code: 'E-NOTFOUND' })
  })
})
