import type { IdTag } from '@kith/protocol'
import { type SelectQueryBuilder, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { actionsMigrations } from '#features/actions/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { recordReader } from '#harness/recorded-statements.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { withStatus } from '../relation.ts'
import { changeRelation } from '../relation-store.ts'
import { relationsMigrations } from '../relations-migrations.ts'
import { isLive, isReadableBy, type ReadableTables, viewerShape } from './readable-predicate.ts'
import { tenantViewer, type Viewer } from './viewer.ts'
import type { Fact } from './visibility-rules.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.com' as IdTag
const carol = 'carol.example.com' as IdTag
const dora = 'dora.example.com' as IdTag
const eve = 'eve.example.com' as IdTag
const tenantId = 1 as TenantId
const visitor = (facts: Fact[]): Viewer => ({ tenantTag: alice, idTag: bob, facts: new Set(facts) })

describe('viewers share a statement', () => {
  test('when they have the same facts, in whatever order they were found', () => {
    expect(viewerShape(visitor(['identified', 'follows']))).toBe(
      viewerShape(visitor(['follows', 'identified'])),
    )
  })

  test('and not when one has a fact more', () => {
    const shapes = [[], ['identified'], ['identified', 'follows'], ['identified', 'community']] as Fact[][]
    expect(new Set(shapes.map((facts) => viewerShape(visitor(facts)))).size).toBe(shapes.length)
  })
})

describe('a tenant without a caller', () => {
  const facts = ['has-blocks-or-mutes', 'identified', 'acts-as-tenant', 'follows', 'connected']

  test.each<[Tenant['type'], string[]]>([
    ['person', facts],
    ['community', ['community', ...facts]],
  ])('may what its owner may: a %s', (type, expected) => {
    const viewer = tenantViewer({ tenantId, idTag: alice, type })
    expect(viewer).toEqual({ tenantTag: alice, idTag: alice, facts: new Set(expected) })
  })
})

eachDialect('actions', (open) => {
  const start = async () =>
    await open({ migrations: [...federationMigrations, ...relationsMigrations, ...actionsMigrations] })

  test('are live when they are published and have not expired', async () => {
    const db = await start()
    const now = 1000
    const rows = [
      ['published', 'A', null],
      ['answered', 'C', null],
      ['ends in a second', 'A', now + 1],
      ['ends now', 'A', now],
      ['ended', 'C', now - 1],
      ['deleted', 'D', null],
      ['pending', 'P', now + 1],
    ] as const
    await db.transact(tenantId, async (tx) => {
      const tables = tx.tables<{ actions: Record<string, unknown> }>()
      for (const [action_id, status, expires_at] of rows) {
        const action = { tenant_id: tenantId, action_id, status, expires_at, type: 'POST', issuer_tag: alice }
        await tables
          .insertInto('actions')
          .values({ ...action, created_at: 1, issued_at: 1 })
          .execute()
      }
    })
    const live = await db
      .reader(tenantId)
      .tables<ReadableTables>()
      .selectFrom('actions as a')
      .select('a.action_id')
      .where(isLive('a', sql<number>`${now}`))
      .orderBy('a.action_id')
      .execute()
    expect(live.map((row) => row.action_id)).toEqual(['answered', 'ends in a second', 'published'])
  })

  test('of third parties are on a page by a repost, or when a connection addressed them to it', async () => {
    const db = await start()
    const other = 2 as TenantId
    const repost = { unique_key: 'REPOST shown', status: 'A', visibility: 'P' }
    const post = { issuer_tag: carol, visibility: 'P' }
    const rows: [string, boolean, Row, Row?][] = [
      ['of nobody', false, post],
      ['reposted', true, post, repost],
      ['reposted, and answered', true, post, { ...repost, status: 'C' }],
      ['reposted no more', false, post, { ...repost, status: 'D' }],
      ['reposted for who has an identity', false, post, { ...repost, visibility: 'V' }],
      ['reposted for some', false, post, { ...repost, visibility: null }],
      ['reposted by another', false, post, { ...repost, issuer_tag: dora }],
      ['reposted at another tenant', false, post, { ...repost, tenant_id: other }],
      ['another than was reposted', false, post, { ...repost, unique_key: 'REPOST other' }],
      ['that is narrower than its repost', false, { ...post, visibility: 'V' }, repost],
      ['from a friend', true, { ...post, issuer_tag: bob, audience_tag: alice }],
      ['from a friend, to others', false, { ...post, issuer_tag: bob, audience_tag: dora }],
      ['from a stranger', false, { ...post, audience_tag: alice }],
      ['from who asked', false, { ...post, issuer_tag: dora, audience_tag: alice }],
      ['from a blocked friend', false, { ...post, issuer_tag: eve, audience_tag: alice }],
    ]
    await db.transact(tenantId, async (tx) => {
      await changeRelation(tx, bob, { connection: 'connected', at: 1 })
      await changeRelation(tx, dora, { connection: 'asked', at: 1 })
      await changeRelation(tx, eve, { connection: 'connected', ...withStatus('Blocked'), at: 1 })
      await changeRelation(tx.as(other), carol, { connection: 'connected', at: 1 })
      const tables = tx.tables<{ actions: Row }>()
      const common = { tenant_id: tenantId, type: 'POST', status: 'A', created_at: 1, issued_at: 1 }
      for (const [action_id, , action, shows] of rows) {
        await tables
          .insertInto('actions')
          .values({ ...common, action_id, ...action })
          .execute()
        if (!shows) continue
        const unique_key = String(shows.unique_key).replace('shown', action_id)
        const row = { ...common, action_id: `by ${action_id}`, issuer_tag: alice, ...shows, unique_key }
        await tables.insertInto('actions').values(row).execute()
      }
    })
    for (const facts of [[], ['has-blocks-or-mutes']] as Fact[][]) {
      const viewer: Viewer = { tenantTag: alice, idTag: undefined, facts: new Set(facts) }
      const read = await db
        .reader(tenantId)
        .tables<ReadableTables>()
        .selectFrom('actions')
        .select('action_id')
        .where('tenant_id', '=', tenantId)
        .where('action_id', 'not like', 'by %')
        .where(isReadableBy(viewer))
        .execute()
      const readable = rows.filter(([, isReadable]) => isReadable).map(([name]) => name)
      expect(read.map((row) => row.action_id).sort()).toEqual(readable.sort())
    }
  })

  test('are queried by the given names, and for guests by what is public first', async () => {
    const db = await start()
    const asked: { readonly text: string; readonly values: readonly unknown[] }[] = []
    const reader = recordReader(db.reader(tenantId), (text, values) => asked.push({ text, values }))
    const select = async (change: (query: Query) => Query) => {
      const query = reader.tables<ReadableTables>().selectFrom('actions').select('actions.action_id')
      await change(query).execute()
      return asked.splice(0)[0] ?? { text: '', values: [] }
    }
    const viewer = visitor(['identified'])
    const plain = await select((query) => query.where(isReadableBy(viewer)))
    expect(plain.values).toEqual(expect.arrayContaining([alice, bob]))
    const names = { viewerTag: sql<string>`'viewer'`, tenantTag: sql<string>`'tenant'` }
    const named = await select((query) => query.where(isReadableBy(viewer, 'actions', names)))
    expect(named.values).toEqual([])
    expect(named.text).toContain(`'viewer'`)
    expect(named.text).toContain(`'tenant'`)
    const guest: Viewer = { tenantTag: alice, idTag: undefined, facts: new Set() }
    const ofGuest = await select((query) => query.where(isReadableBy(guest)))
    expect(ofGuest.text).toMatch(/ where "actions"\."visibility" = 'P' and \(/)
    expect(plain.text).not.toMatch(/ where "actions"\."visibility" = 'P' and \(/)
  })
})

type Row = Record<string, unknown>
type Query = SelectQueryBuilder<ReadableTables, 'actions', { action_id: string }>
