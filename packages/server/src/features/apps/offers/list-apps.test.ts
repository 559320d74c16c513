import type { ActionId, FileId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { changeRelation, findViewer, type Relation } from '#features/relations/index.ts'
import { admitTenant, type HostedTenant } from '#features/tenants/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Caller, guest, identified, ownerOf } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { InstalledApp } from '../install/installed-app.ts'
import { putInstalled } from '../install/installed-app-store.ts'
import { listApps } from './list-apps.ts'
import { deleteOldOffers, findNewestOffer, findOffer, insertOffer } from './offer-store.ts'

type Row = Record<string, unknown>

const bob = 'bob.example.net' as IdTag
const cem = 'cem.example.net' as IdTag

eachDialect('the apps of a tenant', (open) => {
  async function openLab(openDatabase: OpenTestDatabase['forPlans'] = open) {
    const clock = new TestClock()
    const db = await openDatabase({ migrations, clock })
    let count = 0
    return {
      db,
      deps: { db, clock },
      admit: (name: string, type: 'person' | 'community' = 'person') =>
        db.transact(serverTenant, (tx) =>
          admitTenant(tx, { idTag: `${name}.example.com` as IdTag, type, createdAt: 1, isBase: false }, 1),
        ),
      relate: (tenantId: TenantId, idTag: IdTag, change: Partial<Relation>) =>
        db.transact(tenantId, async (tx) => {
          await changeRelation(tx, idTag, { ...change, at: 1 })
        }),
      async offersOf({ tenantId }: HostedTenant, publisherTag: IdTag) {
        const rows = await db
          .reader(tenantId)
          .tables<{ app_offers: { tenant_id: number; publisher_tag: string; version: string } }>()
          .selectFrom('app_offers')
          .select('version')
          .where('tenant_id', '=', tenantId)
          .where('publisher_tag', '=', publisherTag)
          .orderBy('version')
          .execute()
        return rows.map(({ version }) => version)
      },
      async offer(
        to: HostedTenant,
        given: { by?: IdTag; name: string; version?: string; action?: Row; words?: string },
      ) {
        count += 1
        const actionId = `a1~${String(count).padStart(43, '0')}` as ActionId
        const { by = to.idTag, name, version = '1.0.0', words = name.toLowerCase() } = given
        await db.transact(to.tenantId, async (tx) => {
          const row = { tenant_id: tx.tenantId, action_id: actionId, type: 'APKG', issuer_tag: by }
          const times = { created_at: count, issued_at: count }
          const shown = {
            status: 'A',
            visibility: 'P',
            feed_only: Number(by !== to.idTag && to.type === 'person'),
          }
          await tx
            .tables<{ actions: Row }>()
            .insertInto('actions')
            .values({ ...row, ...times, ...shown, ...given.action })
            .execute()
          await insertOffer(tx, {
            ...{ publisherTag: by, actionId, name, version, fileId: `b1~${count}` as FileId },
            ...{ capabilities: [], description: undefined, tags: [], createdAt: count, words: ` ${words}` },
          })
        })
        return actionId
      },
    }
  }
  type Lab = Awaited<ReturnType<typeof openLab>>

  const visitor = (idTag: IdTag) => identified(idTag, { tokenUse: 'proxy', role: 'public' })
  const namesFor = async (
    { deps }: Lab,
    tenant: HostedTenant,
    caller: Caller = ownerOf(tenant),
    query: object = {},
  ) => {
    const { items } = await listApps(deps, { tenant, caller, ...query })
    return items.map(({ name, version }) => `${name} ${version}`)
  }

  test('are its own and those of publishers that it chose, as far as the reader may read the actions', async () => {
    const lab = await openLab()
    const ann = await lab.admit('ann')
    const club = await lab.admit('club', 'community')
    for (const { tenantId } of [ann, club]) await lab.relate(tenantId, bob, { isFollowing: true })
    for (const to of [ann, club])
      for (const visibility of ['P', null]) {
        await lab.offer(to, { name: `own ${visibility}`, action: { visibility } })
        await lab.offer(to, {
          by: bob,
          name: `bob ${visibility}`,
          action: { visibility, audience_tag: to.idTag },
        })
        await lab.offer(to, { by: cem, name: `cem ${visibility}`, action: { visibility } })
      }
    await lab.offer(ann, { by: bob, name: 'deleted', action: { status: 'D' } })
    await lab.offer(ann, { by: bob, name: 'over', action: { expires_at: 1 } })
    const all = ['bob null', 'own null', 'bob P', 'own P'].map((name) => `${name} 1.0.0`)
    expect(await namesFor(lab, ann)).toEqual(all)
    // What others said to a person is not said to those who come to the person's host.
    for (const caller of [guest, visitor(cem)])
      expect(await namesFor(lab, ann, caller)).toEqual(['own P 1.0.0'])
    expect(await namesFor(lab, club, guest)).toEqual(['bob P 1.0.0', 'own P 1.0.0'])
    expect(await namesFor(lab, club)).toEqual(all)
    await lab.relate(ann.tenantId, bob, { isFollowing: false })
    expect(await namesFor(lab, ann)).toEqual(['own null 1.0.0', 'own P 1.0.0'])
    await lab.relate(ann.tenantId, bob, { connection: 'connected' })
    expect(await namesFor(lab, ann)).toEqual(all)
    for (const tenantId of [ann.tenantId, serverTenant]) {
      await lab.relate(tenantId, bob, { isBlocked: true })
      expect(await namesFor(lab, ann)).toEqual(['own null 1.0.0', 'own P 1.0.0'])
      await lab.relate(tenantId, bob, { isBlocked: false })
    }
  })

  test('are found when they are installed, whoever is followed', async () => {
    const lab = await openLab()
    const ann = await lab.admit('ann')
    await lab.offer(ann, { by: bob, name: 'Notes' })
    await lab.offer(ann, { by: cem, name: 'Notes' })
    await lab.db.transact(ann.tenantId, (tx) => putInstalled(tx, notesOf(bob), []))
    const { items } = await listApps(lab.deps, { tenant: ann, caller: ownerOf(ann) })
    expect(items.map(({ publisherTag }) => publisherTag)).toEqual([bob])
    await lab.relate(ann.tenantId, bob, { isBlocked: true })
    expect(await namesFor(lab, ann)).toEqual([])
  })

  test('are shown in their newest version that is shown, and found by words', async () => {
    const lab = await openLab()
    const ann = await lab.admit('ann')
    await lab.relate(ann.tenantId, bob, { isFollowing: true })
    for (const version of ['1.9.0', '1.10.0', '1.10.0-rc.1'])
      await lab.offer(ann, { by: bob, name: 'Notes', version })
    await lab.offer(ann, { by: bob, name: 'Notes', version: '2.0.0', action: { status: 'D' } })
    await lab.offer(ann, { name: 'Notes', version: '0.1.0', words: 'notes 100%' })
    const own = ownerOf(ann)
    expect(await namesFor(lab, ann)).toEqual(['Notes 0.1.0', 'Notes 1.10.0'])
    expect(await namesFor(lab, ann, own, { search: '100' })).toEqual(['Notes 0.1.0'])
    expect(await namesFor(lab, ann, own, { search: '!' })).toEqual([])
    expect(await namesFor(lab, ann, own, { search: 'not', offset: 1, limit: 1 })).toEqual(['Notes 1.10.0'])
    // Of each publisher's app for itself.
    await lab.db.transact(ann.tenantId, (tx) => deleteOldOffers(tx, { publisherTag: bob, name: 'Notes' }, 1))
    expect(await namesFor(lab, ann)).toEqual(['Notes 0.1.0'])
    const shown = { viewer: await findViewer(lab.db.reader(ann.tenantId), ann, own), now: 1 }
    const app = { publisherTag: bob, name: 'Notes' }
    expect(await findNewestOffer(lab.db.reader(ann.tenantId), { ...shown, ...app })).toBeUndefined()
    // Those that differ by what does not count are told apart by their time.
    for (let build = 0; build < 5; build += 1)
      await lab.offer(ann, { by: bob, name: 'Notes', version: `3.0.0+${build}` })
    await lab.db.transact(ann.tenantId, (tx) => deleteOldOffers(tx, app, 2))
    expect(await lab.offersOf(ann, bob)).toEqual(['3.0.0+3', '3.0.0+4'])
    expect(await namesFor(lab, ann)).toEqual(['Notes 3.0.0+4', 'Notes 0.1.0'])
  })

  test('are read by indexes', async () => {
    const lab = await openLab(open.forPlans)
    const ann = await lab.admit('ann')
    const actionId = await lab.offer(ann, { by: bob, name: 'Notes' })
    const steps = await planStatements(lab.db, async (db: Database) => {
      const reader = db.reader(ann.tenantId)
      for (const caller of [ownerOf(ann), visitor(cem), guest])
        await listApps({ ...lab.deps, db }, { tenant: ann, caller, search: 'note' })
      const shown = { viewer: await findViewer(reader, ann, ownerOf(ann)), now: 1 }
      await findOffer(reader, { ...shown, actionId })
      await findNewestOffer(reader, { ...shown, publisherTag: bob, name: 'Notes' })
    })
    // One row, and the labels of one name where domains are blocked.
    const isOfName = /^SCAN (above|asked|CONSTANT ROW)$/
    const dear = steps.filter((step) => /^SCAN |Seq Scan/.test(step) && !isOfName.test(step))
    expect(dear).toEqual([])
  })
})

function notesOf(publisherTag: IdTag): InstalledApp {
  return {
    ...{ publisherTag, publisherId: undefined, autoUpdate: false, withdrawnAt: undefined },
    manifest: { id: 'a', name: 'Notes', version: '1.0.0', entry: 'a.html' },
    ...{ actionId: 'a' as ActionId, fileId: 'f' as FileId, hash: 'h' as never },
    ...{ installedAt: 1, updatedAt: 1 },
  }
}
