import type { IdTag } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import { auditMigrations } from '#features/audit/index.ts'
import { idpMigrations } from '#features/idp/index.ts'
import { tenantsMigrations } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openLocalBus } from '#infra/bus/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { changeProxySite, createProxySite, removeProxySite } from './change-proxy-sites.ts'
import { openProxySites, type ProxySites } from './open-proxy-sites.ts'
import { proxyMigrations } from './proxy-migrations.ts'
import { isProxied } from './proxy-site-store.ts'

const tenant = { tenantId: 1 as TenantId, idTag: 'home.example.com' as IdTag, type: 'person' } as const
const caller = { ...ownerOf(tenant), isAdmin: true }
const by = { tenant, caller, ip: '192.0.2.1' }
const wiki = 'wiki.example.org' as IdTag

const followed: ProxySites[] = []
function follow(deps: Parameters<typeof openProxySites>[0]): ProxySites {
  const sites = openProxySites(deps)
  followed.push(sites)
  return sites
}
afterEach(async () => {
  for (const sites of followed.splice(0)) await sites.close()
})

eachDialect('proxy sites', (open) => {
  async function lab() {
    const clock = new TestClock()
    const db = await open({
      migrations: [...auditMigrations, ...tenantsMigrations, ...idpMigrations, ...proxyMigrations],
      clock,
    })
    const read: string[][] = []
    const nodeBus = openLocalBus({ clock })
    const here = follow({ db, clock, nodeBus, onRead: (hosts) => read.push([...hosts]) })
    const deps = {
      db,
      clock,
      proxySites: here,
      noteDomains: async () => undefined,
      ownPlaces: {
        soleHost: undefined,
        listeningPorts: () => [],
        listAddresses: () => [],
        isOwnName: async () => false,
      },
    }
    const create = (domain: IdTag) =>
      createProxySite(deps, {
        ...by,
        site: { domain, backendUrl: 'http://10.0.0.5', type: 'basic', config: {} },
      })
    return { ...deps, nodeBus, here, read, create }
  }

  test('are known at once where they are changed', async () => {
    const { deps, here, read, create, db } = await lab().then((made) => ({ ...made, deps: made }))
    expect(await here.find(wiki)).toBeUndefined()
    const { siteId } = await create(wiki)
    expect(here.known(wiki)).toMatchObject({ host: wiki, origin: 'http://10.0.0.5' })
    await changeProxySite(deps, { ...by, siteId, change: { status: 'D' } })
    expect(here.known(wiki)).toBeUndefined()
    expect(await isProxied(db.reader(serverTenant), wiki)).toBe(true)
    await removeProxySite(deps, { ...by, siteId })
    expect(await isProxied(db.reader(serverTenant), wiki)).toBe(false)
    expect(read).toEqual([[], [wiki], [], []])
  })

  test('changed by another process are known within two seconds', async () => {
    const { db, clock, create } = await lab()
    const elsewhere = follow({ db, clock, nodeBus: openLocalBus({ clock }), onRead: () => undefined })
    expect(await elsewhere.find(wiki)).toBeUndefined()
    await create(wiki)
    expect(await elsewhere.find(wiki)).toBeUndefined()
    clock.advance(2_000)
    expect(await elsewhere.find(wiki)).toMatchObject({ host: wiki })
    expect(elsewhere.known(wiki)).toMatchObject({ host: wiki })
  })

  test('changed by a process that reaches this one are known at once', async () => {
    const { db, clock, nodeBus, create } = await lab()
    const { promise: noticed, resolve } = Promise.withResolvers<void>()
    const elsewhere = follow({ db, clock, nodeBus, onRead: (hosts) => hosts.has(wiki) && resolve() })
    expect(await elsewhere.find(wiki)).toBeUndefined()
    await create(wiki)
    await noticed
    expect(elsewhere.known(wiki)).toMatchObject({ host: wiki })
  })

  test('that another process has ended are noticed though nobody asks for them', async () => {
    const { db, clock, create, ...deps } = await lab()
    const { siteId } = await create(wiki)
    const { promise: noticed, resolve } = Promise.withResolvers<void>()
    const nodeBus = openLocalBus({ clock })
    const elsewhere = follow({ db, clock, nodeBus, onRead: (hosts) => hosts.has(wiki) || resolve() })
    await elsewhere.refresh()
    await removeProxySite({ db, clock, ...deps }, { ...by, siteId })
    clock.advance(2_000)
    await noticed
    expect(elsewhere.list()).toEqual([])
  })

  test('have each domain once', async () => {
    const { create } = await lab()
    await create(wiki)
    await expect(create(wiki)).rejects.toMatchObject({ code: 'E-DUPLICATE' })
  })

  test('last read stay while the database is away', async () => {
    const { db, clock, create } = await lab()
    await create(wiki)
    let isAway = false
    const reader: typeof db.reader = (tenantId) => {
      if (isAway) throw new Error('the database is away')
      return db.reader(tenantId)
    }
    const sites = follow({
      db: { ...db, reader },
      clock,
      nodeBus: openLocalBus({ clock }),
      onRead: () => undefined,
    })
    await sites.refresh()
    isAway = true
    clock.advance(60_000)
    expect(await sites.find(wiki)).toMatchObject({ host: wiki })
  })
})
