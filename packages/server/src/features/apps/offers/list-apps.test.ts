import type { ActionId, FileId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { changeRelation, type Relation } from '#features/relations/index.ts'
import { admitTenant, type HostedTenant, openTenants } from '#features/tenants/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { TestClock } from '#harness/test-clock.ts'
import { identified } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { listUpdated, putInstalled } from '../install/installed-app-store.ts'
import { listApps } from './list-apps.ts'
import { deleteOldOffers, findOffer, findOfferedApp, insertOffer } from './offer-store.ts'
import { findPublisher } from './publishers.ts'

type Row = Record<string, unknown>

eachDialect('the apps of a server', (open) => {
  async function openLab(openDatabase: OpenTestDatabase['forPlans'] = open) {
    const clock = new TestClock()
    const db = await openDatabase({ migrations, clock })
    const tenants = openTenants({ db, clock })
    const admit = (name: string, type: 'person' | 'community' = 'person') =>
      db.transact(serverTenant, (tx) =>
        admitTenant(tx, { idTag: `${name}.example.com` as IdTag, type, createdAt: 1, isBase: false }, 1),
      )
    let count = 0
    return {
      clock,
      db,
      deps: { db, clock, tenants },
      admit,
      relate: (tenant: HostedTenant, other: HostedTenant, change: Partial<Relation>) =>
        db.transact(tenant.tenantId, async (tx) => {
          await changeRelation(tx, other.idTag, { ...change, at: 1 })
        }),
      async offer(by: HostedTenant, given: { name: string; version?: string; action?: Row; words?: string }) {
        count += 1
        const actionId = `a1~${String(count).padStart(43, '0')}` as ActionId
        const { name, version = '1.0.0', words = name.toLowerCase() } = given
        await db.transact(by.tenantId, async (tx) => {
          const row = { tenant_id: tx.tenantId, action_id: actionId, type: 'APKG', issuer_tag: by.idTag }
          const times = { created_at: count, issued_at: count }
          await tx
            .tables<{ actions: Row }>()
            .insertInto('actions')
            .values({ ...row, ...times, status: 'A', visibility: 'P', ...given.action })
            .execute()
          await insertOffer(tx, {
            ...{ publisherId: by.tenantId, publisherTag: by.idTag, actionId, name, version },
            ...{ fileId: `b1~${count}` as FileId, capabilities: [], description: undefined, tags: [] },
            ...{ createdAt: count, words: ` ${words}` },
          })
        })
        return actionId
      },
    }
  }

  const namesFor = async (
    { deps }: Awaited<ReturnType<typeof openLab>>,
    tenant: HostedTenant,
    reader: HostedTenant = tenant,
    query: object = {},
  ) => {
    const caller = identified(reader.idTag, { tokenUse: 'login', role: 'leader' })
    const { items } = await listApps(deps, { tenant, caller, ...query })
    return items.map(({ name, version }) => `${name} ${version}`)
  }

  test('are shown as far as each publisher shows them, in one list', async () => {
    const lab = await openLab()
    const [ann, bob, club, cem] = await Promise.all([
      lab.admit('ann'),
      lab.admit('bob'),
      lab.admit('club', 'community'),
      lab.admit('cem'),
    ])
    for (const publisher of [bob, club]) await lab.relate(ann, publisher, { isFollowing: true })
    await lab.relate(bob, ann, { connection: 'connected' })
    await lab.relate(club, ann, { role: 'follower' })
    for (const publisher of [ann, bob, club, cem])
      for (const visibility of ['P', 'F', 'C', null])
        await lab.offer(publisher, {
          name: `${publisher.idTag.split('.')[0]} ${visibility}`,
          action: { visibility },
        })
    await lab.offer(bob, { name: 'deleted', action: { status: 'D' } })
    await lab.offer(bob, { name: 'over', action: { expires_at: 1 } })
    const shown = ['club F', 'club P', 'bob C', 'bob F', 'bob P', 'ann null', 'ann C', 'ann F', 'ann P']
    expect(await namesFor(lab, ann)).toEqual(shown.map((name) => `${name} 1.0.0`))
    expect(await namesFor(lab, ann, cem)).toEqual(['club P 1.0.0', 'bob P 1.0.0', 'ann P 1.0.0'])
    expect(await namesFor(lab, cem, ann)).toEqual(['cem P 1.0.0'])
  })

  test('are shown in their newest version that is shown, and found by words', async () => {
    const lab = await openLab()
    const ann = await lab.admit('ann')
    const bob = await lab.admit('bob')
    await lab.relate(ann, bob, { isFollowing: true })
    for (const version of ['1.9.0', '1.10.0', '1.10.0-rc.1']) await lab.offer(bob, { name: 'Notes', version })
    await lab.offer(bob, { name: 'Notes', version: '2.0.0', action: { visibility: 'C' } })
    await lab.offer(ann, { name: 'Notes', version: '0.1.0', words: 'notes 100%' })
    expect(await namesFor(lab, ann)).toEqual(['Notes 0.1.0', 'Notes 1.10.0'])
    expect(await namesFor(lab, ann, ann, { search: '100' })).toEqual(['Notes 0.1.0'])
    expect(await namesFor(lab, ann, ann, { search: 'not', offset: 1, limit: 1 })).toEqual(['Notes 1.10.0'])
    await lab.db.transact(bob.tenantId, (tx) => deleteOldOffers(tx, 'Notes', 2))
    await lab.relate(bob, ann, { connection: 'connected' })
    expect(await namesFor(lab, ann)).toEqual(['Notes 0.1.0', 'Notes 2.0.0'])
    await lab.relate(bob, ann, { connection: 'disconnected' })
    expect(await namesFor(lab, ann)).toEqual(['Notes 0.1.0', 'Notes 1.10.0'])
  })

  test('are updated where that was chosen, tenant by tenant', async () => {
    const { db } = await openLab()
    const publisherId = 1 as TenantId
    const app = (autoUpdate: boolean, name = 'Notes') => ({
      ...{ publisherTag: 'ann.example.com' as IdTag, publisherId, autoUpdate },
      manifest: { id: 'a', name, version: '1.0.0', entry: 'a.html' },
      ...{
        actionId: 'a' as ActionId,
        fileId: 'f' as FileId,
        hash: 'h' as never,
        installedAt: 1,
        updatedAt: 1,
      },
    })
    for (const [tenantId, installed] of [
      [2, app(true)],
      [3, app(false)],
      [4, app(true, 'Other')],
      [5, app(true)],
      [6, app(true)],
    ] as const)
      await db.transact(tenantId as TenantId, (tx) => putInstalled(tx, installed, []))
    const page = { publisherId, name: 'Notes', after: 2 as TenantId, limit: 2 }
    expect(await listUpdated(db.reader(serverTenant), page)).toEqual([5, 6])
  })

  test('are read by indexes', async () => {
    const lab = await openLab(open.forPlans)
    const ann = await lab.admit('ann')
    const bob = await lab.admit('bob')
    await lab.relate(ann, bob, { isFollowing: true })
    const actionId = await lab.offer(bob, { name: 'Notes' })
    const steps = await planStatements(lab.db, async (db: Database) => {
      const deps = { ...lab.deps, db, tenants: lab.deps.tenants }
      const caller = identified(ann.idTag, { tokenUse: 'login', role: 'leader' })
      await listApps(deps, { tenant: ann, caller, search: 'note' })
      const reader = db.reader(serverTenant)
      await findOfferedApp(reader, actionId)
      const publisher = await findPublisher(deps, { tenant: ann, readerTag: ann.idTag }, bob.tenantId)
      await findOffer(reader, { publishers: publisher ? [publisher] : [], now: 1, actionId })
      const page = { publisherId: bob.tenantId, name: 'Notes', after: serverTenant, limit: 2 }
      await listUpdated(reader, page)
    })
    // All offers of a server are read by their publishers, in the index alone.
    const isKnown = /^SCAN o USING COVERING INDEX app_offers_by_publisher$/
    // The labels of one name, where domains are blocked.
    const isOfName = /^SCAN (above|CONSTANT ROW)$/
    const dear = steps.filter(
      (step) => /^SCAN |Seq Scan/.test(step) && !isKnown.test(step) && !isOfName.test(step),
    )
    expect(dear).toEqual([])
  })
})
