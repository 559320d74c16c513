import {
  type Contract,
  type IdTag,
  listProfiles,
  type Profile,
  type RelationshipChange,
  updateRelationship,
} from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { createAction } from '#features/actions/index.ts'
import { changeRelation, findRelation, withStatus } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { callEndpoint, type TestCall } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { searchedTexts } from '#harness/searched-texts.ts'
import { serverTenant } from '#infra/db/index.ts'
import { profileEndpoints } from './index.ts'
import { putRemoteProfile } from './profile-store.ts'

const fails = (code: string) => expect.objectContaining({ code })

eachDialect('relationships', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const unknown = new Set<string>()
    const endpoints = profileEndpoints({
      discoveryName: 'service',
      db: lab.db,
      clock: lab.clock,
      tenants: lab.tenants,
      jobs: lab.jobs,
      keys: lab.keys,
      egress: { request: async () => ({ status: 404, headers: {}, body: new Uint8Array() }) },
      identities: {
        resolve: async (idTag) =>
          unknown.has(idTag)
            ? { kind: 'unknown' }
            : {
                kind: 'found',
                identity: { idTag, serverUrl: 'https://x', inboxUrl: 'https://x', keys: [], name: 'Remote' },
              },
      },
      serverUrl: (idTag) => `https://${idTag}`,
      inboxUrl: (idTag) => `https://${idTag}/api/inbox`,
      serverInfo: { version: '1', features: [] },
      createAction: (request) => createAction(lab.ports, request),
      emit: async () => undefined,
      storePicture: async () => {
        throw new Error('no pictures here')
      },
      dropPicture: async () => undefined,
    })
    const call = <C extends Contract>(actor: Actor, contract: C, input: TestCall<C> = {}) =>
      callEndpoint(endpoints, contract, { tenant: actor.tenant, caller: actor.caller, ...input })
    const set = async (actor: Actor, idTag: IdTag, relationship: RelationshipChange) => {
      const answer = (await call(actor, updateRelationship, {
        params: { idTag },
        body: { relationship },
      })) as {
        relationship: string
      }
      await lab.settle()
      return answer.relationship
    }
    const list = async (actor: Actor, query = {}) =>
      (await call(actor, listProfiles, { query })) as unknown as {
        items: Profile[]
        nextCursor?: string | null
        total?: number
      }
    const tags = async (actor: Actor, query = {}) =>
      (await list(actor, query)).items.map(({ idTag }) => idTag)
    return {
      ...lab,
      unknown,
      call,
      set,
      list,
      tags,
      alice: await lab.makeTenant('alice.example.com'),
      bob: await lab.makeTenant('bob.example.com'),
    }
  }

  describe('PATCH /api/profiles/{idTag}', () => {
    test('follows and unfollows, on both sides', async () => {
      const { set, alice, bob, tags } = await start()
      expect(await set(alice, bob.idTag, 'follow')).toBe('following')
      expect(await findRelation(bob.reader, alice.idTag)).toMatchObject({ isFollower: true })
      expect(await tags(bob, { follower: true })).toEqual([alice.idTag])
      expect(await set(alice, bob.idTag, 'unfollow')).toBe('none')
      expect(await findRelation(bob.reader, alice.idTag)).toMatchObject({ isFollower: false })
    })

    test('connects when both ask, and disconnects both', async () => {
      const { set, alice, bob } = await start()
      expect(await set(alice, bob.idTag, 'connect')).toBe('pending')
      expect(await set(bob, alice.idTag, 'connect')).toBe('connected')
      expect(await findRelation(alice.reader, bob.idTag)).toMatchObject({ connection: 'connected' })
      expect(await set(bob, alice.idTag, 'disconnect')).toBe('none')
      expect(await findRelation(alice.reader, bob.idTag)).toMatchObject({ connection: 'disconnected' })
    })

    test('blocks and mutes without telling anybody', async () => {
      const { set, alice, bob, events } = await start()
      expect(await set(alice, bob.idTag, 'follow')).toBe('following')
      const before = events.length
      expect(await set(alice, bob.idTag, 'mute')).toBe('muted')
      expect(await set(alice, bob.idTag, 'block')).toBe('blocked')
      expect(await set(alice, bob.idTag, 'unmute')).toBe('blocked')
      expect(await set(alice, bob.idTag, 'unblock')).toBe('following')
      expect(events.length).toBe(before)
      expect(await findRelation(bob.reader, alice.idTag)).toMatchObject({ isBlocked: false, isMuted: false })
    })

    test('makes nothing new of what holds already', async () => {
      const { set, alice, bob } = await start()
      for (const change of ['unfollow', 'disconnect', 'follow', 'follow', 'connect', 'connect'] as const)
        await set(alice, bob.idTag, change)
      expect((await alice.list()).map(({ type }) => type).sort()).toEqual(['CONN', 'FLLW'])
    })

    test('is 404 for an unknown identity and 400 for oneself', async () => {
      const { set, alice, unknown } = await start()
      unknown.add('nobody.example.org')
      const nobody = 'nobody.example.org' as IdTag
      for (const change of ['follow', 'block'] as const)
        await expect(set(alice, nobody, change)).rejects.toEqual(fails('E-PROFILE-NOTFOUND'))
      await expect(set(alice, alice.idTag, 'follow')).rejects.toEqual(fails('E-VALIDATION'))
    })
  })

  describe('GET /api/profiles', () => {
    test('finds people by names of all scripts, however they are spelt', async () => {
      const { db, alice, tags } = await start()
      const idTagOf = (at: number) => `p${at}.example.org` as IdTag
      const people = [...searchedTexts.map(({ text }, at) => ({ idTag: idTagOf(at), name: text }))]
      people.push({ idTag: 'xn--bcher-kva.example.org' as IdTag, name: 'Books' })
      await db.transact(serverTenant, async (tx) => {
        const more = { type: 'person' as const, profilePic: undefined, coverPic: undefined, x: undefined }
        const times = { createdAt: 1, updatedAt: 1, refreshedAt: 1, etag: undefined }
        for (const person of people) await putRemoteProfile(tx, { ...person, ...more, ...times })
      })
      await db.transact(alice.tenant.tenantId, async (tx) => {
        for (const { idTag } of people) await changeRelation(tx, idTag, { isFollowing: true, at: 1 })
      })
      for (const [at, { found, missed }] of searchedTexts.entries()) {
        for (const q of found)
          expect([q, await tags(alice, { q })]).toEqual([q, expect.arrayContaining([idTagOf(at)])])
        for (const q of missed)
          expect([q, await tags(alice, { q })]).toEqual([q, expect.not.arrayContaining([idTagOf(at)])])
      }
      for (const q of ['bücher', 'BÜCH', 'bucher.example', 'xn--bcher'])
        expect(await tags(alice, { q })).toEqual(['xn--bcher-kva.example.org'])
    })

    test('lists whom the tenant has to do with, by every filter', async () => {
      const { db, alice, bob, tags, list } = await start()
      const tag = (name: string) => `${name}.example.org` as IdTag
      await db.transact(alice.tenant.tenantId, async (tx) => {
        await changeRelation(tx, bob.idTag, { isFollowing: true, at: 1 })
        await changeRelation(tx, tag('carl'), { connection: 'asked', at: 1 })
        await changeRelation(tx, tag('dora'), { connection: 'connected', isMuted: true, at: 1 })
        await changeRelation(tx, tag('eve'), { isBlocked: true, isFollower: true, at: 1 })
        await changeRelation(tx, tag('former'), { isFollowing: false, at: 1 })
      })
      const [carl, dora, eve] = [tag('carl'), tag('dora'), tag('eve')]
      expect(await tags(alice)).toEqual([bob.idTag, carl, dora, eve])
      expect(await tags(alice, { following: true })).toEqual([bob.idTag])
      expect(await tags(alice, { connected: 'pending' })).toEqual([carl])
      expect(await tags(alice, { connected: 'connected' })).toEqual([dora])
      expect(await tags(alice, { connected: 'disconnected' })).toEqual([bob.idTag, eve])
      expect(await tags(alice, { status: ['Active'] })).toEqual([bob.idTag, carl])
      expect(await tags(alice, { status: ['Muted', 'Blocked'] })).toEqual([dora, eve])
      expect(await tags(alice, { status: ['Banned'] })).toEqual([])
      expect(await tags(alice, { type: 'community' })).toEqual([])
      expect(await tags(alice, { q: 'BOB' })).toEqual([bob.idTag])
      expect(await tags(alice, { q: 'e%' })).toEqual([])
      expect(await tags(alice, { idTag: carl })).toEqual([carl])
      expect((await list(alice, { idTag: bob.idTag })).items).toMatchObject([
        {
          name: 'bob',
          tnId: bob.tenant.tenantId,
          following: true,
          connected: 'disconnected',
          relationship: 'following',
        },
      ])
      expect((await list(alice, { idTag: dora })).items).toMatchObject([{ name: dora, status: 'Muted' }])
    })

    test('goes from page to page, and counts by offset', async () => {
      const { db, alice, list } = await start()
      await db.transact(alice.tenant.tenantId, async (tx) => {
        for (const name of ['a', 'b', 'c'])
          await changeRelation(tx, `${name}.example.org` as IdTag, { isFollowing: true, at: 1 })
      })
      const first = await list(alice, { limit: 2 })
      const second = await list(alice, { limit: 2, cursor: first.nextCursor })
      expect([first.items.length, second.items.length, second.nextCursor]).toEqual([2, 1, null])
      expect(await list(alice, { limit: 2, offset: 2 })).toMatchObject({ total: 3, offset: 2, limit: 2 })
      const last = await list(alice, { limit: 2, sortDir: 'desc' })
      const rest = await list(alice, { limit: 2, sortDir: 'desc', cursor: last.nextCursor })
      expect([...last.items, ...rest.items].reverse()).toEqual([...first.items, ...second.items])
      await expect(list(alice, { cursor: 'rubbish' })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('shows members to members of a community, and nothing else that holds', async () => {
      const { db, makeTenant, alice, bob, tags, list } = await start()
      const club = await makeTenant('club.example.com', 'community')
      await db.transact(club.tenant.tenantId, async (tx) => {
        await changeRelation(tx, alice.idTag, { role: 'moderator', isMuted: true, at: 1 })
        await changeRelation(tx, bob.idTag, { role: 'follower', at: 1 })
        await changeRelation(tx, 'eve.example.org' as IdTag, { isBlocked: true, at: 1 })
      })
      const member = club.as(identity(bob.idTag, { role: 'follower' }))
      expect(await tags(member)).toEqual([alice.idTag, bob.idTag])
      expect(await tags(member, { role: 'moderator', community: club.idTag })).toEqual([alice.idTag])
      const [shown] = (await list(member)).items
      expect(shown).toMatchObject({ status: 'Active', role: 'moderator' })
      expect(shown).not.toHaveProperty('relationship')
      expect(await tags(club)).toHaveLength(3)
      expect(await tags(club, { community: club.idTag })).toHaveLength(2)
      expect(await tags(bob, { community: club.idTag })).toEqual([alice.idTag, bob.idTag])
      expect(await tags(await makeTenant('dora.example.com'), { community: club.idTag })).toEqual([])
      for (const community of [bob.idTag, 'club.example.org' as IdTag])
        await expect(tags(club, { community })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('shows an administrator what was decided for all, each identity once', async () => {
      const { db, alice, tags, list } = await start()
      const tag = (name: string) => `${name}.example.org` as IdTag
      await db.transact(serverTenant, async (tx) => {
        const own = tx.as(alice.tenant.tenantId)
        await changeRelation(own, tag('a'), { isBlocked: true, at: 1 })
        for (const name of ['b', 'c', 'd'])
          await changeRelation(tx, tag(name), { ...withStatus('Blocked'), at: 1 })
        await changeRelation(own, tag('c'), { isBlocked: true, at: 1 })
        await changeRelation(own, tag('d'), { isBlocked: false, at: 1 })
        await changeRelation(tx, tag('e'), { ...withStatus('Banned'), standingReason: 'Spam', at: 1 })
      })
      const admin = alice.as(identity(alice.idTag, { isOwner: true, role: 'leader', isAdmin: true }))
      const blocked = { status: ['Blocked'] }
      expect(await tags(admin, blocked)).toEqual(['a', 'b', 'c', 'd'].map(tag))
      const { items, total } = await list(admin, { ...blocked, limit: 2, offset: 2 })
      expect([items.map(({ idTag }) => idTag), total]).toEqual([['c', 'd'].map(tag), 4])
      expect((await list(admin, { status: ['Banned', 'Suspended'] })).items).toMatchObject([
        { idTag: tag('e'), status: 'Banned', banReason: 'Spam' },
      ])
      // An owner who does not administer sees what holds for the own, whoever decided it.
      expect(await tags(alice, blocked)).toEqual(['a', 'c'].map(tag))
      expect(await tags(admin)).toEqual(['a', 'c'].map(tag))
    })

    test('shows strangers nobody', async () => {
      const { db, alice, bob, tags } = await start()
      await db.transact(alice.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { isFollower: true, at: 1 }),
      )
      expect(await tags(alice.as(identity(bob.idTag)))).toEqual([])
      expect(await tags(alice.as(guest))).toEqual([])
    })
  })
})
