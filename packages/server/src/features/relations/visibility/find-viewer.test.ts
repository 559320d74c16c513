import type { CommunityRole, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { federationMigrations } from '#features/federation/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { recordReader } from '#harness/recorded-statements.ts'
import { type Caller, guest, identified, type Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { withStatus } from '../relation.ts'
import { changeRelation } from '../relation-store.ts'
import { relationsMigrations } from '../relations-migrations.ts'
import { findViewer } from './find-viewer.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.com' as IdTag
const carol = 'carol.example.com' as IdTag
const person: Tenant = { tenantId: 1 as TenantId, idTag: alice, type: 'person' }
const community: Tenant = { ...person, type: 'community' }

function caller(idTag: IdTag, role: CommunityRole, isOwner = false): Caller {
  return identified(idTag, { tokenUse: 'login', role, isOwner })
}
const owner = caller(alice, 'leader', true)
const moderator = caller(bob, 'moderator')
const visitor = caller(bob, 'public')

eachDialect('the viewer that is found', (open) => {
  const start = async (block: 'none' | 'of the tenant' | 'of the server') => {
    const db = await open({ migrations: [...federationMigrations, ...relationsMigrations] })
    await db.transact(person.tenantId, async (tx) => {
      await changeRelation(tx, bob, { isFollower: true, at: 1 })
      const blocking = block === 'of the server' ? tx.as(serverTenant) : tx
      if (block !== 'none') await changeRelation(blocking, carol, { ...withStatus('Blocked'), at: 1 })
    })
    return db.reader(person.tenantId)
  }
  const actsAs = ['acts-as-tenant', 'connected', 'follows', 'identified']
  const blocks = 'has-blocks-or-mutes'

  test.each<[string, Tenant, Caller, readonly string[], boolean, number]>([
    ['the owner', person, owner, actsAs, true, 1],
    ['a visitor of a person', person, visitor, ['follows', 'identified'], false, 2],
    ['a guest of a person', person, guest, [], false, 1],
    ['an owner of a community', community, owner, ['community', ...actsAs], true, 1],
    ['a moderator', community, moderator, ['community', ...actsAs], true, 1],
    ['a visitor of a community', community, visitor, ['community', 'follows', 'identified'], true, 3],
    ['a guest of a community', community, guest, ['community'], true, 2],
  ])('knows of blocks where they matter: %s', async (_, tenant, who, facts, knowsBlocks, queries) => {
    for (const block of ['none', 'of the tenant', 'of the server'] as const) {
      const asked: string[] = []
      const reader = recordReader(await start(block), (text) => asked.push(text))
      const viewer = await findViewer(reader, tenant, who)
      const silences =
        block === 'of the server' ? ['silences-no-domain'] : ['silences-no-domain', 'silences-no-identity']
      const isActing = facts.includes('acts-as-tenant')
      const known = [
        ...facts,
        ...(knowsBlocks && block !== 'none' ? [blocks] : []),
        ...(isActing ? [] : silences),
      ]
      expect([...viewer.facts].sort()).toEqual([...known].sort())
      expect(asked).toHaveLength(queries)
      // For one action its issuer is looked up in any case.
      asked.length = 0
      const ofOne = await findViewer(reader, tenant, who, 'one')
      expect([...ofOne.facts].sort()).toEqual([...(knowsBlocks ? [...facts, blocks] : facts)].sort())
      expect(asked).toHaveLength(queries - (knowsBlocks ? 1 : 0) - (isActing ? 0 : 1))
    }
  })

  test('has no identity where the tenant or the server blocks it', async () => {
    for (const block of ['of the tenant', 'of the server'] as const) {
      const viewer = await findViewer(await start(block), person, caller(carol, 'public'), 'one')
      expect(viewer).toEqual({ tenantTag: alice, idTag: undefined, facts: new Set() })
    }
    const viewer = await findViewer(await start('none'), person, caller(carol, 'public'), 'one')
    expect(viewer).toEqual({ tenantTag: alice, idTag: carol, facts: new Set(['identified']) })
  })
})
