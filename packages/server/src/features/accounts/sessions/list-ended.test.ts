import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { admitTenant, openTenants, tenantsMigrations } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { accountsMigrations } from '../accounts-migrations.ts'
import { browserSessionsMigrations } from '../browser-sessions/browser-sessions-migrations.ts'
import { putLogout } from '../visits/visitor-logout-store.ts'
import { visitsMigrations } from '../visits/visits-migrations.ts'
import type { HeldCredential } from './authenticator.ts'
import type { Credential } from './credential.ts'
import { listEnded, listEndedTenants } from './list-ended.ts'
import { revokeSession, startSession } from './start-session.ts'

const alice: Tenant = { tenantId: 1 as TenantId, idTag: 'alice.example' as IdTag, type: 'person' }
const bob: Tenant = { tenantId: 2 as TenantId, idTag: 'bob.example' as IdTag, type: 'person' }
const emit = async () => undefined

eachDialect('what sockets rest on', (open) => {
  async function start() {
    const clock = new TestClock()
    const db = await open({
      migrations: [
        ...tenantsMigrations,
        ...accountsMigrations,
        ...browserSessionsMigrations,
        ...visitsMigrations,
      ],
    })
    for (const { idTag, type } of [alice, bob])
      await db.transact(serverTenant, (tx) =>
        admitTenant(tx, { idTag, type, isBase: false, createdAt: 1 }, 1),
      )
    const barred = new Set<IdTag>()
    const tenants = openTenants({ db, clock })
    // As another process does, which cannot empty the memory of this one.
    const suspend = (tenant: Tenant) =>
      db.transact(tenant.tenantId, (tx) =>
        tx
          .tables<{ tenants: { tenant_id: TenantId; suspended_at: number } }>()
          .updateTable('tenants')
          .set({ suspended_at: 1 })
          .where('tenant_id', '=', tenant.tenantId)
          .execute(),
      )
    const deps = {
      db,
      clock,
      tenants,
      listSuspendedOrBanned: async (idTags: readonly IdTag[]) => idTags.filter((idTag) => barred.has(idTag)),
    }
    const ended = async (...held: HeldCredential[]) => {
      const found = await listEnded(deps, held)
      return held.map((one) => found.has(one))
    }
    return { clock, db, tenants, suspend, barred, ended }
  }

  async function session(
    db: Database,
    clock: TestClock,
    tenant: Tenant,
    {
      callerTag = tenant.idTag,
      homeSid,
      lifeSecs,
    }: { callerTag?: IdTag; homeSid?: string; lifeSecs?: number } = {},
  ): Promise<HeldCredential> {
    const expiresAt = lifeSecs === undefined ? undefined : Math.floor(clock.now() / 1000) + lifeSecs
    const started = await db.transact(tenant.tenantId, (tx) =>
      startSession({ clock }, tx, { callerTag, method: 'password', device: { ip: '' }, expiresAt, homeSid }),
    )
    return held(tenant, { callerTag, ...(started ? { sid: started.sid } : {}) })
  }

  function held(tenant: Tenant, credential: Partial<Credential>): HeldCredential {
    return { tenant, credential: { tokenUse: 'login', expiresAt: 1, ...credential } }
  }

  const end = (db: Database, clock: TestClock, { tenant, credential }: HeldCredential) =>
    db.transact(tenant.tenantId, (tx) => revokeSession({ clock, emit }, tx, { sid: credential.sid ?? '' }))

  test('ends with its session: revoked, over, or never there', async () => {
    const { db, clock, ended } = await start()
    const [kept, revoked, short] = [
      await session(db, clock, alice),
      await session(db, clock, alice),
      await session(db, clock, alice, { lifeSecs: 60 }),
    ]
    const unknown = held(alice, { sid: 'nobody', callerTag: alice.idTag })
    // The session of another tenant is none of this one's.
    const foreign = held(bob, { ...kept.credential })
    expect(await ended(kept, revoked, short, unknown, foreign)).toEqual([false, false, false, true, true])
    await end(db, clock, revoked)
    clock.advance(60_000)
    expect(await ended(kept, revoked, short)).toEqual([false, true, true])
    expect(await ended()).toEqual([])
  })

  test('ends with the tenant, and for those elsewhere with what the server decides about them', async () => {
    const { db, clock, suspend, barred, ended } = await start()
    const [own, visitor] = [
      await session(db, clock, alice),
      held(alice, { tokenUse: 'proxy', callerTag: 'carol.example' as IdTag }),
    ]
    expect(await ended(own, visitor)).toEqual([false, false])
    barred.add('carol.example' as IdTag)
    expect(await ended(own, visitor)).toEqual([false, true])
    await suspend(alice)
    expect(await ended(own)).toEqual([true])
  })

  test('ends at once with a tenant that another process suspends, and so do its visits elsewhere', async () => {
    const { db, clock, tenants, suspend, ended } = await start()
    const own = await session(db, clock, alice)
    const visit = held(bob, { tokenUse: 'proxy', callerTag: alice.idTag })
    const guestsOf = () => listEndedTenants({ tenants }, [alice.tenantId, bob.tenantId, 9 as TenantId])
    // What is in memory now is known to be good for some seconds.
    await Promise.all([tenants.findById(alice.tenantId), tenants.find(alice.idTag)])
    expect(await ended(own, visit)).toEqual([false, false])
    expect([...(await guestsOf())]).toEqual([9])
    await suspend(alice)
    expect(await ended(own, visit)).toEqual([true, true])
    expect([...(await guestsOf())]).toEqual([alice.tenantId, 9])
    expect([...(await listEndedTenants({ tenants }, []))]).toEqual([])
  })

  test('ends for visitors from this server with their session at home', async () => {
    const { db, clock, ended } = await start()
    const home = await session(db, clock, bob)
    const homeSid = home.credential.sid ?? ''
    const exchanged = await session(db, clock, alice, { callerTag: bob.idTag, homeSid })
    const proxy = { issuerTag: bob.idTag, jti: 'x', issuedAt: 0, expiresAt: 1, isByKey: false, homeSid }
    const direct = held(alice, { tokenUse: 'proxy', callerTag: bob.idTag, proxy })
    expect(await ended(exchanged, direct)).toEqual([false, false])
    await end(db, clock, home)
    expect(await ended(exchanged, direct)).toEqual([true, true])
  })

  function proxyOf(issuer: string, issuedAt: number, homeSid?: string, tenant = alice): HeldCredential {
    const issuerTag = issuer as IdTag
    const more = homeSid === undefined ? {} : { homeSid }
    const proxy = { issuerTag, jti: 'x', issuedAt, expiresAt: 1, isByKey: false, ...more }
    return held(tenant, { tokenUse: 'proxy', callerTag: issuerTag, proxy })
  }

  test('ends for a proxy token as its issuer says, at that tenant', async () => {
    const { db, ended } = await start()
    const visits = [
      proxyOf('carol.example', 100),
      proxyOf('carol.example', 101),
      proxyOf('carol.example', 101, 'first'),
      proxyOf('carol.example', 101, 'second'),
      proxyOf('dave.example', 100, 'first'),
      proxyOf('carol.example', 100, 'first', bob),
    ]
    expect(new Set(await ended(...visits))).toEqual(new Set([false]))
    await db.transact(alice.tenantId, (tx) =>
      putLogout(tx, 'carol.example' as IdTag, {
        ...{ before: 100, sessions: [{ sid: 'first', at: 1 }] },
        keptUntil: 9_999_999_999,
      }),
    )
    expect(await ended(...visits)).toEqual([true, false, true, false, false, false])
  })

  test('is found for as many sockets as may be open', async () => {
    const { db, clock, ended } = await start()
    const one = await session(db, clock, alice)
    const many = Array.from({ length: 9_999 }, (_, at) =>
      held(alice, { sid: `s${at}`, callerTag: alice.idTag }),
    )
    const found = await ended(one, ...many)
    expect([found[0], found.filter(Boolean).length]).toEqual([false, 9_999])
    const visitors = Array.from({ length: 10_000 }, (_, at) => proxyOf(`visitor${at}.example`, 100))
    expect((await ended(...visitors)).filter(Boolean)).toEqual([])
  })
})
