import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation, relationsMigrations } from '#features/relations/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import {
  appointAdmin,
  beginRemoval,
  createTenant,
  dismissAdmin,
  isAppointedAdmin,
  type NewTenant,
  openTenants,
  resumeTenant,
  suspendTenant,
  type Tenants,
  tenantsMigrations,
} from './index.ts'
import { updateUnderWay } from './tenant-store.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.com' as IdTag

eachDialect('tenants', (open) => {
  async function start() {
    const clock = new TestClock()
    const db = await open({
      migrations: [...tenantsMigrations, ...relationsMigrations],
      clock,
    })
    return { clock, db, tenants: openTenants({ db, clock }) }
  }

  function make({ db, tenants, clock }: Awaited<ReturnType<typeof start>>, tenant: Partial<NewTenant> = {}) {
    const profiles: string[] = []
    const deps = {
      tenants,
      clock,
      keys: { create: async () => ({ kid: '20260101aaaa', publicKey: 'PEM' }) },
      isProxied: async (_: unknown, host: string) => host === 'wiki.example.org',
      createOwnProfile: async (tx: { tenantId: number }, { name }: { name: string }) => {
        profiles.push(`${tx.tenantId} ${name}`)
      },
    }
    const input: NewTenant = { idTag: alice, type: 'person', name: 'Alice', ...tenant }
    return db.transact(serverTenant, async (tx) => ({
      tenant: await createTenant(deps, tx, input),
      profiles,
    }))
  }

  test('are found by idTag, host, app domain and number', async () => {
    const here = await start()
    const { tenant, profiles } = await make(here, { appDomain: 'app.example.org' })
    expect(tenant).toMatchObject({ idTag: alice, type: 'person', isBase: false })
    expect(profiles).toEqual([`${tenant.tenantId} Alice`])
    for (const found of [
      await here.tenants.find(alice),
      await here.tenants.findByHost('alice.example.com'),
      await here.tenants.findByHost('app.example.org'),
      await here.tenants.findById(tenant.tenantId),
    ])
      expect(found).toEqual(tenant)
    expect(await here.tenants.findByHost('bob.example.com')).toBeUndefined()
  })

  test('take each name once, as idTag or as app domain, and none of a proxy site', async () => {
    const here = await start()
    await make(here, { appDomain: 'app.example.org' })
    const taken: Partial<NewTenant>[] = [
      { idTag: alice },
      { idTag: 'app.example.org' as IdTag },
      { idTag: bob, appDomain: alice },
      { idTag: bob, appDomain: 'app.example.org' },
      { idTag: 'wiki.example.org' as IdTag },
      { idTag: bob, appDomain: 'wiki.example.org' },
    ]
    for (const tenant of taken)
      await expect(make(here, tenant)).rejects.toMatchObject({ code: 'E-PROFILE-EXISTS' })
  })

  test('have one base tenant', async () => {
    const here = await start()
    await expect(here.tenants.base()).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    const { tenant } = await make(here, { isBase: true })
    expect(await here.tenants.base()).toEqual(tenant)
    await expect(make(here, { idTag: bob, isBase: true })).rejects.toMatchObject({ code: 'E-PROFILE-EXISTS' })
  })

  test('are listed in order of creation, page by page', async () => {
    const here = await start()
    const first = await make(here)
    const second = await make(here, { idTag: bob })
    expect(await here.tenants.list({ limit: 1 })).toEqual([first.tenant])
    expect(await here.tenants.list({ after: first.tenant.tenantId, limit: 9 })).toEqual([second.tenant])
  })

  test('made in this process are seen at once though they were unknown before', async () => {
    const here = await start()
    expect(await here.tenants.find(alice)).toBeUndefined()
    const { tenant } = await make(here)
    expect(await here.tenants.find(alice)).toEqual(tenant)
  })

  test('changed by another process are seen within two seconds', async () => {
    const here = await start()
    const { tenant } = await make(here)
    await here.tenants.find(alice)
    const elsewhere = openTenants(here)
    await suspend(here.db, elsewhere, here.clock, tenant.tenantId)
    expect((await elsewhere.find(alice))?.suspendedAt).toBeDefined()
    here.clock.advance(2_001)
    expect((await here.tenants.find(alice))?.suspendedAt).toBeDefined()
    await here.db.transact(tenant.tenantId, (tx) => resumeTenant({ ...here, emit: quiet }, tx))
    expect((await here.tenants.find(alice))?.suspendedAt).toBeUndefined()
  })

  test('lose their sessions in the transaction that suspends them', async () => {
    const here = await start()
    const { tenant } = await make(here)
    expect(await suspend(here.db, here.tenants, here.clock, tenant.tenantId)).toEqual([tenant.tenantId])
  })

  test('are not resumed while they are imported or removed, and removed only where others lead', async () => {
    const here = await start()
    const { tenant } = await make(here)
    const { tenant: club } = await make(here, { idTag: bob, type: 'community' })
    const refused = { code: 'E-STATE' }
    const deps = { ...here, emit: quiet, revokeSessions: quiet }
    const own = <Result>(work: (tx: Writer) => Promise<Result>) => here.db.transact(tenant.tenantId, work)
    await suspend(here.db, here.tenants, here.clock, tenant.tenantId)
    for (const underWay of ['import', 'removal'] as const) {
      await own((tx) => updateUnderWay(tx, underWay))
      await expect(own((tx) => resumeTenant(deps, tx))).rejects.toMatchObject(refused)
    }
    await own((tx) => updateUnderWay(tx, null))
    await own((tx) => resumeTenant(deps, tx))
    const carol = 'carol.example.com' as IdTag
    const setRole = (idTag: IdTag, role?: 'leader') =>
      here.db.transact(club.tenantId, (tx) =>
        changeRelation(tx, idTag, { role, connection: 'connected', at: 1 }),
      )
    await setRole(alice, 'leader')
    await setRole(carol, 'leader')
    await suspend(here.db, here.tenants, here.clock, tenant.tenantId)
    await setRole(carol)
    await expect(own((tx) => beginRemoval(deps, tx))).rejects.toMatchObject(refused)
    await setRole(carol, 'leader')
    await own((tx) => beginRemoval(deps, tx))
  })

  test('remember whom the base tenant appointed', async () => {
    const here = await start()
    const { tenant } = await make(here, { isBase: true })
    const reader = here.db.reader(tenant.tenantId)
    expect(await isAppointedAdmin(reader, bob)).toBe(false)
    await here.db.transact(tenant.tenantId, (tx) => appointAdmin({ ...here, emit: quiet }, tx, bob))
    expect(await isAppointedAdmin(reader, bob)).toBe(true)
    await here.db.transact(tenant.tenantId, (tx) => dismissAdmin({ emit: quiet }, tx, bob))
    expect(await isAppointedAdmin(reader, bob)).toBe(false)
  })
})

const quiet = async () => undefined

async function suspend(db: Database, tenants: Tenants, clock: TestClock, tenantId: typeof serverTenant) {
  const revoked: number[] = []
  const revokeSessions = async (tx: { tenantId: number }) => void revoked.push(tx.tenantId)
  await db.transact(tenantId, (tx) => suspendTenant({ tenants, clock, revokeSessions, emit: quiet }, tx))
  return revoked
}
