import { getIdentityDocument, getMe, getProfile, type IdTag, updateMe } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { serverItself } from '#features/federation/index.ts'
import { changeRelation, relationsMigrations } from '#features/relations/index.ts'
import { createTenant, openTenants, suspendTenant, tenantsMigrations } from '#features/tenants/index.ts'
import { callEndpoint, type TestCall } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Identified, identified, type Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { EgressError, type EgressRequest } from '#infra/egress/index.ts'
import {
  createOwnProfile,
  findProfile,
  profileEndpoints,
  profilesMigrations,
  refreshProfile,
} from './index.ts'
import { parseRemoteProfile } from './remote-profile.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.net' as IdTag
const dayMs = 86_400_000

function identity(idTag: IdTag, isOwner = false): Identified {
  const role = isOwner ? 'leader' : 'public'
  return identified(idTag, { tokenUse: 'login', role, isOwner })
}

describe('a profile of another server', () => {
  test.each([
    ['no JSON', '<html>'],
    ['an error', '{"error":{"code":"E-PROFILE-NOTFOUND"}}'],
    ['what is nested too deeply', `{"data":{"idTag":"${bob}","x":{"a":${'['.repeat(99)}${']'.repeat(99)}}}}`],
    ['another identity', '{"data":{"idTag":"eve.example.net","name":"Eve"}}'],
  ])('is not taken from %s', (_, text) => {
    expect(parseRemoteProfile(text, bob)).toBeUndefined()
  })

  test('loses malformed members', () => {
    const data = {
      idTag: bob,
      name: 'a\nb',
      type: 'robot',
      profilePic: '../../etc/passwd',
      createdAt: 'yesterday',
      x: { bio: 'x'.repeat(17_000) },
    }
    expect(parseRemoteProfile(JSON.stringify({ data }), bob)).toEqual({})
  })
})

eachDialect('profiles', (open) => {
  async function start() {
    const clock = new TestClock()
    const db = await open({
      migrations: [...tenantsMigrations, ...relationsMigrations, ...profilesMigrations],
      clock,
    })
    const tenants = openTenants({ db, clock })
    const requests: EgressRequest[] = []
    const world = {
      resolved: 'found' as 'found' | 'unknown' | 'unreachable',
      answer: { status: 200, headers: { etag: '"1"' }, body: '' } as {
        status: number
        headers: Record<string, string>
        body: string
      },
      isDown: false,
    }
    const jobs: string[] = []
    const keys = {
      kids: [
        { kid: '20260101aaaa', publicKey: 'PEM-NEW' },
        { kid: '20250101bbbb', publicKey: 'PEM-OLD', expiresAt: 5 },
      ],
    }
    const deps = {
      db,
      clock,
      tenants,
      jobs: { enqueue: async (_tx: unknown, kind: { name: string }) => void jobs.push(kind.name) },
      egress: {
        request: async (request: EgressRequest) => {
          requests.push(request)
          if (world.isDown) throw new EgressError('connect', 'down')
          return { ...world.answer, body: Buffer.from(world.answer.body) }
        },
      },
      identities: {
        resolve: async (idTag: IdTag) =>
          world.resolved === 'found'
            ? {
                kind: 'found' as const,
                identity: {
                  idTag,
                  serverUrl: 'https://host.example.net',
                  inboxUrl: 'https://host.example.net/api/inbox',
                  keys: [],
                  name: 'Bob of the document',
                },
              }
            : { kind: world.resolved },
      },
      keys: { list: async () => keys.kids },
      serverUrl: (idTag: IdTag) => `https://${idTag}`,
      inboxUrl: () => 'https://base.example.com/api/inbox',
      serverInfo: { version: '1.2.3', commit: 'abc', features: ['federation'] },
      createAction: async () => undefined,
      emit: async () => undefined,
      storePicture: async () => {
        throw new Error('no pictures here')
      },
      dropPicture: async () => undefined,
    }
    const createDeps = {
      tenants,
      clock,
      keys: { create: async () => ({ kid: 'k', publicKey: 'p' }) },
      isProxied: async () => false,
      createOwnProfile: (
        tx: Parameters<typeof createOwnProfile>[1],
        profile: Parameters<typeof createOwnProfile>[2],
      ) => createOwnProfile({ clock }, tx, profile),
    }
    const tenant: Tenant = await db.transact(serverTenant, (tx) =>
      createTenant(createDeps, tx, { idTag: alice, type: 'person', name: 'Alice' }),
    )
    const endpoints = profileEndpoints({ ...deps, discoveryName: 'service' })
    const owner = identity(alice, true)
    const call = <C extends Parameters<typeof callEndpoint>[1]>(contract: C, input: TestCall<C> = {}) =>
      callEndpoint(endpoints, contract, { tenant, ...input })
    return { clock, db, deps, endpoints, tenant, owner, call, world, requests, jobs, keys }
  }

  describe('GET /api/me', () => {
    test('gives anybody the public form, and nothing that is the owner’s', async () => {
      const { call } = await start()
      const publicForm = {
        idTag: alice,
        name: 'Alice',
        type: 'person',
        publicKey: 'PEM-NEW',
        serverInfo: { version: '1.2.3', commit: 'abc', features: ['federation'] },
      }
      expect(await call(getMe)).toEqual(publicForm)
      expect(await call(getMe, { caller: identity(bob) })).toEqual(publicForm)
    })

    test('gives the owner both forms in one', async () => {
      const { call, owner, tenant } = await start()
      expect(await call(getMe, { caller: owner })).toEqual({
        tnId: tenant.tenantId,
        idTag: alice,
        name: 'Alice',
        type: 'person',
        publicKey: 'PEM-NEW',
        serverInfo: { version: '1.2.3', commit: 'abc', features: ['federation'] },
        status: 'Active',
        roles: ['user'],
        createdAt: '2026-01-01T00:00:00.000Z',
      })
    })

    test('names an administrator', async () => {
      const { call, owner } = await start()
      expect(await call(getMe, { caller: { ...owner, isAdmin: true } })).toMatchObject({
        roles: ['user', 'SADM'],
      })
    })
  })

  describe('PATCH /api/me', () => {
    test('changes what is given and answers the profile form', async () => {
      const { call, owner } = await start()
      expect(await call(updateMe, { caller: owner, body: { x: { bio: 'Gardener' } } })).toMatchObject({
        name: 'Alice',
        x: { bio: 'Gardener' },
      })
      expect(await call(updateMe, { caller: owner, body: { name: ' Alice B. ' } })).toMatchObject({
        name: 'Alice B.',
        x: { bio: 'Gardener' },
      })
      expect(await call(getMe)).not.toHaveProperty('x')
    })

    test.each([
      [{ name: '  ' }],
      [{ name: 'a\u0007b' }],
      [{ name: '\u200b' }],
      [{ name: '\u202ea' }],
      [{ x: { bio: 'x'.repeat(16_384) } }],
    ])('refuses %j', async (body) => {
      const { call, owner } = await start()
      await expect(call(updateMe, { caller: owner, body })).rejects.toMatchObject({ code: 'E-VALIDATION' })
    })
  })

  describe('GET /api/profiles/{idTag}', () => {
    test('shows a tenant of this server without what holds between tenants', async () => {
      const { call, db, tenant } = await start()
      await db.transact(tenant.tenantId, (tx) => changeRelation(tx, bob, { isBlocked: true, at: 5 }))
      expect(await call(getProfile, { params: { idTag: alice } })).toEqual({
        tnId: tenant.tenantId,
        idTag: alice,
        name: 'Alice',
        type: 'person',
        status: 'Active',
        roles: [],
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.000Z',
      })
    })

    test('asks another server once a day', async () => {
      const { call, world, requests, clock, jobs, deps } = await start()
      const data = {
        idTag: bob,
        name: 'Bob',
        type: 'community',
        x: { bio: 'Hi' },
        createdAt: '2025-01-01T00:00:00Z',
      }
      world.answer.body = JSON.stringify({ data })
      const shown = {
        idTag: bob,
        name: 'Bob',
        type: 'community',
        x: { bio: 'Hi' },
        createdAt: '2025-01-01T00:00:00.000Z',
      }
      expect(await call(getProfile, { params: { idTag: bob } })).toMatchObject(shown)
      expect(requests).toMatchObject([{ method: 'GET', url: `https://host.example.net/api/profiles/${bob}` }])
      clock.advance(dayMs - 1000)
      expect(await call(getProfile, { params: { idTag: bob } })).toMatchObject(shown)
      expect([requests.length, jobs]).toEqual([1, []])
      clock.advance(1000)
      expect(await call(getProfile, { params: { idTag: bob } })).toMatchObject(shown)
      expect(jobs).toEqual(['profiles.refresh'])
      world.answer = { status: 304, headers: {}, body: '' }
      await refreshProfile(deps, bob)
      expect(requests[1]?.headers).toMatchObject({ 'if-none-match': '"1"' })
      await refreshProfile(deps, bob)
      expect(requests.length).toBe(2)
    })

    test('falls back on the identity’s document when the profile cannot be had', async () => {
      const { call, world } = await start()
      world.isDown = true
      expect(await call(getProfile, { params: { idTag: bob } })).toMatchObject({
        name: 'Bob of the document',
      })
    })

    test('stays as it was when it cannot be refreshed, and is asked for again', async () => {
      const { call, world, clock, deps } = await start()
      const before = await call(getProfile, { params: { idTag: bob } })
      clock.advance(dayMs)
      world.answer = { status: 503, headers: {}, body: '' }
      await expect(refreshProfile(deps, bob)).rejects.toThrow(bob)
      expect(await call(getProfile, { params: { idTag: bob } })).toEqual(before)
    })

    test.each([404, 405, 410, 501])(
      'is what the document says, for a day, where its server answers %i',
      async (status) => {
        const { call, world, clock, deps, jobs, requests } = await start()
        world.answer.body = JSON.stringify({ data: { idTag: bob, type: 'community', x: { bio: 'Hi' } } })
        await call(getProfile, { params: { idTag: bob } })
        clock.advance(dayMs)
        world.answer = { status, headers: {}, body: '' }
        await refreshProfile(deps, bob)
        expect(await call(getProfile, { params: { idTag: bob } })).toMatchObject({
          name: 'Bob of the document',
          type: 'community',
          x: { bio: 'Hi' },
        })
        expect([requests.length, jobs]).toEqual([2, []])
        clock.advance(dayMs)
        await call(getProfile, { params: { idTag: bob } })
        expect(jobs).toEqual(['profiles.refresh'])
      },
    )

    test.each([
      ['', undefined],
      [`"${'e'.repeat(198)}"`, `"${'e'.repeat(198)}"`],
      [`"${'e'.repeat(199)}"`, undefined],
    ])(
      'is asked for again with the entity tag that it had, of at most 200 characters',
      async (etag, sent) => {
        const { call, world, clock, deps, requests } = await start()
        world.answer = { status: 200, headers: { etag }, body: JSON.stringify({ data: { idTag: bob } }) }
        await call(getProfile, { params: { idTag: bob } })
        clock.advance(dayMs)
        await refreshProfile(deps, bob)
        expect(requests[1]?.headers?.['if-none-match']).toBe(sent)
      },
    )

    test('stays when its identity is gone, and is asked for again in a day', async () => {
      const { call, world, clock, deps, jobs } = await start()
      world.answer.body = JSON.stringify({ data: { idTag: bob, name: 'Bob' } })
      const before = await call(getProfile, { params: { idTag: bob } })
      clock.advance(dayMs)
      world.resolved = 'unknown'
      await refreshProfile(deps, bob)
      expect(await call(getProfile, { params: { idTag: bob } })).toEqual(before)
      expect(jobs).toEqual([])
    })

    test('is 404 for an unknown identity and 503 for an unreachable server', async () => {
      const { call, world } = await start()
      world.resolved = 'unknown'
      await expect(call(getProfile, { params: { idTag: bob } })).rejects.toMatchObject({
        code: 'E-PROFILE-NOTFOUND',
      })
      world.resolved = 'unreachable'
      await expect(call(getProfile, { params: { idTag: bob } })).rejects.toMatchObject({
        code: 'E-UNAVAILABLE',
      })
    })

    test('tells the tenant alone what holds between it and the identity', async () => {
      const { call, db, tenant, owner } = await start()
      await db.transact(tenant.tenantId, (tx) =>
        changeRelation(tx, bob, {
          isFollowing: true,
          isFollower: true,
          connection: 'asked',
          at: 1_800_000_000,
        }),
      )
      expect(await call(getProfile, { params: { idTag: bob }, caller: owner })).toMatchObject({
        following: true,
        follower: true,
        connected: 'pending',
        relationship: 'pending',
        updatedAt: '2027-01-15T08:00:00.000Z',
      })
      for (const caller of [identity(bob), identity('eve.example.org' as IdTag)]) {
        const profile = await call(getProfile, { params: { idTag: bob }, caller })
        expect(Object.keys(profile)).not.toEqual(expect.arrayContaining(['following']))
        expect(profile).not.toHaveProperty('relationship')
      }
    })

    test('shows blocks and mutes as the status, to the tenant alone', async () => {
      const { call, db, tenant, owner } = await start()
      await db.transact(tenant.tenantId, (tx) => changeRelation(tx, bob, { isMuted: true, at: 1 }))
      const params = { idTag: bob }
      expect(await call(getProfile, { params, caller: owner })).toMatchObject({ status: 'Muted' })
      expect(await call(getProfile, { params, caller: identity(bob) })).toMatchObject({ status: 'Active' })
    })
  })

  describe('the identity document', () => {
    test('describes the tenant of the host, or the one asked for on any host', async () => {
      const { call, endpoints } = await start()
      const document = {
        idTag: alice,
        serverUrl: `https://${alice}`,
        inboxUrl: 'https://base.example.com/api/inbox',
        publicKey: 'PEM-NEW',
        keys: [
          { kid: '20260101aaaa', publicKey: 'PEM-NEW' },
          { kid: '20250101bbbb', publicKey: 'PEM-OLD', expiresAt: 5 },
        ],
        name: 'Alice',
        type: 'person',
      }
      expect(await call(getIdentityDocument)).toEqual(document)
      expect(await callEndpoint(endpoints, getIdentityDocument, { query: { idTag: alice } })).toEqual(
        document,
      )
    })

    test('may be kept for five minutes, and changes its ETag with its content', async () => {
      const { endpoints, tenant, keys } = await start()
      const bound = endpoints.find(({ contract }) => contract.name === 'getIdentityDocument')
      const headersNow = async () =>
        ((await bound!.handle({ tenant, query: {} } as never)) as { headers: Record<string, string> }).headers
      const before = await headersNow()
      expect(before['cache-control']).toBe('public, max-age=300')
      expect(await headersNow()).toEqual(before)
      keys.kids.pop()
      expect((await headersNow()).etag).not.toBe(before.etag)
    })

    test('is 404 for strangers, for no host and for the suspended', async () => {
      const { endpoints, call, db, deps, tenant } = await start()
      const notFound = { code: 'E-PROFILE-NOTFOUND' }
      await expect(callEndpoint(endpoints, getIdentityDocument, {})).rejects.toMatchObject(notFound)
      await expect(call(getIdentityDocument, { query: { idTag: bob } })).rejects.toMatchObject(notFound)
      await db.transact(tenant.tenantId, (tx) =>
        suspendTenant({ ...deps, revokeSessions: async () => undefined }, tx),
      )
      await expect(call(getIdentityDocument)).rejects.toMatchObject(notFound)
    })
  })

  test('an identity that moves here takes the place of what was remembered of it', async () => {
    const { db, deps, clock } = await start()
    await findProfile(deps, bob, serverItself)
    await db.transact(serverTenant, (tx) =>
      createOwnProfile({ clock }, tx.as(77 as never), { idTag: bob, name: 'Bob at home', type: 'person' }),
    )
    expect(await findProfile(deps, bob, serverItself)).toMatchObject({
      profile: { name: 'Bob at home', refreshedAt: undefined },
    })
  })
})
