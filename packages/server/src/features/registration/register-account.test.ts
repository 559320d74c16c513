import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { makeReference, revokeSessions, setPassword, startSession } from '#features/accounts/index.ts'
import { removeTenant, resumeTenant } from '#features/tenants/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { defaultLifetimes, SignInWorld, signInLab } from '#harness/sign-in-lab.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { openNameCheck } from './check-name.ts'
import { registerAccount } from './register-account.ts'
import type { RemoteProviders } from './remote-providers.ts'
import { sweepUnfinished } from './sweep-unfinished.ts'

const baseIdTag = 'kith.example' as IdTag
const dayMs = 86_400_000

/** Registration over a database, with a base tenant, a DNS that knows nothing and no HTTP before it. */
async function openLab(open: OpenTestDatabase) {
  const world = new SignInWorld()
  const lab = signInLab(await open({ migrations, clock: world.clock }), world)
  const base = await lab.makeTenant(baseIdTag, { isBase: true })
  const asked: string[] = []
  const providers: RemoteProviders = {
    find: async () => undefined,
    check: async () => 'refused',
    register: async () => 'refused',
    release: async () => undefined,
  }
  const ask = async (name: string) => {
    asked.push(name)
    return { kind: 'not-found' } as const
  }
  const deps = {
    ...lab.deps,
    providers,
    names: openNameCheck({
      ...lab.deps,
      dns: { resolveTxt: ask, resolveCname: ask, resolveAddresses: ask },
      baseIdTag,
      discoveryName: 'service',
      identityHosts: new Map(),
      localAddresses: [],
      allowPlainHttp: false,
      servesEveryTenant: true,
      serverUrls: (idTag) => [`https://${idTag}`],
      findReservedNames: async () => [],
      isProvided: async () => false,
      providers,
      isBlockedDomain: async () => false,
    }),
    findPolicy: async () => 'open' as const,
    findMaxTenants: async () => 0,
    findLifetimes: async () => defaultLifetimes,
    chooseLanguage: async () => undefined,
  }
  let people = 0
  return {
    ...lab,
    asked,
    deps,
    invite: async (count: number | null) =>
      (await lab.db.transact(base.tenantId, (tx) => makeReference(lab.deps, tx, { type: 'invite', count })))
        .refId,
    register: (wish: { token?: string; ip?: string; idTag?: IdTag } = {}) => {
      people += 1
      const { token, ip = `2001:db8:${people}::1`, idTag = `person${people}.kith.example` as IdTag } = wish
      return registerAccount(deps, {
        type: 'idp',
        idTag,
        email: `${people}@example.org`,
        token,
        device: { ip },
      })
    },
    async count(...tables: string[]) {
      const reader = lab.db.reader(serverTenant).tables<Record<string, object>>()
      const counts = tables.map(async (table) => {
        const row = await reader
          .selectFrom(table)
          .select((eb) => eb.fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
        return Number(row.count)
      })
      return Promise.all(counts)
    },
  }
}

/** Sweeps as the job does; answers whom it removed, whose rows stay here but for that of the tenant. */
function sweeper(lab: Awaited<ReturnType<typeof openLab>>) {
  return async (remove = removeTenant) => {
    const removed: IdTag[] = []
    await sweepUnfinished({
      ...lab.deps,
      revokeSessions: async (tx: Writer) => void (await revokeSessions(lab.deps, tx)),
      async removeTenant(tenant) {
        await lab.db.transact(tenant.tenantId, (tx) => remove(lab.deps, tx, tenant))
        removed.push(tenant.idTag)
      },
    })
    return removed
  }
}

const owned = ['tenants', 'accounts', 'refs', 'sessions', 'signing_keys', 'unfinished_registrations']

eachDialect('registering', (open) => {
  test('with an invitation for one gives one of a hundred an account, and nobody else anything', async () => {
    const lab = await openLab(open)
    const token = await lab.invite(1)
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => lab.register({ token })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'E-GONE' })
    // The base tenant has an account, its keys and the invitation.
    expect(await lab.count(...owned)).toEqual([2, 2, 2, 1, 2, 1])
  })

  test('that nobody finishes leaves nothing behind after 31 days, and the name is free again', async () => {
    const lab = await openLab(open)
    const before = await lab.count(...owned)
    const idTag = 'late.kith.example' as IdTag
    await lab.register({ idTag })
    const sweep = sweeper(lab)
    lab.clock.advance(31 * dayMs - 1000)
    expect(await sweep()).toEqual([])
    lab.clock.advance(1000)
    expect(await sweep()).toEqual([])
    expect((await lab.tenants.find(idTag))?.suspendedAt).toBeDefined()
    lab.clock.advance(59_000)
    expect(await sweep()).toEqual([])
    lab.clock.advance(1000)
    expect(await sweep()).toEqual([idTag])
    expect(await lab.count('unfinished_registrations')).toEqual([0])
    expect(before).toEqual([1, 1, 0, 0, 1, 0])
  })
})

eachDialect('registering', (open) => {
  test('is for thirty at once from one network, then for one every two minutes', async () => {
    const lab = await openLab(open)
    const from = (host: number) => lab.register({ ip: `203.0.113.${host}` })
    for (let turn = 0; turn < 30; turn += 1) await from(7)
    await expect(from(7)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    await from(8)
    lab.clock.advance(120_000)
    await from(7)
    await expect(from(7)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
  })

  test('without an invitation is for sixty at once from everywhere, and never holds up who has one', async () => {
    const lab = await openLab(open)
    for (let turn = 0; turn < 60; turn += 1) await lab.register()
    await expect(lab.register()).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    await lab.register({ token: await lab.invite(1) })
  })

  test('with an invitation that opens nothing asks no questions to the DNS', async () => {
    const lab = await openLab(open)
    const wish = { type: 'domain', idTag: 'bob.example' as IdTag, email: 'bob@example.org' } as const
    const device = { ip: '203.0.113.7' }
    await expect(registerAccount(lab.deps, { ...wish, token: 'x', device })).rejects.toMatchObject({
      code: 'E-NOTFOUND',
    })
    expect(lab.asked).toEqual([])
    await expect(registerAccount(lab.deps, { ...wish, device })).rejects.toMatchObject({
      code: 'E-VALIDATION',
      details: { errors: ['E-DNS'] },
    })
    expect(lab.asked).toEqual(['_service.bob.example'])
  })
})

eachDialect('an account that was registered', (open) => {
  const register = async () => {
    const lab = await openLab(open)
    const idTag = 'kept.kith.example' as IdTag
    const { tnId } = await lab.register({ idTag })
    return { lab, idTag, tenantId: tnId, sweep: sweeper(lab) }
  }

  test('stays for ever once it has a password', async () => {
    const { lab, idTag, tenantId, sweep } = await register()
    await lab.db.transact(tenantId, (tx) => setPassword(lab.deps, tx, 'a hash'))
    for (let turn = 0; turn < 3; turn += 1) {
      lab.clock.advance(31 * dayMs)
      expect(await sweep()).toEqual([])
    }
    expect(await lab.tenants.find(idTag)).toMatchObject({ idTag })
    expect((await lab.tenants.find(idTag))?.suspendedAt).toBeUndefined()
    expect(await lab.count('unfinished_registrations')).toEqual([0])
  })

  test('stays as long as a program signs in to it with a key', async () => {
    const { lab, idTag, tenantId, sweep } = await register()
    const expiresAt = Math.floor(lab.clock.now() / 1000) + (60 * dayMs) / 1000
    const device = { ip: '203.0.113.7' }
    await lab.db.transact(tenantId, (tx) =>
      startSession(lab.deps, tx, { callerTag: idTag, method: 'apikey', device, expiresAt }),
    )
    lab.clock.advance(59 * dayMs)
    expect(await sweep()).toEqual([])
    expect((await lab.tenants.find(idTag))?.suspendedAt).toBeUndefined()
    lab.clock.advance(2 * dayMs)
    await sweep()
    expect((await lab.tenants.find(idTag))?.suspendedAt).toBeDefined()
  })

  test('is resumed by nobody once its removal has begun', async () => {
    const { lab, idTag, tenantId, sweep } = await register()
    lab.clock.advance(31 * dayMs)
    await sweep()
    lab.clock.advance(60_000)
    const killed = () => Promise.reject(new Error('killed'))
    await expect(sweep(killed)).rejects.toThrow('killed')
    const resuming = lab.db.transact(tenantId, (tx) => resumeTenant(lab.deps, tx))
    await expect(resuming).rejects.toMatchObject({ code: 'E-STATE' })
    expect(await sweep()).toEqual([idTag])
  })

  test('is forgotten by the sweep when somebody removed it before', async () => {
    const { lab, tenantId, sweep } = await register()
    const tenant = await lab.tenants.findById(tenantId)
    await lab.db.transact(tenantId, async (tx) => {
      if (tenant) await removeTenant(lab.deps, tx, tenant)
    })
    lab.clock.advance(31 * dayMs)
    expect(await sweep()).toEqual([])
    expect(await lab.count('unfinished_registrations')).toEqual([0])
  })
})
