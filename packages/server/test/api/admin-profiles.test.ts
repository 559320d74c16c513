import { join } from 'node:path'
import {
  blockDomain,
  createApiKey,
  getAccessToken,
  getAuditLog,
  getMe,
  getProxyToken,
  listDomainBlocks,
  listProfiles,
  login,
  sendPasswordReset,
  setPassword,
  unblockDomain,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const bob = 'bob.localhost'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start({ baseIdTag: home })
  await server.createTenant(alice, { email: 'alice@example.org' })
  await server.createTenant(bob)
})
afterAll(() => server.stop())

const fails = (status: number, code: string) => expect.objectContaining({ status, code })
const forbidden = fails(403, 'E-AUTH-FORBIDDEN')

async function decide(idTag: string, body: object, by?: Awaited<ReturnType<TestServer['as']>>) {
  const client = by ?? (await server.as(home))
  return (await client.call(updateAdminProfile, { params: { idTag }, body: body as never })).data
}

async function visit(by: string, host: string) {
  const { data } = await (await server.as(by)).call(getProxyToken, { query: { target: host } })
  return server.client(host, data.token)
}

describe('PATCH /api/admin/profiles/{idTag} on the base tenant’s host', () => {
  test('changes the name of a tenant, and of nobody else', async () => {
    expect(await decide(alice, { name: ' Alice B. ' })).toEqual({
      idTag: alice,
      name: 'Alice B.',
      status: 'Active',
      roles: ['user'],
    })
    expect((await server.client(alice).call(getMe, {})).data.name).toBe('Alice B.')
    await expect(decide(alice, { name: '\u0000' })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    await expect(decide('nobody.localhost', { name: 'X' })).rejects.toEqual(fails(404, 'E-PROFILE-NOTFOUND'))
  })

  test('appoints and dismisses administrators, whose tokens follow at once', async () => {
    const visiting = await visit(alice, home)
    const administer = () => visiting.call(listDomainBlocks, { query: {} })
    await expect(administer()).rejects.toEqual(forbidden)
    expect(await decide(alice, { roles: ['user', 'SADM'] })).toMatchObject({ roles: ['user', 'SADM'] })
    await expect(administer()).resolves.toBeDefined()
    // Who was appointed decides about people, and not about who administers.
    await expect(decide(bob, { status: 'Trusted' }, visiting)).resolves.toBeDefined()
    await expect(decide(bob, { roles: ['SADM'] }, visiting)).rejects.toEqual(forbidden)
    await expect(decide(alice, { roles: [] }, visiting)).rejects.toEqual(forbidden)
    await expect(decide(home, { status: 'Banned' }, visiting)).rejects.toEqual(forbidden)
    await expect(decide(home, { name: 'Mine' }, visiting)).rejects.toEqual(forbidden)
    await decide(bob, { roles: ['SADM'] })
    await expect(decide(bob, { status: 'Banned' }, visiting)).rejects.toEqual(forbidden)
    await decide(bob, { roles: ['user'], status: 'Active' })
    expect(await decide(alice, { roles: [] })).toMatchObject({ roles: ['user'] })
    await expect(administer()).rejects.toEqual(forbidden)
  })

  test('keeps those from administering whom the server blocks', async () => {
    await decide(alice, { roles: ['user', 'SADM'] })
    const visiting = await visit(alice, home)
    const administer = () => visiting.call(listDomainBlocks, { query: {} })
    const owner = await server.as(home)
    await expect(administer()).resolves.toBeDefined()
    await decide(alice, { status: 'Blocked' })
    await expect(administer()).rejects.toEqual(forbidden)
    await decide(alice, { status: 'Active' })
    await expect(administer()).resolves.toBeDefined()
    await owner.call(blockDomain, { body: { domain: alice } })
    server.clock.advance(2_001)
    await expect(administer()).rejects.toEqual(forbidden)
    await owner.call(unblockDomain, { params: { domain: alice } })
    server.clock.advance(2_001)
    await expect(administer()).resolves.toBeDefined()
    await decide(alice, { roles: [] })
  })

  test('leaves the base tenant as it is, but for its name', async () => {
    for (const body of [{ status: 'Suspended' }, { roles: [] }, { roles: ['SADM'] }, { banReason: 'x' }])
      await expect(decide(home, body)).rejects.toEqual(fails(409, 'E-STATE'))
    expect(await decide(home, { name: 'Home' })).toMatchObject({ name: 'Home', roles: ['user', 'SADM'] })
  })

  test.each([
    ['a status that is none', { status: 'Evil' }],
    ['a status in small letters', { status: 'banned' }],
    ['a role of communities', { roles: ['leader'] }],
    ['an end that has passed', { status: 'Banned', banExpiresAt: 1 }],
    ['an end in milliseconds', { status: 'Banned', banExpiresAt: 1_767_225_600_000 }],
    ['an end of what has none', { status: 'Active', banExpiresAt: '2099-01-01T00:00:00Z' }],
    ['a reason alone', { banReason: 'Spam' }],
    ['a long reason', { status: 'Banned', banReason: 'x'.repeat(501) }],
    ['a name of nothing', { name: '' }],
  ])('refuses %s', async (_, body) => {
    await expect(decide(bob, body)).rejects.toEqual(fails(400, 'E-VALIDATION'))
  })

  test('ignores what only the server sets', async () => {
    const changed = await decide(bob, { tnId: 1, createdAt: 1, type: 'community', idTag: home })
    expect(changed).toEqual({ idTag: bob, name: bob, status: 'Active', roles: ['user'] })
  })

  test('is nobody else’s: not owners on their hosts, not visitors, not narrowed tokens, not API keys', async () => {
    const ban = { status: 'Banned' }
    await expect(decide(bob, ban, await server.as(alice))).rejects.toEqual(forbidden)
    await expect(decide(bob, ban, await visit(alice, home))).rejects.toEqual(forbidden)
    await expect(decide(bob, ban, server.client(home))).rejects.toEqual(fails(401, 'E-AUTH-UNAUTH'))
    const owner = await server.as(home)
    const { data: narrowed } = await owner.call(getAccessToken, { query: { scope: 'write' } })
    await expect(decide(bob, ban, server.client(home, narrowed.token))).rejects.toEqual(forbidden)
    const { data: key } = await owner.call(createApiKey, { body: { name: 'script', scope: 'admin' } })
    await expect(decide(bob, ban, server.client(home, key.key))).rejects.toEqual(forbidden)
    const { data } = await owner.call(listProfiles, { query: { status: ['Banned'] } })
    expect(data).toEqual([])
  })

  test('is not an appointed administrator’s by a key of theirs', async () => {
    await decide(alice, { roles: ['SADM'] })
    const { data: made } = await (await server.as(alice)).call(createApiKey, { body: { name: 'script' } })
    const { data: proxy } = await server
      .client(alice, made.key)
      .call(getProxyToken, { query: { target: home } })
    const { data: visiting } = await server
      .client(home)
      .call(getAccessToken, { query: { token: proxy.token } })
    for (const token of [proxy.token, visiting.token]) {
      const client = server.client(home, token)
      await expect(client.call(listDomainBlocks, { query: {} })).rejects.toEqual(forbidden)
      await expect(decide(bob, { status: 'Banned' }, client)).rejects.toEqual(forbidden)
    }
    await decide(alice, { roles: [] })
  })

  test('leaves each community a leader who may act', async () => {
    const club = 'led.localhost'
    await server.createTenant(club, { type: 'community' })
    const leads = (idTag: string) => server.relate(club, idTag, { role: 'leader', connection: 'connected' })
    await leads(alice)
    for (const status of ['Suspended', 'Banned', 'Blocked'])
      await expect(decide(alice, { status })).rejects.toMatchObject({
        code: 'E-STATE',
        status: 409,
        details: { communities: [club] },
      })
    await leads(bob)
    await decide(alice, { status: 'Banned' })
    await expect(decide(bob, { status: 'Suspended' })).rejects.toEqual(fails(409, 'E-STATE'))
    // Nor can the one leader go who is left.
    const leader = await visit(bob, club)
    await expect(decide(bob, { roles: [] }, leader)).rejects.toEqual(fails(409, 'E-STATE'))
    await decide(alice, { status: 'Active' })
    await decide(bob, { roles: [] }, leader)
    await server.relate(club, alice, { role: undefined, connection: 'disconnected' })
  })

  test('makes no community an administrator', async () => {
    await server.createTenant('rulers.localhost', { type: 'community' })
    await expect(decide('rulers.localhost', { roles: ['SADM'] })).rejects.toEqual(fails(400, 'E-VALIDATION'))
    expect(await decide('rulers.localhost', { roles: ['user'] })).toMatchObject({ roles: ['user'] })
  })

  test('lists the base tenant’s own blocks and the server’s, each identity once', async () => {
    const owner = await server.as(home)
    await server.block(home, alice)
    await decide(alice, { status: 'Blocked', banReason: 'Loud' })
    await decide(bob, { status: 'Blocked' })
    const { data } = await owner.call(listProfiles, { query: { status: ['Blocked'] } })
    expect(data.map(({ idTag, banReason }) => [idTag, banReason])).toEqual([
      [alice, 'Loud'],
      [bob, undefined],
    ])
    for (const idTag of [alice, bob]) await decide(idTag, { status: 'Active' })
    const offset = await owner.call(listProfiles, { query: { status: ['Blocked'], offset: 0 } })
    expect(offset.data.map(({ idTag }) => idTag)).toEqual([alice])
    await server.relate(home, alice, { isBlocked: false })
  })

  test('is written into the audit trail', async () => {
    server.clock.advance(1_000)
    await decide(bob, { status: 'Muted', banReason: 'Loud' })
    const { data } = await (await server.as(home)).call(getAuditLog, { query: { limit: 1 } })
    expect(data).toMatchObject([
      {
        event: 'profile.changed-by-admin',
        actorTag: home,
        details: { idTag: bob, status: 'Muted', banReason: 'Loud' },
      },
    ])
    await decide(bob, { status: 'Active' })
  })
})

describe('POST /api/admin/tenants/{idTag}/password-reset', () => {
  const reset = async (idTag: string) =>
    (await (await server.as(home)).call(sendPasswordReset, { params: { idTag } })).data

  test('mails a link that sets a password, for a day', async () => {
    expect(await reset(alice)).toEqual({ sent: true })
    await server.settle()
    const mails = await readMails(join(server.running.services.config.dataDir, 'mail'))
    const link = new URL(linkIn(mails.at(-1) ?? { text: '' }))
    expect([mails.at(-1)?.to, link.origin]).toEqual(['alice@example.org', server.urlOf(alice)])
    const token = new URLSearchParams(link.hash.slice(1)).get('token') ?? ''
    server.clock.advance(23 * 3_600_000)
    const password = 'a brand new password'
    await server.client(alice).call(setPassword, { body: { token, password } })
    await expect(
      server.client(alice).call(login, { body: { idTag: alice, password } }),
    ).resolves.toBeDefined()
    await expect(
      server.client(alice).call(login, { body: { idTag: alice, password: testPassword } }),
    ).rejects.toMatchObject({ status: 401 })
    expect(await reset(alice)).toEqual({ sent: true })
    await server.settle()
    const later = await readMails(join(server.running.services.config.dataDir, 'mail'))
    const stale = new URLSearchParams(new URL(linkIn(later.at(-1) ?? { text: '' })).hash.slice(1)).get(
      'token',
    )
    server.clock.advance(25 * 3_600_000)
    await expect(
      server.client(alice).call(setPassword, { body: { token: stale ?? '', password } }),
    ).rejects.toMatchObject({ status: 410 })
  })

  test('says that it sent nothing where there is nobody to send to', async () => {
    expect(await reset(bob)).toEqual({ sent: false })
    await server.createTenant('club.localhost', { type: 'community' })
    expect(await reset('club.localhost')).toEqual({ sent: false })
    await expect(reset('nobody.localhost')).rejects.toEqual(fails(404, 'E-PROFILE-NOTFOUND'))
  })
})
