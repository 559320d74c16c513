import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  createApiKey,
  getAccessToken,
  getAuditLog,
  getMe,
  getProxyToken,
  type IdTag,
  listSettings,
  listTenants,
  logout,
  type ProfileStatus,
  purgeTenant,
  putSetting,
  resumeTenant,
  suspendTenant,
  testEmail,
  updateAdminProfile,
  updateMe,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRelation, statusOf } from '#features/relations/index.ts'
import { putOwnSetting } from '#features/settings/index.ts'
import { closedPort } from '#harness/addresses.ts'
import { startSmtpServer } from '#harness/smtp-server.ts'
import { TestServer } from '#harness/test-server.ts'
import { listTenantTables, serverTenant } from '#infra/db/index.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  for (const [idTag, name] of [
    ['alice.localhost', 'Alicé Líddell'],
    ['bob.localhost', '100% Bob_'],
    ['club.localhost', 'Croquet'],
  ] as const)
    await server.createTenant(idTag, { name, type: idTag.startsWith('club') ? 'community' : 'person' })
})
afterAll(() => server.stop())

const admin = () => server.as(server.baseIdTag)
const params = (idTag: string) => ({ params: { idTag: idTag as never } })

describe('the tenants of a server', () => {
  const idTagsOf = async (query: object) =>
    (await (await admin()).call(listTenants, { query })).data.map(({ idTag }) => idTag)

  test('are listed with what they take up, and nothing of what is theirs', async () => {
    const alice = await server.as('alice.localhost')
    await alice.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      body: new Blob(['hello']),
    })
    await server.signIn('alice.localhost')
    const { data } = await (await admin()).call(listTenants, { query: { q: 'alice' } })
    const now = new Date(server.clock.now()).toISOString()
    expect(data).toEqual([
      {
        tnId: expect.any(Number),
        idTag: 'alice.localhost',
        name: 'Alicé Líddell',
        type: 'person',
        isBase: false,
        createdAt: now,
        status: 'active',
        lastSignInAt: now,
        usedBytes: 5,
        files: 1,
      },
    ])
  })

  test('are found by a part of identity or name, in whatever case', async () => {
    for (const q of ['LÍDD', 'lidd', 'É LI']) expect(await idTagsOf({ q })).toEqual(['alice.localhost'])
    expect(await idTagsOf({ q: 'club.' })).toEqual(['club.localhost'])
    expect(await idTagsOf({ q: '0% bob_' })).toEqual(['bob.localhost'])
    for (const q of ['_____', '%%', 'nobody', '\\', "' or 1=1"]) expect(await idTagsOf({ q })).toEqual([])
  })

  test('come in pages, by cursor and by place', async () => {
    const all = await idTagsOf({})
    expect(all).toEqual(['alice.localhost', 'bob.localhost', 'club.localhost', 'home.localhost'])
    const client = await admin()
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await client.call(listTenants, { query: { limit: 3, ...(cursor ? { cursor } : {}) } })
      seen.push(...page.data.map(({ idTag }) => idTag))
      cursor = page.cursorPagination?.nextCursor ?? undefined
      if (cursor === undefined) break
    }
    expect(seen).toEqual(all)
    const { data, pagination } = await client.call(listTenants, { query: { limit: 2, offset: 1 } })
    expect([data.map(({ idTag }) => idTag), pagination]).toEqual([
      all.slice(1, 3),
      { offset: 1, limit: 2, total: 4, hasMore: true },
    ])
  })

  test('are for administrators alone', async () => {
    const client = await admin()
    const { data: key } = await client.call(createApiKey, { body: { name: 'ci' } })
    const { data: narrow } = await client.call(getAccessToken, { query: { scope: 'write' } })
    const others = [
      await server.as('alice.localhost'),
      server.client(server.baseIdTag, key.key),
      server.client(server.baseIdTag, narrow.token),
    ]
    for (const other of others) {
      await expect(other.call(listTenants, {})).rejects.toMatchObject({ status: 403 })
      await expect(other.call(suspendTenant, params('bob.localhost'))).rejects.toMatchObject({ status: 403 })
      await expect(other.call(testEmail, { body: { to: 'a@example.com' } })).rejects.toMatchObject({
        status: 403,
      })
    }
    await expect(server.client(server.baseIdTag).call(listTenants, {})).rejects.toMatchObject({ status: 401 })
  })

  test('are suspended and resumed', async () => {
    const bob = await server.as('bob.localhost')
    const client = await admin()
    const { data: suspended } = await client.call(suspendTenant, params('bob.localhost'))
    expect(suspended).toMatchObject({
      status: 'suspended',
      suspendedAt: new Date(server.clock.now()).toISOString(),
    })
    await expect(bob.call(getMe)).rejects.toMatchObject({ status: 404 })
    const { data: resumed } = await client.call(resumeTenant, params('bob.localhost'))
    expect(resumed).toMatchObject({ status: 'active' })
    expect(resumed).not.toHaveProperty('suspendedAt')
    await (await server.as('bob.localhost')).call(updateMe, { body: { name: 'Bob again' } })
    await expect(client.call(suspendTenant, params(server.baseIdTag))).rejects.toMatchObject({
      code: 'E-STATE',
    })
    for (const contract of [suspendTenant, resumeTenant])
      await expect(client.call(contract, params('nobody.localhost'))).rejects.toMatchObject({
        code: 'E-PROFILE-NOTFOUND',
      })
  })
})

describe('a request under way', () => {
  test('writes nothing once its tenant is suspended, or its session ended', async () => {
    await server.createTenant('slow.localhost')
    const client = await admin()
    const endings = [
      [404, () => client.call(suspendTenant, params('slow.localhost'))],
      [401, (token: string) => server.client('slow.localhost', token).call(logout, {})],
    ] as const
    for (const [status, end] of endings) {
      const token = await server.signIn('slow.localhost')
      const body = JSON.stringify({ value: 'too late' })
      const socket = connect(server.running.port, '127.0.0.1')
      const answer = text(socket)
      const head = [
        'PUT /api/settings/ui.note HTTP/1.1',
        'host: slow.localhost',
        `authorization: Bearer ${token}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
        'connection: close',
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
      // Answered after what was sent before it has arrived.
      await server.request('slow.localhost', '/api/me')
      await end(token)
      server.clock.advance(1_000)
      expect((await answer).split(' ')[1]).toBe(String(status))
      server.clock.advance(5_000)
      if (status === 404) await client.call(resumeTenant, params('slow.localhost'))
      server.clock.advance(5_000)
    }
    const { data } = await (await server.as('slow.localhost')).call(listSettings, {})
    expect(JSON.stringify(data)).not.toContain('too late')
  })
})

test.each(['Muted', 'Blocked', 'Trusted', 'Active'] as const)(
  'a tenant %s is resumed in vain',
  async (status) => {
    const client = await admin()
    const idTag = `as-${status}.localhost`.toLowerCase() as IdTag
    await server.createTenant(idTag)
    const decide = (to: ProfileStatus) =>
      client.call(updateAdminProfile, { ...params(idTag), body: { status: to } })
    const statusNow = async () => {
      const decided = await findRelation(server.db.reader(serverTenant), idTag)
      return decided && statusOf(decided)
    }
    const noted = async () => {
      const { data } = await client.call(getAuditLog, { query: { limit: 200 } })
      return data.filter(({ details }) => details?.idTag === idTag).length
    }
    await decide(status)
    const before = await noted()
    const { data } = await client.call(resumeTenant, params(idTag))
    expect(data).toMatchObject({ idTag, status: 'active' })
    expect(await statusNow()).toBe(status)
    expect(await noted()).toBe(before)
    for (const out of ['Suspended', 'Banned'] as const) {
      await decide(out)
      expect((await client.call(resumeTenant, params(idTag))).data).toMatchObject({ status: 'active' })
      expect(await statusNow()).toBe('Active')
    }
  },
)

test('what an import has brought suspended is resumed, and stays blocked', async () => {
  const client = await admin()
  const idTag = 'brought.localhost' as IdTag
  const { tenantId } = await server.createTenant(idTag)
  await client.call(updateAdminProfile, { ...params(idTag), body: { status: 'Blocked' } })
  await server.suspend(idTag)
  expect((await client.call(resumeTenant, params(idTag))).data).toMatchObject({ status: 'active' })
  expect((await server.running.features.identity.tenants.findById(tenantId))?.suspendedAt).toBeUndefined()
  const decided = await findRelation(server.db.reader(serverTenant), idTag)
  expect(decided && statusOf(decided)).toBe('Blocked')
})

describe('a mail to try', () => {
  const sendTo = async (to: string) => (await admin()).call(testEmail, { body: { to } })

  test('is sent at once, or says how far it got', async () => {
    const client = await admin()
    const put = (name: string, value: unknown) =>
      client.call(putSetting, { params: { name }, query: {}, body: { value } })
    await put('email.smtp.host', '127.0.0.1')
    await put('email.smtp.port', closedPort)
    await expect(sendTo('ann@example.com')).rejects.toMatchObject({
      status: 503,
      code: 'E-UNAVAILABLE',
      details: { stage: 'connect', message: expect.any(String) },
    })
    // STARTTLS would want a certificate that somebody signed.
    await using smtp = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    await put('email.smtp.port', smtp.port)
    expect((await sendTo('ann@example.com')).data).toEqual({ sent: true })
    expect(smtp.received).toHaveLength(1)
  })

  test('goes to one plain address', async () => {
    for (const to of [
      'ann',
      'a@example.com, b@example.com',
      'Ann <ann@example.com>',
      'a@b\r\nBcc: c@d.example',
    ])
      await expect(sendTo(to)).rejects.toMatchObject({ status: 400, code: 'E-VALIDATION' })
  })
})

describe('a tenant', () => {
  const purge = async (idTag: string, body?: object) =>
    (await (await admin()).call(purgeTenant, { ...params(idTag), ...(body ? { body } : {}) })).data

  test('is removed with everything once that was confirmed', async () => {
    const { tenantId } = await server.createTenant('gone.localhost')
    const gone = await server.as('gone.localhost')
    await gone.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      body: new Blob(['hello']),
    })
    const asked = await purge('gone.localhost')
    expect(asked).toMatchObject({ isBegun: false, tenant: { status: 'active', usedBytes: 5 } })
    await server.settle()
    await gone.call(getMe)

    const begun = await purge('gone.localhost', { confirm: asked.confirm })
    expect(begun).toMatchObject({ isBegun: true, tenant: { status: 'suspended' } })
    expect(begun.confirm).toBeUndefined()
    await expect((await admin()).call(resumeTenant, params('gone.localhost'))).rejects.toMatchObject({
      code: 'E-STATE',
    })
    const status = { ...params('gone.localhost'), body: { status: 'Active' as const } }
    await expect((await admin()).call(updateAdminProfile, status)).rejects.toMatchObject({ code: 'E-STATE' })
    await expect(purge('gone.localhost', { confirm: asked.confirm })).rejects.toMatchObject({
      code: 'E-STATE',
    })
    server.clock.advance(6_000)
    await server.settle()
    const { data } = await (await admin()).call(listTenants, { query: { q: 'gone' } })
    expect(data).toEqual([])
    expect(await rowsOf(tenantId)).toEqual([])
    // Entries of one second have no order among themselves.
    const { data: trail } = await (await admin()).call(getAuditLog, { query: { limit: 200 } })
    expect(trail.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['tenant.purge-begun', 'tenant.purged']),
    )
  })

  test('has nothing left that was written while it was removed', async () => {
    const idTag = 'writing.localhost'
    const { tenantId } = await server.createTenant(idTag)
    const client = await admin()
    const { data: asked } = await client.call(purgeTenant, params(idTag))
    await client.call(purgeTenant, { ...params(idTag), body: { confirm: asked.confirm ?? '' } })
    server.clock.advance(6_000)
    await server.settle()
    const rows = server.db.reader(serverTenant).tables<{ settings: { tenant_id: number; name: string } }>()
    const left = () => rows.selectFrom('settings').select('name').where('tenant_id', '=', tenantId).execute()
    const { settings } = server.running.features.identity
    const { vault } = server.running.services
    const { clock, db } = server
    // What a request does that was let in before the suspension, and that took its time.
    await db.transact(tenantId, (tx) =>
      putOwnSetting({ db, vault, clock, settings }, tx, { name: 'language', value: 'de' }),
    )
    expect(await left()).toHaveLength(1)
    clock.advance(600_000)
    await server.settle()
    expect(await left()).toEqual([])
  })

  test('that alone leads a community is not to be removed, as the first call says already', async () => {
    const idTag = 'sole-leader.localhost'
    await server.createTenant(idTag)
    await server.createTenant('led.localhost', { type: 'community' })
    await server.relate('led.localhost', idTag, { isFollower: true, role: 'leader' })
    const refused = { status: 409, code: 'E-STATE', details: { communities: ['led.localhost'] } }
    await expect(purge(idTag)).rejects.toMatchObject(refused)
    await server.relate('led.localhost', 'alice.localhost', { isFollower: true, role: 'leader' })
    const { confirm } = await purge(idTag)
    await server.relate('led.localhost', 'alice.localhost', { role: undefined })
    await expect(purge(idTag, { confirm })).rejects.toMatchObject(refused)
    const { data } = await (await admin()).call(listTenants, { query: { q: idTag } })
    expect(data).toMatchObject([{ status: 'active' }])
  })

  test('begins to be removed once, however many confirmations come at the same time', async () => {
    const idTag = 'once.localhost'
    await server.createTenant(idTag)
    const { confirm } = await purge(idTag)
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => purge(idTag, { confirm })))
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const { data: trail } = await (await admin()).call(getAuditLog, { query: { limit: 200 } })
    const begun = trail.filter(
      ({ event, details }) => event === 'tenant.purge-begun' && details?.idTag === idTag,
    )
    expect(begun).toHaveLength(1)
    server.clock.advance(6_000)
    await server.settle()
  })

  test('that administers the server is removed by the owner of the base tenant alone, suspended or not', async () => {
    const owner = await admin()
    for (const idTag of ['first.localhost', 'second.localhost']) {
      await server.createTenant(idTag)
      const roles = { ...params(idTag), body: { roles: ['user', 'SADM'] } }
      await owner.call(updateAdminProfile, roles)
    }
    const { data: proxy } = await (await server.as('first.localhost')).call(getProxyToken, {
      query: { target: server.baseIdTag },
    })
    const appointed = server.client(server.baseIdTag, proxy.token)
    await owner.call(suspendTenant, params('second.localhost'))
    await expect(appointed.call(purgeTenant, params('second.localhost'))).rejects.toMatchObject({
      status: 403,
    })
    expect((await appointed.call(purgeTenant, params('bob.localhost'))).data.isBegun).toBe(false)
  })

  test('is removed only by a confirmation of this tenant, this administrator and the last ten minutes', async () => {
    const { confirm } = await purge('alice.localhost')
    const of = (idTag: string, text = confirm) => purge(idTag, { confirm: text })
    await expect(of('bob.localhost')).rejects.toMatchObject({ status: 410, code: 'E-GONE' })
    await expect(of('alice.localhost', 'AAAA')).rejects.toMatchObject({ code: 'E-GONE' })
    server.clock.advance(601_000)
    await expect(of('alice.localhost')).rejects.toMatchObject({ code: 'E-GONE' })
    for (const idTag of [server.baseIdTag, 'nobody.localhost'])
      await expect(purge(idTag)).rejects.toMatchObject({
        code: expect.stringMatching(/^E-(STATE|PROFILE-NOTFOUND)$/),
      })
    expect((await (await admin()).call(listTenants, { query: { q: 'alice' } })).data).toMatchObject([
      { status: 'active' },
    ])
  })

  /** The tables with rows of a tenant. */
  async function rowsOf(tenantId: number): Promise<string[]> {
    const reader = server.db.reader(serverTenant)
    const found: string[] = []
    for (const { name } of await listTenantTables(reader)) {
      const rows = reader.tables<Record<string, { tenant_id: number }>>().selectFrom(name).select('tenant_id')
      if ((await rows.where('tenant_id', '=', tenantId).limit(1).execute()).length > 0) found.push(name)
    }
    return found
  }
})
