import {
  createAction,
  createReference,
  deleteSetting,
  getAuditLog,
  getMe,
  getSetting,
  type IdTag,
  inviteCommunity,
  listPasskeys,
  login,
  purgeTenant as purgeOverApi,
  putSetting,
  setPassword,
  updateAdminProfile,
  updateMe,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { purgeTenant } from '#app/purge/purge-tenant.ts'
import { findRelation, statusOf } from '#features/relations/index.ts'
import { linkIn, type ReadMail, readMails } from '#harness/mail-files.ts'
import { TestServer } from '#harness/test-server.ts'
import { listTenantTables, serverTenant } from '#infra/db/index.ts'

const home = 'home.localhost'
const taken = 'taken.home.localhost'
const newPassword = 'a brand new password'
const unknownRef = '0123456789ABCDEFabcdefgh'

let server: TestServer
let invitation: string
beforeAll(async () => {
  server = await TestServer.start({ baseIdTag: home })
  await server.createTenant(taken, { email: 'known@example.org' })
  invitation = await makeRef({ count: null })
})
afterAll(() => server.stop())

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly data: any
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: readonly { readonly path: string }[] }
  }
}

async function ask(path: string, body: object, host = home): Promise<Answer> {
  // So many requests of one address would be too many in a minute.
  server.clock.advance(2_100)
  const headers = { 'content-type': 'application/json' }
  const response = await server.request(host, path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { ...((await response.json()) as Answer), status: response.status }
}

let people = 0
function freshName(): string {
  people += 1
  return `person${people}.${home}`
}

const register = (wish: object = {}, host?: string) => {
  const body = { type: 'idp', idTag: freshName(), email: 'guest@example.org', token: invitation, ...wish }
  return ask('/api/profiles/register', body, host)
}

const verify = (wish: object = {}) =>
  ask('/api/profiles/verify', { type: 'idp', idTag: freshName(), ...wish })

async function makeRef(options: object, type = 'invite'): Promise<string> {
  const admin = await server.as(home)
  const { data } = await admin.call(createReference, { body: { type, ...options } as never })
  return data.refId
}

/** Sets a setting for every tenant; the end of the work takes it back. */
async function everywhere(name: string, value: unknown): Promise<AsyncDisposable> {
  const admin = await server.as(home)
  await admin.call(putSetting, { params: { name }, query: {}, body: { value } })
  return {
    [Symbol.asyncDispose]: async () =>
      void (await admin.call(deleteSetting, { params: { name }, query: {} })),
  }
}

function refused({ status, error }: Answer, expected: number, code: string): void {
  expect({ status, code: error?.code }).toEqual({ status: expected, code })
}

async function mailsTo(address: string): Promise<ReadMail[]> {
  await server.settle()
  const mails = await readMails(server.running.services.config.mail.directory)
  return mails.filter(({ to }) => to === address)
}

async function tokenFor(address: string): Promise<string> {
  const mail = (await mailsTo(address)).at(-1)
  if (!mail) throw new Error(`nothing was mailed to ${address}`)
  return new URL(linkIn(mail)).hash.slice('#token='.length)
}

/** What a tenant or a reference leaves in the database. */
const traces = () =>
  server.countRows(
    'tenants',
    'accounts',
    'profiles',
    'refs',
    'sessions',
    'signing_keys',
    'unfinished_registrations',
  )

describe('an invited person', () => {
  test('gets an account, a welcome by mail, and a session to set it up with', async () => {
    const idTag = 'alice.home.localhost'
    const token = await makeRef({})
    const { status, data } = await register({
      idTag: 'Alice.Home.localhost',
      email: 'alice@Example.org',
      token,
    })
    expect(status).toBe(200)
    expect(data).toEqual({ tnId: expect.any(Number), idTag, name: idTag, token: expect.any(String) })
    const first = server.client(idTag, data.token)
    expect((await first.call(getMe)).data).toMatchObject({ idTag, type: 'person', roles: ['user'] })
    expect((await first.call(listPasskeys)).data).toEqual([])

    const [mail, ...others] = await mailsTo('alice@example.org')
    expect(others).toEqual([])
    expect(mail?.subject).toBe('Welcome: choose your password')
    const link = linkIn(mail ?? { text: '' })
    expect(link).toContain(`${server.urlOf(idTag)}/set-password#token=`)
    expect(mail?.html).toContain(link)
    await server
      .client(idTag)
      .call(setPassword, { body: { token: await tokenFor('alice@example.org'), password: newPassword } })
    const { data: session } = await server
      .client(idTag)
      .call(login, { body: { idTag, password: newPassword } })
    expect(session.roles).toEqual(['user'])
    // The session of the registration ends with the password that it led to.
    await expect(first.call(listPasskeys)).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
  })

  test('may ask any tenant’s host, and has no say in what the server decides', async () => {
    const wish = { roles: ['SADM'], tnId: 1, isBase: true, name: 'Root', createdAt: 0, status: 'Trusted' }
    const { data } = await register(wish, taken)
    const me = await server.client(data.idTag, data.token).call(getMe)
    expect(me.data).toMatchObject({ tnId: data.tnId, name: data.idTag, roles: ['user'], status: 'Active' })
    expect(data.tnId).toBeGreaterThan(1)
  })

  test('is written to in their language, which becomes the account’s', async () => {
    const { data } = await register({ email: 'maria@example.org', lang: 'de-AT' })
    const [mail] = await mailsTo('maria@example.org')
    expect(mail?.subject).toBe('Willkommen: wählen Sie Ihr Passwort')
    expect(mail?.text).toContain('Wählen Sie zum Abschluss ein Passwort.')
    const own = server.client(data.idTag, data.token)
    expect((await own.call(getSetting, { params: { name: 'language' } })).data).toEqual(['language', 'de-AT'])
  })

  test('may have a name of their own under .localhost, which is this machine', async () => {
    const { status, data } = await register({ type: 'domain', idTag: 'carol.localhost' })
    expect(status).toBe(200)
    expect(data.idTag).toBe('carol.localhost')
  })

  test('leaves a line in both audit trails, without a secret', async () => {
    const token = await makeRef({})
    const { data } = await register({ token })
    const trailOf = async (idTag: string) => {
      const client = await server.as(idTag)
      return (await client.call(getAuditLog, {})).data
    }
    const trails = { base: await trailOf(home), own: await trailOf(data.idTag) }
    expect(trails.base[0]).toMatchObject({
      event: 'tenant.registered',
      details: { idTag: data.idTag, type: 'idp', invitedBy: home },
    })
    expect(trails.own.map(({ event }) => event)).toContain('tenant.created')
    for (const secret of [token, data.token, 'guest@example.org'])
      expect(JSON.stringify(trails)).not.toContain(secret)
  })
})

describe('an invitation', () => {
  test('that is none, is used up or has expired opens nothing, and says nothing of names or addresses', async () => {
    const expiresAt = Math.floor(server.clock.now() / 1000) + 10
    const expired = await makeRef({ expiresAt })
    server.clock.advance(11_000)
    const spent = await makeRef({})
    expect((await register({ token: spent })).status).toBe(200)
    const welcome = await makeRef({}, 'welcome')
    const before = await traces()
    const cases = [
      [undefined, 403, 'E-AUTH-FORBIDDEN'],
      ['', 403, 'E-AUTH-FORBIDDEN'],
      [unknownRef, 404, 'E-NOTFOUND'],
      ['../../x', 404, 'E-NOTFOUND'],
      [welcome, 404, 'E-NOTFOUND'],
      [spent, 410, 'E-GONE'],
      [expired, 410, 'E-GONE'],
    ] as const
    for (const [token, status, code] of cases) {
      const answers = [
        await register({ token }),
        await register({ token, idTag: taken }),
        await register({ token, idTag: 'www.home.localhost', email: 'known@example.org' }),
      ]
      for (const answer of answers) refused(answer, status, code)
      expect(new Set(answers.map(({ error }) => error?.message)).size).toBe(1)
    }
    expect(await traces()).toEqual(before)
  })

  test('is not used up by a name that cannot be had', async () => {
    const token = await makeRef({})
    refused(await register({ token, idTag: taken }), 409, 'E-PROFILE-EXISTS')
    refused(await register({ token, idTag: 'www.home.localhost' }), 400, 'E-VALIDATION')
    expect((await register({ token })).status).toBe(200)
  })

  test('to make a community is none for a person', async () => {
    const admin = await server.as(home)
    const { data } = await admin.call(inviteCommunity, { body: { targetIdTag: taken } })
    refused(await register({ token: data.refId }), 404, 'E-NOTFOUND')
    const asked = await verify({ token: data.refId, type: 'community' })
    expect(asked.data).toMatchObject({ available: true, errors: [] })
  })
})

describe('registering', () => {
  test('answers alike whether or not the address belongs to somebody', async () => {
    const known = await register({ email: 'known@example.org' })
    const unknown = await register({ email: 'unknown@example.org' })
    expect(Object.keys(known.data)).toEqual(Object.keys(unknown.data))
    expect(known.status).toBe(unknown.status)
    expect(await mailsTo('known@example.org')).toHaveLength(1)
  })

  test.each([
    [{ email: 'nobody' }, '/email'],
    [{ email: 'a@b.example,c@d.example' }, '/email'],
    [{ email: 'Eve <eve@example.org>' }, '/email'],
    [{ email: undefined }, '/email'],
    [{ idTag: 'a b' }, '/idTag'],
    [{ idTag: 'localhost' }, '/idTag'],
    [{ type: 'community' }, '/type'],
    [{ lang: 'not a language' }, '/lang'],
    [{ idTag: 'www.home.localhost' }, '/idTag'],
    [{ idTag: 'alice.elsewhere.localhost' }, '/idTag'],
    [{ appDomain: 'apps.home.localhost' }, '/appDomain'],
  ])('refuses %o', async (wish, path) => {
    const answer = await register(wish)
    refused(answer, 400, 'E-VALIDATION')
    expect(answer.error?.details?.issues?.map((issue) => issue.path)).toContain(path)
  })

  test('gives a name to one of two who ask at once, and leaves nothing of the other', async () => {
    const idTag = freshName()
    const before = await traces()
    const answers = await Promise.all([register({ idTag }), register({ idTag })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const after = await traces()
    expect(after.tenants).toBe((before.tenants ?? 0) + 1)
    expect(after.signing_keys).toBe((before.signing_keys ?? 0) + 1)
    expect(after.unfinished_registrations).toBe((before.unfinished_registrations ?? 0) + 1)
  })

  test('is open to everybody where the setting says so', async () => {
    await using _ = await everywhere('server.registration', 'open')
    expect((await register({ token: undefined })).status).toBe(200)
    expect((await register({ token: '' })).status).toBe(200)
    refused(await register({ token: unknownRef }), 404, 'E-NOTFOUND')
  })

  test('ends when as many live here as may', async () => {
    const { tenants = 0 } = await server.countRows('tenants')
    await using _ = await everywhere('limits.max_tenants', tenants + 1)
    expect((await register()).status).toBe(200)
    const before = await traces()
    refused(await register(), 409, 'E-STATE')
    expect(await traces()).toEqual(before)
  })

  test('welcomes one mailbox three times, then once a day, and answers as before', async () => {
    const wish = { email: 'flooded@example.org' }
    for (const email of ['flooded@example.org', 'Flooded+1@example.org', 'flooded+x@example.org'])
      expect((await register({ email })).status).toBe(200)
    const { status, data } = await register(wish)
    expect(status).toBe(200)
    expect(data.token).toEqual(expect.any(String))
    expect(await mailsTo('flooded@example.org')).toHaveLength(1)
    server.clock.advance(24 * 3_600_000)
    await register(wish)
    expect(await mailsTo('flooded@example.org')).toHaveLength(2)
  })
})

describe('a verified address', () => {
  test('is what full rights and a password need, where the setting wants it', async () => {
    await using _ = await everywhere('auth.require_verified_email', true)
    const email = 'careful@example.org'
    const { data } = await register({ email })
    const { idTag } = data
    const narrow = server.client(idTag, data.token)
    expect((await narrow.call(updateMe, { body: { name: 'Careful' } })).data.name).toBe('Careful')
    const post = { type: 'POST', content: { text: 'hello' } } as const
    await expect(narrow.call(createAction, { body: post })).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
    await expect(narrow.call(listPasskeys)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    const guest = server.client(idTag)
    await guest.call(setPassword, { body: { token: await tokenFor(email), password: newPassword } })
    const { data: session } = await guest.call(login, { body: { idTag, password: newPassword } })
    expect((await server.client(idTag, session.token).call(createAction, { body: post })).data.status).toBe(
      'A',
    )
  })

  test('is asked for by mail when a password is right without one, three times an hour at most', async () => {
    const idTag = 'unverified.home.localhost'
    await server.createTenant(idTag, { email: 'unverified@example.org' })
    await using _ = await everywhere('auth.require_verified_email', true)
    const signIn = () => server.signIn(idTag)
    await expect(server.signIn(idTag, 'a wrong password')).rejects.toMatchObject({ code: 'E-AUTH-BADCRED' })
    expect(await mailsTo('unverified@example.org')).toEqual([])
    for (let turn = 0; turn < 4; turn += 1)
      await expect(signIn()).rejects.toMatchObject({ code: 'E-AUTH-NOTVERIFIED' })
    const mails = await mailsTo('unverified@example.org')
    expect(mails.map(({ subject }) => subject)).toEqual(Array(3).fill('Confirm your e-mail address'))
    const token = await tokenFor('unverified@example.org')
    await server.client(idTag).call(setPassword, { body: { token, password: newPassword } })
    expect(await server.signIn(idTag, newPassword)).toEqual(expect.any(String))
  })

  test('is not wanted of whoever administers the server without one', async () => {
    await using _ = await everywhere('auth.require_verified_email', true)
    expect(await server.signIn(home)).toEqual(expect.any(String))
  })
})

describe('asking for a name', () => {
  test('answers what stands against it', async () => {
    const free = 'free.home.localhost'
    expect(await verify({ idTag: 'FREE.home.localhost' })).toMatchObject({
      status: 200,
      data: { available: true, idTag: free, errors: [], serverAddresses: [] },
    })
    const errorsOf = async (wish: object) => {
      const { data } = await verify(wish)
      expect(data.available).toBe(data.errors.length === 0)
      return data.errors
    }
    expect(await errorsOf({ idTag: taken })).toEqual(['E-PROFILE-EXISTS'])
    expect(await errorsOf({ idTag: 'below.taken.home.localhost' })).toEqual(['E-PROFILE-EXISTS'])
    expect(await errorsOf({ idTag: 'www.home.localhost' })).toEqual(['E-VALIDATION'])
    expect(await errorsOf({ idTag: 'alice.elsewhere.localhost' })).toEqual(['E-VALIDATION'])
    expect(await errorsOf({ idTag: 'dora.localhost', type: 'domain' })).toEqual([])
    expect(await errorsOf({ idTag: 'club.localhost', type: 'community' })).toEqual([])
    expect(await errorsOf({ idTag: 'club.home.localhost', type: 'community' })).toEqual([])
    expect(await errorsOf({ idTag: free, appDomain: 'apps.free.home.localhost' })).toEqual([])
    expect(await errorsOf({ idTag: free, appDomain: free })).toEqual(['E-VALIDATION'])
    expect(await errorsOf({ idTag: free, appDomain: 'apps.home.localhost' })).toEqual(['E-VALIDATION'])
    expect(await errorsOf({ idTag: free, appDomain: taken })).toEqual(['E-VALIDATION'])
  })

  test('answers alike for whoever lives here, is suspended, half registered, or an app of somebody', async () => {
    const suspended = 'suspended.home.localhost'
    await server.createTenant(suspended)
    await server.suspend(suspended)
    const { data: unfinished } = await register({
      type: 'domain',
      idTag: 'eve.localhost',
      appDomain: 'eves.localhost',
    })
    const names = [
      { idTag: taken },
      { idTag: suspended },
      { type: 'domain', idTag: unfinished.idTag },
      { type: 'domain', idTag: 'eves.localhost' },
    ]
    for (const name of names) {
      const { data } = await verify(name)
      expect(data).toEqual({
        available: false,
        idTag: name.idTag,
        errors: ['E-PROFILE-EXISTS'],
        serverAddresses: [],
      })
    }
  })

  test('with an invitation that opens nothing answers that and no more', async () => {
    const spent = await makeRef({})
    await register({ token: spent })
    for (const [token, code] of [
      [unknownRef, 'E-NOTFOUND'],
      [spent, 'E-GONE'],
    ])
      for (const idTag of [taken, freshName(), 'www.home.localhost'])
        expect((await verify({ idTag, token })).data).toMatchObject({
          available: false,
          idTag,
          errors: [code],
        })
    expect((await verify({ token: invitation })).data.errors).toEqual([])
  })

  test('refuses what is no name', async () => {
    for (const wish of [{ idTag: 'a/b' }, { idTag: undefined }, { type: 'person' }, { type: undefined }])
      refused(await verify(wish), 400, 'E-VALIDATION')
  })

  test('is for thirty in a minute from one address, together with registering', async () => {
    server.clock.advance(60_000)
    const body = JSON.stringify({ type: 'idp', idTag: taken })
    const headers = { 'content-type': 'application/json' }
    const statuses: number[] = []
    for (let turn = 0; turn < 31; turn += 1)
      statuses.push(
        (await server.request(home, '/api/profiles/verify', { method: 'POST', headers, body })).status,
      )
    expect(statuses).toEqual([...Array(30).fill(200), 429])
    const further = await server.request(home, '/api/profiles/register', { method: 'POST', headers, body })
    expect(further.status).toBe(429)
    expect(Number(further.headers.get('retry-after'))).toBeGreaterThan(0)
    server.clock.advance(60_000)
  })

  test('of somebody who was removed answers for 30 days that it is taken', async () => {
    const idTag = 'gone.home.localhost'
    const tenant = await server.createTenant(idTag)
    await server.suspend(idTag)
    const suspendedAt = Math.floor(server.clock.now() / 1000)
    server.clock.advance(6_000)
    const { services, features } = server.running
    await purgeTenant(
      { ...services, ...features.identity, pause: async () => undefined, by: 'command line' },
      { ...tenant, suspendedAt },
    )
    expect((await verify({ idTag })).data.errors).toEqual(['E-PROFILE-EXISTS'])
    refused(await register({ idTag }), 409, 'E-PROFILE-EXISTS')
    server.clock.advance(30 * 86_400_000)
    expect((await register({ idTag })).status).toBe(200)
  })

  test.each([
    ['Banned', ['E-PROFILE-EXISTS']],
    ['Blocked', ['E-PROFILE-EXISTS']],
    ['Suspended', []],
    ['Trusted', []],
  ] as const)(
    'of somebody %s who was removed answers, when the name has rested: %j',
    async (status, errors) => {
      const admin = await server.as(home)
      const idTag = `once-${status}.home.localhost`.toLowerCase()
      await server.createTenant(idTag)
      await admin.call(updateAdminProfile, { params: { idTag }, body: { status } })
      const { data: asked } = await admin.call(purgeOverApi, { params: { idTag } })
      const body = asked.confirm === undefined ? {} : { confirm: asked.confirm }
      await admin.call(purgeOverApi, { params: { idTag }, body })
      server.clock.advance(6_000)
      await server.settle()
      server.clock.advance(30 * 86_400_000)
      expect((await verify({ idTag })).data.errors).toEqual(errors)
      const decided = await findRelation(server.db.reader(serverTenant), idTag as IdTag)
      expect(decided && statusOf(decided)).toBe(errors.length === 0 ? undefined : status)
    },
  )

  test('of a barred identity answers that it is taken', async () => {
    const admin = await server.as(home)
    const idTag = 'banned.localhost'
    await server.createTenant(idTag)
    await admin.call(updateAdminProfile, { params: { idTag }, body: { status: 'Banned' } })
    expect((await verify({ type: 'domain', idTag })).data.errors).toEqual(['E-PROFILE-EXISTS'])
  })
})

test('an account that nobody comes back to leaves no row', async () => {
  const { data } = await register({ lang: 'de' })
  const tables = await listTenantTables(server.db.reader(data.tnId))
  const rowsLeft = async () => {
    const counts = tables.map(async ({ name }) => {
      const query = server.db
        .reader(data.tnId)
        .tables<Record<string, { tenant_id: number }>>()
        .selectFrom(name)
      return (await query.selectAll().where('tenant_id', '=', data.tnId).execute()).length
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
  await server.settle()
  expect(await rowsLeft()).toBeGreaterThan(5)
  server.clock.advance(31 * 86_400_000)
  await server.settle()
  server.clock.advance(10 * 60_000)
  await server.settle()
  expect(await rowsLeft()).toBe(0)
  expect((await verify({ idTag: data.idTag })).data.available).toBe(true)
})
