import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { createTenant } from '#features/tenants/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { SignInWorld, signInLab } from '#harness/sign-in-lab.ts'
import { guest, type Identified, identified } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { changeIdentity, setAddress } from './change-identity.ts'
import { createIdentity } from './create-identity.ts'
import { addKey, authenticateKey, listKeys } from './identity-keys.ts'
import { listIdentities } from './list-identities.ts'
import { findIdentity, isManaged, listByLabel, updateIdentity } from './managed-identity-store.ts'
import { isAvailable } from './provider-info.ts'
import { releaseIdentity } from './release-identity.ts'
import { sweepIdentities } from './sweep-identities.ts'

const daySecs = 86_400
const alice = 'alice.example' as IdTag
const carol = 'carol.example' as IdTag

/** A provider over a database, asked without HTTP before it. */
async function openLab(open: OpenTestDatabase) {
  const world = new SignInWorld()
  const lab = signInLab(await open({ migrations, clock: world.clock }), world)
  const tenant = await lab.makeTenant('names.example')
  const answered = new Set<IdTag>()
  const deps = {
    ...lab.deps,
    emit: async () => undefined,
    findOwnHosts: async () => [],
    findReservedNames: async () => [],
    isBlockedDomain: async () => false,
    resolve: async (idTag: IdTag) => ({ kind: answered.has(idTag) ? 'found' : 'unknown' }) as const,
  }
  const caller = (idTag: IdTag) =>
    identified(idTag, { tokenUse: 'proxy', role: 'public', isOwner: idTag === tenant.idTag })
  const owner = caller(tenant.idTag)
  const create = (label: string, wish: Partial<Parameters<typeof createIdentity>[1]> = {}) =>
    createIdentity(deps, {
      tenant,
      caller: owner,
      idTag: `${label}.names.example` as IdTag,
      ownerTag: carol,
      ip: '203.0.113.7',
      ...wish,
    })
  return {
    ...lab,
    deps,
    answered,
    tenant,
    caller,
    owner,
    reader: lab.db.reader(tenant.tenantId),
    create,
    async createActive(label: string, caller = owner) {
      const { identity } = await create(label, { caller })
      const expiresAt = identity.createdAt + 365 * daySecs
      const active = { ...identity, status: 'active', expiresAt } as const
      await lab.db.transact(tenant.tenantId, (tx) => updateIdentity(tx, active))
      return identity.idTag
    },
  }
}

eachDialect('a name', (open) => {
  test('is had by one of a hundred who ask at once', async () => {
    const lab = await openLab(open)
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => lab.create('wanted')))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'E-PROFILE-EXISTS' })
    const { items } = await listIdentities(lab.deps, { tenant: lab.tenant, caller: lab.owner, limit: 200 })
    expect(items.map(({ idTag }) => idTag)).toEqual(['wanted.names.example'])
  })

  test('is not a tenant’s and somebody’s here at once', async () => {
    const lab = await openLab(open)
    const idTag = 'both.names.example' as IdTag
    const createOwnProfile = async (tx: Parameters<typeof isManaged>[0]) => {
      if (await isManaged(tx, [idTag])) throw new Error('managed')
    }
    const makeTenant = () =>
      lab.db.transact(serverTenant, (tx) =>
        createTenant({ ...lab.deps, createOwnProfile }, tx, { idTag, name: 'Both', type: 'person' }),
      )
    const outcomes = await Promise.allSettled([lab.create('both'), makeTenant()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('is not given that a proxy site has got since it was checked', async () => {
    const lab = await openLab(open)
    let timesAsked = 0
    lab.deps.isProxied = async () => timesAsked++ > 0
    await expect(lab.create('wiki')).rejects.toMatchObject({ code: 'E-PROFILE-EXISTS' })
    expect(timesAsked).toBe(2)
  })

  test('is listed to whom it concerns, with wildcards that mean themselves', async () => {
    const lab = await openLab(open)
    const registrar = lab.caller(alice)
    await lab.create('one', { caller: registrar, email: 'A_1%@example.org' })
    await lab.create('two', { caller: registrar, ownerTag: 'other.example' as IdTag })
    await lab.create('three')
    const tagsFor = async (caller: Identified, filter: object = {}) => {
      const { items } = await listIdentities(lab.deps, { tenant: lab.tenant, caller, limit: 200, ...filter })
      return items.map(({ idTag }) => idTag.split('.')[0]).sort()
    }
    expect(await tagsFor(lab.owner)).toEqual(['one', 'three', 'two'])
    expect(await tagsFor(registrar)).toEqual(['one', 'two'])
    expect(await tagsFor(lab.caller(carol))).toEqual(['one', 'three'])
    expect(await tagsFor(lab.owner, { email: 'a_1%@' })).toEqual(['one'])
    expect(await tagsFor(lab.owner, { email: '%' })).toEqual(['one'])
    expect(await tagsFor(lab.owner, { q: '_' })).toEqual(['one'])
    await lab.create('xn--bcher-kva', { email: 'Ada@xn--mller-kva.example' })
    for (const filter of [
      { q: 'BÜCH' },
      { q: 'bucher' },
      { q: 'xn--b' },
      { email: '@müll' },
      { email: 'ADA@xn--m' },
    ])
      expect(await tagsFor(lab.owner, filter)).toEqual(['xn--bcher-kva'])
    expect(await tagsFor(lab.owner, { cursor: '', q: 'NAMES.example' })).toEqual([
      'one',
      'three',
      'two',
      'xn--bcher-kva',
    ])
    expect(await tagsFor(lab.owner, { registrarTag: alice, ownerTag: carol, status: 'pending' })).toEqual([
      'one',
    ])
  })

  test('is found by its label only while that stands for one', async () => {
    const lab = await openLab(open)
    await lab.create('dr.one')
    expect((await listByLabel(lab.reader, 'dr')).map(({ idTag }) => idTag)).toEqual(['dr.one.names.example'])
    await lab.create('dr.two')
    expect(await listByLabel(lab.reader, 'dr')).toHaveLength(2)
  })

  test('goes with its keys, and rests', async () => {
    const lab = await openLab(open)
    const { tenant, owner: caller } = lab
    const { identity } = await lab.create('kept')
    const { idTag } = identity
    const { plaintext } = await lab.db.transact(tenant.tenantId, (tx) =>
      addKey(lab.deps, tx, { idTag, name: undefined }),
    )
    expect(await authenticateKey(lab.deps, { tenant, bearer: plaintext })).toMatchObject({
      kind: 'key',
      idTag,
    })
    await releaseIdentity(lab.deps, { tenant, caller, id: 'kept', ip: '203.0.113.7' })
    await expect(authenticateKey(lab.deps, { tenant, bearer: plaintext })).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect((await listKeys(lab.deps, { tenant, caller, offset: 0, limit: 20 })).total).toBe(0)
    const again = lab.create('kept', { caller: lab.caller(carol) })
    await expect(again).rejects.toMatchObject({ code: 'E-PROFILE-EXISTS' })
    lab.clock.advance(30 * daySecs * 1000)
    await sweepIdentities(lab.deps)
    await lab.create('kept', { caller: lab.caller(carol) })
  })

  test('that is pending for a week is gone', async () => {
    const lab = await openLab(open)
    const { identity } = await lab.create('late')
    lab.clock.advance(7 * daySecs * 1000 - 1000)
    await sweepIdentities(lab.deps)
    expect(await findIdentity(lab.reader, identity.idTag)).toBeDefined()
    lab.clock.advance(1000)
    await sweepIdentities(lab.deps)
    expect(await findIdentity(lab.reader, identity.idTag)).toBeUndefined()
  })

  test('that is active is kept for as long as a server answers for it, and 30 days more', async () => {
    const lab = await openLab(open)
    const { reader } = lab
    const [alive, silent] = [await lab.createActive('alive'), await lab.createActive('silent')]
    lab.answered.add(alive)
    const kept = async () => {
      await sweepIdentities(lab.deps)
      const found = await Promise.all([alive, silent].map((idTag) => findIdentity(reader, idTag)))
      return found.map((identity) => identity !== undefined)
    }
    lab.clock.advance(364 * daySecs * 1000)
    expect(await kept()).toEqual([true, true])
    lab.clock.advance(daySecs * 1000)
    expect(await kept()).toEqual([true, true])
    lab.clock.advance(30 * daySecs * 1000 - 1000)
    expect(await kept()).toEqual([true, true])
    lab.clock.advance(1000)
    expect(await kept()).toEqual([true, false])
    lab.clock.advance(700 * daySecs * 1000)
    expect(await kept()).toEqual([true, false])
  })

  test('that was suspended has its 30 days after the year that began when it was resumed', async () => {
    const lab = await openLab(open)
    const { reader, tenant, owner: caller } = lab
    const { identity } = await lab.create('back')
    const { idTag } = identity
    const change = (status: 'active' | 'suspended') =>
      changeIdentity(lab.deps, { tenant, caller, id: idTag, ip: '203.0.113.7', status })
    const now = Math.floor(lab.clock.now() / 1000)
    const given = { ...identity, status: 'active', lastSeenAt: now, expiresAt: now + 365 * daySecs } as const
    await lab.db.transact(tenant.tenantId, (tx) => updateIdentity(tx, given))
    const isKeptAfter = async (days: number) => {
      lab.clock.advance(days * daySecs * 1000)
      await sweepIdentities(lab.deps)
      return (await findIdentity(reader, idTag)) !== undefined
    }
    // Once out of its grace, too.
    expect(await isKeptAfter(380)).toBe(true)
    await change('suspended')
    expect(await isKeptAfter(300)).toBe(true)
    await change('active')
    expect(await isKeptAfter(364)).toBe(true)
    expect(await isKeptAfter(1)).toBe(true)
    expect(await isKeptAfter(29)).toBe(true)
    expect(await isKeptAfter(1)).toBe(false)
  })

  test('whose year ended while its provider was away has 30 days from when it is back', async () => {
    const lab = await openLab(open)
    const { reader, tenant } = lab
    const { identity } = await lab.create('away')
    const given = { ...identity, status: 'active' } as const
    await lab.db.transact(tenant.tenantId, (tx) => updateIdentity(tx, given))
    lab.clock.advance(500 * daySecs * 1000)
    await sweepIdentities(lab.deps)
    lab.clock.advance(30 * daySecs * 1000 - 1000)
    await sweepIdentities(lab.deps)
    expect(await findIdentity(reader, identity.idTag)).toMatchObject({ status: 'active' })
    lab.answered.add(identity.idTag)
    lab.clock.advance(1000)
    await sweepIdentities(lab.deps)
    const found = await findIdentity(reader, identity.idTag)
    expect(found).toMatchObject({ expiresAt: Math.floor(lab.clock.now() / 1000) + 365 * daySecs })
    expect(found?.graceEndsAt).toBeUndefined()
  })

  test('that came to its end rests for 30 days, from everybody but the provider', async () => {
    const lab = await openLab(open)
    const { tenant } = lab
    const idTag = await lab.createActive('ended', lab.caller(alice))
    const askers = [
      guest,
      lab.caller(carol),
      lab.caller(alice),
      lab.caller('bob.example' as IdTag),
      lab.owner,
    ]
    const sweepAfter = async (secs: number) => {
      lab.clock.advance(secs * 1000)
      await sweepIdentities(lab.deps)
      const free = askers.map((caller) => isAvailable(lab.deps, { tenant, caller, idTag }))
      return await Promise.all(free)
    }
    for (const secs of [365 * daySecs, 30 * daySecs - 1])
      expect(await sweepAfter(secs)).toEqual(Array(5).fill(false))
    expect(await findIdentity(lab.reader, idTag)).toMatchObject({ status: 'active' })
    const expectRest = async (secs: number) => {
      expect(await sweepAfter(secs)).toEqual([false, false, false, false, true])
      for (const asker of [carol, alice])
        await expect(lab.create('ended', { caller: lab.caller(asker) })).rejects.toMatchObject({
          code: 'E-PROFILE-EXISTS',
        })
    }
    await expectRest(1)
    expect(await findIdentity(lab.reader, idTag)).toBeUndefined()
    await expectRest(30 * daySecs - 1)
    expect(await sweepAfter(1)).toEqual(Array(5).fill(true))
    await lab.create('ended', { caller: lab.caller(alice) })
  })

  test.each([
    ['pending', [7]],
    ['active', [365, 30]],
  ] as const)('that is %s leaves a line when it ends, which nobody did', async (status, sweeps) => {
    const lab = await openLab(open)
    const idTag =
      status === 'active' ? await lab.createActive('line') : (await lab.create('line')).identity.idTag
    for (const days of [...sweeps, 1]) {
      lab.clock.advance(days * daySecs * 1000)
      await sweepIdentities(lab.deps)
    }
    const lines = await lab.reader
      .tables<{
        audit_log: { event: string; actor_tag: string | null; ip: string | null; details: string }
      }>()
      .selectFrom('audit_log')
      .select(['actor_tag', 'ip', 'details'])
      .where('event', '=', 'identity.expired')
      .execute()
    expect(lines).toEqual([{ actor_tag: null, ip: null, details: JSON.stringify({ idTag, status }) }])
  })
})

eachDialect('a provider', (open) => {
  test('makes two hundred names at once, then one a minute, unless it is the server’s', async () => {
    const lab = await openLab(open)
    const make = (label: number, wish = {}) => lab.create(`n${label}`, { ownerTag: carol, ...wish })
    for (let turn = 0; turn < 200; turn += 1) await make(turn)
    await expect(make(200)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    await make(201, { caller: { ...lab.owner, isAdmin: true } })
    lab.clock.advance(60_000)
    await make(200)
  })

  test('makes sixty names for all registrars at once, then one in two minutes', async () => {
    const lab = await openLab(open)
    const registrar = lab.caller(alice)
    let count = 0
    const make = (ip: string, wish = {}) => lab.create(`n${++count}`, { caller: registrar, ip, ...wish })
    for (const ip of ['203.0.113.1', '203.0.113.2']) for (let turn = 0; turn < 30; turn += 1) await make(ip)
    await expect(make('203.0.113.3')).rejects.toMatchObject({ code: 'E-RATELIMIT', retryAfterSecs: 120 })
    const caller = lab.caller(carol)
    await expect(make('203.0.113.4', { caller })).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    const other = await lab.makeTenant('other.example')
    await make('203.0.113.3', { tenant: other, idTag: 'one.other.example' })
    await make('203.0.113.3', { caller: lab.owner })
    lab.clock.advance(120_000)
    await make('203.0.113.3')
    await expect(make('203.0.113.3')).rejects.toMatchObject({ code: 'E-RATELIMIT' })
  })

  test('takes thirty addresses of a machine at once, then one a minute', async () => {
    const lab = await openLab(open)
    const { tenant, owner: caller } = lab
    await lab.create('moving')
    const move = (host: number) =>
      setAddress(lab.deps, {
        tenant,
        caller,
        id: 'moving',
        address: `198.51.100.${host}`,
        isAutomatic: false,
        ip: '203.0.113.7',
      })
    for (let turn = 0; turn < 30; turn += 1) await move(turn)
    await expect(move(30)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    lab.clock.advance(60_000)
    await move(30)
  })
})
