import {
  acceptAction,
  createAction,
  createApiKey,
  createCommunity,
  createReference,
  deleteAction,
  getMe,
  getModerationLog,
  getProfile,
  getProxyToken,
  type IdTag,
  inviteCommunity,
  listActions,
  listProfiles,
  putSetting,
  updateAdminProfile,
  updateMe,
  updateMember,
  updateRelationship,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const alice = 'alice.localhost' as IdTag
const bob = 'bob.localhost' as IdTag
const carol = 'carol.localhost' as IdTag
const daySecs = 86_400

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start({ baseIdTag: home })
  for (const name of [alice, bob, carol]) await server.createTenant(name)
})
afterAll(() => server.stop())

let names = 0
function freshName(): IdTag {
  names += 1
  return `club${names}.localhost` as IdTag
}

async function create(by: string, wish: object = {}, { host = by, query = {} } = {}) {
  // So many communities of one address would be too many in a minute.
  server.clock.advance(10_000)
  const idTag = freshName()
  const client = host === by ? await server.as(by) : server.client(host, await proxyToken(by, host))
  const body = { type: 'community' as const, ...wish }
  return (await client.call(createCommunity, { params: { idTag }, query, body })).data
}

async function proxyToken(by: string, target: string): Promise<string> {
  const { data } = await (await server.as(by)).call(getProxyToken, { query: { target } })
  return data.token
}

/** Somebody on a community's host. */
async function visit(by: string, community: string) {
  return server.client(community, await proxyToken(by, community))
}

async function allow(policy: 'open' | 'invite'): Promise<void> {
  const admin = await server.as(home)
  await admin.call(putSetting, { params: { name: 'community.creation' }, body: { value: policy } })
}

async function invitation(options: object = {}): Promise<string> {
  const { data } = await (await server.as(home)).call(createReference, {
    body: { type: 'invite', ...options },
  })
  return data.refId
}

const fails = (status: number, code: string) => expect.objectContaining({ status, code })
const forbidden = fails(403, 'E-AUTH-FORBIDDEN')

describe('PUT /api/profiles/{idTag}', () => {
  test('makes a community that its maker leads and runs', async () => {
    const token = await invitation()
    const made = await create(alice, { name: ' Garden club ', bio: 'We grow things.', token })
    const club = made.idTag
    expect(made).toEqual({
      idTag: club,
      name: 'Garden club',
      type: 'community',
      createdAt: expect.stringMatching(/Z$/),
    })
    const host = await visit(alice, club)
    expect((await host.call(getMe, {})).data).toMatchObject({
      idTag: club,
      type: 'community',
      roles: ['public', 'follower', 'supporter', 'contributor', 'moderator', 'leader'],
      x: { bio: 'We grow things.' },
    })
    const renamed = await host.call(updateMe, { body: { name: 'Gardeners' } })
    expect(renamed.data).toMatchObject({ name: 'Gardeners', x: { bio: 'We grow things.' } })
    const members = await host.call(listProfiles, { query: { community: club } })
    expect(members.data).toMatchObject([{ idTag: alice, role: 'leader', connected: 'connected' }])
    const { data: atHome } = await (await server.as(alice)).call(getProfile, { params: { idTag: club } })
    expect(atHome).toMatchObject({ type: 'community', connected: 'connected', relationship: 'connected' })
    expect((await host.call(listActions, { query: {} })).data).toEqual([])
  })

  test('wants an invitation that is good, once', async () => {
    const token = await invitation()
    await create(alice, {}, { query: { token } })
    await expect(create(alice, { token })).rejects.toEqual(fails(410, 'E-GONE'))
    await expect(create(alice)).rejects.toEqual(forbidden)
    for (const unknown of ['0123456789ABCDEFabcdefgh', 'x', ''])
      await expect(create(alice, { token: unknown })).rejects.toEqual(fails(404, 'E-NOTFOUND'))
    const expiring = await invitation({ expiresAt: Math.floor(server.clock.now() / 1000) + 60 })
    server.clock.advance(61_000)
    await expect(create(alice, { token: expiring })).rejects.toEqual(fails(410, 'E-GONE'))
    const welcome = (await (await server.as(home)).call(createReference, { body: { type: 'welcome' } })).data
    await expect(create(alice, { token: welcome.refId })).rejects.toEqual(fails(404, 'E-NOTFOUND'))
  })

  test('uses no invitation up when something else is wrong', async () => {
    const token = await invitation()
    const client = await server.as(alice)
    const attempt = client.call(createCommunity, {
      params: { idTag: bob },
      query: {},
      body: { type: 'community', token },
    })
    await expect(attempt).rejects.toEqual(fails(409, 'E-PROFILE-EXISTS'))
    await expect(create(alice, { token, name: '\u0007' })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    await expect(create(alice, { token })).resolves.toBeDefined()
  })

  test('of one invitation at the same time makes one community', async () => {
    const token = await invitation()
    const outcomes = await Promise.allSettled([create(alice, { token }), create(bob, { token })])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('of one name at the same time makes one community', async () => {
    await allow('open')
    const idTag = freshName()
    const clients = await Promise.all([alice, bob].map((name) => server.as(name)))
    const outcomes = await Promise.allSettled(
      clients.map((client) =>
        client.call(createCommunity, { params: { idTag }, query: {}, body: { type: 'community' } }),
      ),
    )
    await allow('invite')
    const rejected = outcomes.filter(({ status }) => status === 'rejected')
    expect(rejected).toEqual([{ status: 'rejected', reason: fails(409, 'E-PROFILE-EXISTS') }])
  })

  test('ends when as many live here as may, but for administrators', async () => {
    await allow('open')
    const admin = await server.as(home)
    const limit = (value: number) =>
      admin.call(putSetting, { params: { name: 'limits.max_tenants' }, body: { value } })
    const { tenants = 0 } = await server.countRows('tenants')
    await limit(tenants + 1)
    await create(alice)
    await expect(create(alice)).rejects.toEqual(fails(409, 'E-STATE'))
    expect(await server.countRows('tenants')).toEqual({ tenants: tenants + 1 })
    await create(home)
    await limit(0)
  })

  test('needs no invitation where the server is open, or for administrators', async () => {
    await allow('open')
    await expect(create(alice)).resolves.toBeDefined()
    await expect(create(alice, {}, { host: home })).resolves.toBeDefined()
    await allow('invite')
    await expect(create(home)).resolves.toBeDefined()
  })

  test('is for persons of this server, in their own name', async () => {
    await allow('open')
    const club = (await create(alice)).idTag as IdTag
    // On somebody else's host, in the name of a community, and for another leader.
    await expect(create(alice, {}, { host: bob })).rejects.toEqual(forbidden)
    await expect(create(alice, {}, { host: club })).rejects.toEqual(forbidden)
    await expect(create(club)).rejects.toEqual(forbidden)
    await expect(create(alice, { ownerIdTag: bob })).rejects.toEqual(forbidden)
    await allow('invite')
  })

  test('lets administrators name the leader', async () => {
    const made = await create(home, { ownerIdTag: bob })
    expect((await (await visit(bob, made.idTag)).call(getMe, {})).data).toMatchObject({
      roles: expect.arrayContaining(['leader']),
    })
    const notHome = await visit(home, made.idTag)
    expect((await notHome.call(getMe, {})).data).not.toHaveProperty('roles')
    await expect(create(home, { ownerIdTag: 'nobody.localhost' })).rejects.toEqual(
      fails(404, 'E-PROFILE-NOTFOUND'),
    )
    await expect(create(home, { ownerIdTag: made.idTag })).rejects.toEqual(forbidden)
  })

  test('refuses what it cannot read', async () => {
    const token = await invitation()
    for (const wish of [
      { type: 'club' },
      { type: undefined },
      { name: '' },
      { name: 'x'.repeat(101) },
      { bio: 'x'.repeat(5_001) },
      { ownerIdTag: 'nobody' },
      { appDomain: 'not a name' },
    ])
      await expect(create(alice, { token, ...wish })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    for (const profilePic of ['x', `b1~${'A'.repeat(43)}`])
      await expect(create(alice, { token, profilePic })).rejects.toEqual(fails(404, 'E-FILE-NOTFOUND'))
  })

  test('publishes no private picture for a credential that may not share files', async () => {
    const png = await onePixel()
    const maker = await server.as(alice)
    const upload = { params: { preset: 'default', fileName: 'a.png' }, body: new Blob([png]) } as const
    const { data: file } = await maker.upload(uploadFile, upload)
    const wish = async (scope: string) => {
      const { data } = await maker.call(createApiKey, { body: { name: 'a program', scope } })
      const params = { idTag: freshName() }
      const body = { type: 'community', token: await invitation(), profilePic: file.fileId } as const
      server.clock.advance(10_000)
      return await server.client(alice, data.key).call(createCommunity, { params, query: {}, body })
    }
    await expect(wish('write:profile')).rejects.toEqual(fails(404, 'E-FILE-NOTFOUND'))
    await expect(wish('write:profile read:files')).rejects.toEqual(fails(403, 'E-AUTH-FORBIDDEN'))
    expect((await wish('write:profile admin:files')).data.profilePic).toMatch(/^b1~/)
  })

  test('copies a picture of the maker’s', async () => {
    const png = await onePixel()
    const stored = await server.request(alice, '/api/me/image', {
      method: 'PUT',
      headers: { 'content-type': 'image/png', authorization: `Bearer ${await server.signIn(alice)}` },
      body: png,
    })
    const { data } = (await stored.json()) as { data: { fileId: string } }
    const made = await create(alice, { token: await invitation(), profilePic: data.fileId })
    expect(made.profilePic).toMatch(/^b1~/)
    expect(made.profilePic).not.toBe(data.fileId)
    const bytes = await server.request(made.idTag, `/api/files/${made.profilePic}`)
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/webp'])
  })
})

describe('POST /api/admin/invite-community', () => {
  const invite = async (body: object) =>
    (await (await server.as(home)).call(inviteCommunity, { body: body as never })).data

  test('invites one person, for thirty days unless it says otherwise', async () => {
    const now = Math.floor(server.clock.now() / 1000)
    const invited = await invite({ targetIdTag: alice, message: 'Make one' })
    expect(invited).toEqual({
      refId: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
      inviteUrl: `${server.urlOf(alice)}/communities/new#token=${invited.refId}`,
      targetIdTag: alice,
      expiresAt: now + 30 * daySecs,
    })
    await expect(create(bob, { token: invited.refId })).rejects.toEqual(fails(404, 'E-NOTFOUND'))
    await expect(create(alice, { token: invited.refId })).resolves.toBeDefined()
    await expect(create(alice, { token: invited.refId })).rejects.toEqual(fails(410, 'E-GONE'))
    expect((await invite({ targetIdTag: alice, expiresInDays: 1 })).expiresAt).toBeLessThan(now + 2 * daySecs)
  })

  test('knows whom it invites, and for how long', async () => {
    await expect(invite({ targetIdTag: 'nobody.localhost' })).rejects.toEqual(
      fails(404, 'E-PROFILE-NOTFOUND'),
    )
    for (const wrong of [{ expiresInDays: 0 }, { expiresInDays: 366 }, { targetIdTag: 'x' }, { message: 1 }])
      await expect(invite({ targetIdTag: alice, ...wrong })).rejects.toEqual(fails(400, 'E-VALIDATION'))
  })
})

describe('on a community’s host', () => {
  test('leaders and moderators change people, others and tokens of other places do not', async () => {
    await allow('open')
    const club = (await create(alice)).idTag
    await allow('invite')
    await server.relate(club, bob, { connection: 'connected', role: 'contributor' })
    const [leader, member] = [await visit(alice, club), await visit(bob, club)]
    const change = (client: typeof leader, idTag: string, body: object) =>
      client.call(updateAdminProfile, { params: { idTag }, body: body as never })

    await expect(change(member, alice, { status: 'Muted' })).rejects.toEqual(forbidden)
    await expect(change(server.client(club), bob, { status: 'Muted' })).rejects.toEqual(
      fails(401, 'E-AUTH-UNAUTH'),
    )
    const promoted = await change(leader, bob, { roles: ['moderator'] })
    expect(promoted.data).toEqual({
      idTag: bob,
      name: bob,
      status: 'Active',
      roles: ['public', 'follower', 'supporter', 'contributor', 'moderator'],
    })
    // The same token is worth more at once, and less.
    await expect(change(member, 'home.localhost', { status: 'Muted' })).resolves.toBeDefined()
    await expect(change(member, alice, { roles: [] })).rejects.toEqual(forbidden)
    await change(leader, bob, { roles: ['contributor'] })
    await expect(change(member, 'home.localhost', { status: 'Active' })).rejects.toEqual(forbidden)

    await expect(change(leader, 'nobody.localhost', { status: 'Banned' })).rejects.toEqual(
      fails(404, 'E-PROFILE-NOTFOUND'),
    )
    await expect(change(leader, bob, { name: 'Robert' })).rejects.toEqual(forbidden)
    expect((await change(leader, club, { name: 'Renamed' })).data).toMatchObject({ name: 'Renamed' })
    await expect(change(leader, club, { roles: ['leader'] })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    await expect(change(leader, alice, { roles: ['moderator'] })).rejects.toEqual(fails(409, 'E-STATE'))
    // What is good on a community's host is not at home, nor on the server's.
    const atHome = await server.as(alice)
    await expect(change(atHome, bob, { status: 'Muted' })).rejects.toEqual(forbidden)
    await expect(change(await visit(alice, home), bob, { status: 'Muted' })).rejects.toEqual(forbidden)
  })

  test('a ban ends the member’s tokens, and no other token of theirs is worth more than nothing', async () => {
    await allow('open')
    const club = (await create(alice)).idTag
    await allow('invite')
    await server.relate(club, bob, { connection: 'connected', role: 'contributor' })
    const exchanged = await server.request(
      club,
      `/api/auth/access-token?token=${await proxyToken(bob, club)}`,
    )
    const { data } = (await exchanged.json()) as { data: { token: string } }
    const session = server.client(club, data.token)
    expect((await session.call(listProfiles, { query: {} })).data).toHaveLength(2)
    const leader = await visit(alice, club)
    await leader.call(updateAdminProfile, { params: { idTag: bob }, body: { status: 'Banned' } })
    await expect(session.call(listProfiles, { query: {} })).rejects.toEqual(fails(401, 'E-AUTH-UNAUTH'))
    expect((await (await visit(bob, club)).call(listProfiles, { query: {} })).data).toEqual([])
    const { data: listed } = await leader.call(listProfiles, { query: { status: ['Banned'] } })
    expect(listed).toMatchObject([{ idTag: bob, status: 'Banned', role: 'contributor' }])
    await leader.call(updateRelationship, { params: { idTag: bob }, body: { relationship: 'unblock' } })
    expect((await (await visit(bob, club)).call(listProfiles, { query: {} })).data).toHaveLength(2)
    const block = { params: { idTag: alice }, body: { relationship: 'block' as const } }
    await expect((await server.as(club)).call(updateRelationship, block)).rejects.toEqual(
      fails(409, 'E-STATE'),
    )
  })

  test('members see who is a member, and nothing of what is thought of them', async () => {
    await allow('open')
    const club = (await create(alice)).idTag
    await allow('invite')
    await server.relate(club, bob, { connection: 'connected', role: 'contributor', isMuted: true })
    await server.relate(club, home, { connection: 'connected', role: 'contributor', isBlocked: true })
    const host = await visit(bob, club)
    const { data } = await host.call(listProfiles, { query: {} })
    expect(data.map(({ idTag, status, role }) => [idTag, status, role])).toEqual([
      [alice, 'Active', 'leader'],
      [bob, 'Active', 'contributor'],
    ])
    for (const hidden of ['following', 'follower', 'connected', 'relationship', 'banReason'])
      expect(data[0]).not.toHaveProperty(hidden)
    expect((await host.call(listProfiles, { query: { status: ['Muted'] } })).data).toEqual([])
    expect((await host.call(listProfiles, { query: { role: 'leader' } })).data).toMatchObject([
      { idTag: alice },
    ])
    const { data: page } = await host.call(listProfiles, { query: { limit: 1 } })
    expect(page).toHaveLength(1)
  })
})

describe('from their own host, through the gateway', () => {
  const changed = async (by: string, club: string, idTag: string, body: object) => {
    const client = (await server.as(by)).at(club)
    return (await client.call(updateMember, { params: { idTag }, body })).data
  }
  const found = async () => {
    await allow('open')
    const club = (await create(alice)).idTag
    await allow('invite')
    await server.relate(club, bob, { connection: 'connected', role: 'contributor' })
    return club
  }

  test('leaders change roles and statuses, others what is theirs', async () => {
    const club = await found()
    expect(await changed(alice, club, bob, { role: 'moderator' })).toEqual({
      idTag: bob,
      name: bob,
      status: 'Active',
      roles: ['public', 'follower', 'supporter', 'contributor', 'moderator'],
    })
    await expect(changed(bob, club, alice, { role: 'contributor' })).rejects.toEqual(forbidden)
    await expect(changed(bob, club, alice, { status: 'Banned' })).rejects.toEqual(forbidden)
    await expect(changed(alice, club, alice, { role: 'contributor' })).rejects.toEqual(fails(409, 'E-STATE'))
    const banExpiresAt = Math.floor(server.clock.now() / 1000) + daySecs
    const ban = { status: 'Banned', banExpiresAt, banReason: 'Spam' } as const
    expect(await changed(alice, club, bob, ban)).toMatchObject({
      status: 'Banned',
      banReason: 'Spam',
      banExpiresAt: new Date(banExpiresAt * 1000).toISOString(),
    })
    await expect(changed(alice, club, bob, { role: 'nothing' })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    expect(await changed(alice, club, bob, { role: 'public', status: 'Active' })).toMatchObject({
      status: 'Active',
      roles: ['public'],
    })
    const own = { params: { idTag: bob }, body: { status: 'Banned' as const } }
    await expect((await server.as(alice)).call(updateMember, own)).rejects.toEqual(forbidden)
  })

  test('memberships end where roles decide it, not by the actions that began them', async () => {
    const club = await found()
    await server.relate(club, bob, { role: 'moderator' })
    const moderator = (await server.as(bob)).at(club)
    const end = { type: 'CONN', subType: 'DEL' } as const
    for (const audienceTag of [alice, bob])
      await expect(moderator.call(createAction, { body: { ...end, audienceTag } })).rejects.toEqual(forbidden)
    const asking = await server.as(carol)
    const { data: asked } = await asking.call(createAction, { body: { type: 'CONN', audienceTag: club } })
    await server.settle()
    await moderator.call(acceptAction, { params: { actionId: asked.actionId } })
    await server.settle()
    const query = { type: ['CONN'] as ['CONN'], issuer: club }
    const { data: halves } = await moderator.call(listActions, { query })
    expect(halves.map(({ audienceTag }) => audienceTag)).toContain(carol)
    for (const { actionId } of halves)
      await expect(moderator.call(deleteAction, { params: { actionId } })).rejects.toEqual(
        fails(409, 'E-STATE'),
      )
  })

  test('leaders and moderators read what was decided, with the reasons and without addresses', async () => {
    const club = await found()
    const host = (await server.as(alice)).at(club)
    const posted = await (await server.as(bob)).at(club).call(createAction, {
      body: { type: 'POST', content: { text: 'Buy this' }, visibility: 'P' },
    })
    const { actionId } = posted.data
    await host.call(deleteAction, { params: { actionId }, query: { reason: 'An advertisement' } })
    const other = { type: 'POST', audienceTag: club as IdTag, content: { text: 'Buy that' } } as const
    const { data: sent } = await (await server.as(bob)).call(createAction, { body: other })
    await server.settle()
    const reason = { reason: 'Another one' }
    await host.call(deleteAction, { params: { actionId: sent.actionId }, query: reason })
    server.clock.advance(1_000)
    await changed(alice, club, bob, { status: 'Banned', banReason: 'Spam' })
    const { data } = await host.call(getModerationLog, { query: {} })
    expect(data).toMatchObject([
      { event: 'member.status-changed', actorTag: alice, details: { idTag: bob, banReason: 'Spam' } },
      {
        event: 'action.removed',
        details: { actionId: sent.actionId, issuerTag: bob, reason: 'Another one' },
      },
    ])
    expect(Object.keys(data[0] ?? {})).not.toContain('ipAddress')
    const first = await host.call(getModerationLog, { query: { limit: 1 } })
    const cursor = first.cursorPagination?.nextCursor ?? ''
    expect((await host.call(getModerationLog, { query: { cursor } })).data).toMatchObject([
      { event: 'action.removed' },
    ])
    await changed(alice, club, bob, { status: 'Active' })
    const outside = (await server.as(bob)).at(club).call(getModerationLog, { query: {} })
    await expect(outside).rejects.toEqual(forbidden)
    await changed(alice, club, bob, { role: 'moderator' })
    const inside = await (await server.as(bob)).at(club).call(getModerationLog, { query: {} })
    expect(inside.data).toHaveLength(4)
  })
})

async function onePixel(): Promise<Uint8Array<ArrayBuffer>> {
  const { default: sharp } = await import('sharp')
  const background = { r: 10, g: 120, b: 200 }
  const bytes = await sharp({ create: { width: 600, height: 500, channels: 3, background } })
    .png()
    .toBuffer()
  return new Uint8Array(bytes)
}
