import { readdir } from 'node:fs/promises'
import {
  createAction,
  createApiKey,
  getAuditLog,
  getEmail,
  getMe,
  getProxyToken,
  listProfiles,
  login,
  setPassword,
  toIso,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findAccount } from '#features/accounts/index.ts'
import { findRelation } from '#features/relations/index.ts'
import { isAppointedAdmin } from '#features/tenants/index.ts'
import { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { systemClock } from '#lib/clock.ts'

const baseTag = 'home.localhost'
// A running server takes so long to notice what a command did.
const noticedMs = 5_001

let beside: LineBesideServer
let line: CommandLine
let server: TestServer
// Behind, so that a suspension by the server is noticed everywhere when a command looks at it.
const clock = new TestClock(systemClock.now() - 3_600_000)

beforeAll(async () => {
  beside = await openLineBesideServer({ clock })
  ;({ line, server } = beside)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const tenantOf = async (idTag: string) => server.running.features.identity.tenants.find(idTag as never)
const signIn = (idTag: string, password: string) =>
  server.client(idTag).call(login, { body: { idTag, password } })

const discover = (idTag: string) => server.request(baseTag, `/.well-known/service/id-tag?idTag=${idTag}`)

describe('tenant list', () => {
  test('where no server is says so and makes nothing', async () => {
    await using empty = await CommandLine.open()
    const { exitCode, out, err } = await empty.run(['tenant', 'list'])
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toContain(`There is no server in ${empty.dataDir} yet`)
    expect(err).toContain('run kith in its working directory')
    expect((await empty.run(['tenant', 'list', baseTag])).err).toContain('There is no server in')
    expect(await readdir(empty.folder)).toEqual([])
  })

  test('shows everybody, or one', async () => {
    const { tenants } = await line.json('tenant', 'list', baseTag)
    expect(tenants).toEqual([
      {
        tnId: expect.any(Number),
        idTag: baseTag,
        name: expect.any(String),
        type: 'person',
        isBase: true,
        status: 'active',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        usedBytes: 0,
        files: 0,
      },
    ])
    const { out } = await line.run(['tenant', 'list'])
    expect(out).toMatch(/^ {2}home\.localhost +base +active +\d{4}-\d\d-\d\d +0 B *$/m)
    await server.signIn(baseTag)
    const [signedIn] = (await line.json('tenant', 'list', baseTag)).tenants
    expect(signedIn.lastSignInAt).toBe(toIso(Math.floor(server.clock.now() / 1000)))
  })

  test('fails for somebody who does not live here', async () => {
    expect(await line.fails('tenant', 'list', 'nobody.localhost')).toMatchObject({
      exitCode: 1,
      code: 'E-PROFILE-NOTFOUND',
      message: 'There is no tenant nobody.localhost on this server.',
    })
  })
})

describe('tenant create', () => {
  test('makes a person, with a link that sets the password once', async () => {
    const made = await line.json(
      'tenant',
      'create',
      'Carol.localhost',
      '--name',
      'Carol',
      '--email',
      'c@example.org',
    )
    expect(made).toEqual({
      tenant: {
        idTag: 'carol.localhost',
        type: 'person',
        isBase: false,
        status: 'active',
        name: 'Carol',
        serverUrl: server.urlOf('carol.localhost'),
        createdAt: expect.any(String),
      },
      link: expect.stringContaining(`${server.urlOf('carol.localhost')}/set-password#token=`),
    })
    clock.advance(noticedMs)
    const token = made.link.split('#token=')[1]
    const client = server.client('carol.localhost')
    await client.call(setPassword, { body: { token, password: 'one two three' } })
    expect((await signIn('carol.localhost', 'one two three')).data.name).toBe('Carol')
    await expect(
      client.call(setPassword, { body: { token, password: 'four five six' } }),
    ).rejects.toMatchObject({
      code: 'E-GONE',
    })
    const tenant = await tenantOf('carol.localhost')
    expect(await findAccount(server.db.reader(tenant!.tenantId))).toMatchObject({ email: 'c@example.org' })
  })

  test('takes a password, and does not tell it', async () => {
    const { exitCode, out, err } = await line.run([
      'tenant',
      'create',
      'dave.localhost',
      '--password',
      'secret-word-1',
    ])
    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: 'dave.localhost lives here now, as a person, on the server of home.localhost.\n',
      err: '',
    })
    clock.advance(noticedMs)
    expect((await signIn('dave.localhost', 'secret-word-1')).data.idTag).toBe('dave.localhost')
  })

  test('warns about a name that is not below that of the server', async () => {
    const words = ['tenant', 'create', 'foreign.example.org']
    const { exitCode, out } = await line.run(words)
    expect(exitCode).toBe(0)
    expect(out).toContain('foreign.example.org is not below home.localhost')
    const { warnings } = await line.json('tenant', 'create', 'own.example.org')
    expect(warnings).toEqual([expect.stringContaining('own.example.org is not below home.localhost')])
    expect(await line.json('tenant', 'create', 'grace.localhost')).not.toHaveProperty('warnings')
  })

  test('makes a community, whose leader is its owner', async () => {
    const made = await line.json(
      'tenant',
      'create',
      'club.localhost',
      '--type',
      'community',
      '--owner',
      'dave.localhost',
    )
    expect(made.tenant).toMatchObject({ type: 'community', ownerTag: 'dave.localhost' })
    expect(made.link).toBeUndefined()
    const ours = await line.json('tenant', 'create', 'our-club.localhost', '--type', 'community')
    expect(ours.tenant.ownerTag).toBe(baseTag)
    clock.advance(noticedMs)
    const { data } = await server.client('club.localhost').call(getMe, {})
    expect(data).toMatchObject({ idTag: 'club.localhost', type: 'community' })
  })

  test.each([
    ['nobody.localhost', 'E-PROFILE-NOTFOUND', 'nobody.localhost was not found, here or elsewhere.'],
    ['our-club.localhost', 'E-STATE', 'our-club.localhost is a community, and cannot lead another.'],
  ])('makes no community that %s would lead', async (owner, code, message) => {
    const words = ['tenant', 'create', 'led-by-none.localhost', '--type', 'community', '--owner', owner]
    expect(await line.fails(...words)).toEqual({ exitCode: 1, code, message })
    expect(await tenantOf('led-by-none.localhost')).toBeUndefined()
  })

  test('makes no community before there is anybody to lead it', async () => {
    await using empty = await CommandLine.open()
    const { exitCode, err } = await empty.run(['tenant', 'create', 'club.localhost', '--type', 'community'])
    expect(exitCode).toBe(1)
    expect(err).toContain('The first start makes it: kith serve.')
  })

  test('appoints an administrator', async () => {
    await line.json('tenant', 'create', 'frank.localhost', '--role', 'SADM')
    const base = await tenantOf(baseTag)
    const reader = server.db.reader(base!.tenantId)
    expect(await isAppointedAdmin(reader, 'frank.localhost' as never)).toBe(true)
    expect(await isAppointedAdmin(reader, 'dave.localhost' as never)).toBe(false)
  })

  test.each([
    [['no-dot'], '"no-dot" is no identity'],
    [['x.localhost', '--type', 'robot'], '--type is person or community'],
    [['x.localhost', '--owner', 'a.example'], '--owner is not for a person'],
    [['x.localhost', '--type', 'community', '--email', 'x@example.org'], '--email is not for a community'],
    [['x.localhost', '--type', 'community', '--owner', 'nobody'], '"nobody" is no identity'],
    [['x.localhost', '--password', 'short'], 'A password has 8 to 1024 characters'],
    [['x.localhost', '--password', '\ud800'.repeat(8)], 'A password has 8 to 1024 characters'],
    [['x.localhost', '--email', 'nowhere'], '"nowhere" is no e-mail address'],
    [['x.localhost', '--name', ''], '--name must be visible text of at most 100 characters'],
    [['x.localhost', '--name', 'Car\u0007ol'], '--name must be visible text of at most 100 characters'],
    [['x.localhost', '--name', 'C'.repeat(101)], '--name must be visible text of at most 100 characters'],
    [['x.localhost', '--role', 'KING'], '--role is SADM'],
    [[], 'IDTAG is missing'],
    [['x.localhost', 'y.localhost'], 'Too many arguments: "y.localhost"'],
  ])('called wrongly makes nobody: %j', async (words, message) => {
    expect(await line.fails('tenant', 'create', ...words)).toEqual({
      exitCode: 2,
      code: 'E-USAGE',
      message: expect.stringContaining(message),
    })
    expect(await tenantOf('x.localhost')).toBeUndefined()
  })

  test('fails for somebody who lives here already, and where there is no address', async () => {
    expect(await line.fails('tenant', 'create', baseTag)).toMatchObject({
      exitCode: 1,
      code: 'E-PROFILE-EXISTS',
    })
    const alone = await line
      .with({ PUBLIC_URL: 'http://home.localhost' })
      .run(['tenant', 'create', 'x.localhost', '--json'])
    expect(alone.exitCode).toBe(1)
    expect(JSON.parse(alone.err).error).toEqual({
      code: 'E-STATE',
      message: 'This server serves home.localhost alone: PUBLIC_URL has no {idTag}.',
    })
  })
})

describe('tenant suspend and resume', () => {
  test('keep everybody out and end every session, until it is resumed', async () => {
    await server.createTenant('gina.localhost')
    const client = await server.as('gina.localhost')
    expect((await line.json('tenant', 'suspend', 'gina.localhost')).tenant).toMatchObject({
      status: 'suspended',
      suspendedAt: expect.any(String),
    })
    clock.advance(noticedMs)
    expect((await discover('gina.localhost')).status).toBe(404)
    const own = async (path: string, init?: RequestInit) =>
      (await server.request('gina.localhost', path, init)).status
    for (const path of ['/api/me', '/api/actions', '/api/profiles', '/.well-known/service/id-tag'])
      expect(await own(path)).toBe(404)
    expect(await own('/api/auth/login-init', { method: 'POST' })).toBe(403)
    const post = () => client.call(createAction, { body: { type: 'POST', content: {} } })
    await expect(post()).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    await expect(signIn('gina.localhost', testPassword)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    expect((await line.run(['tenant', 'suspend', 'gina.localhost'])).out).toBe(
      'gina.localhost is suspended.\n',
    )

    expect((await line.run(['tenant', 'resume', 'gina.localhost'])).out).toBe('gina.localhost is active.\n')
    expect((await line.json('tenant', 'resume', 'gina.localhost')).tenant).not.toHaveProperty('suspendedAt')
    clock.advance(noticedMs)
    expect((await discover('gina.localhost')).status).toBe(200)
    await expect(post()).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    expect((await signIn('gina.localhost', testPassword)).data.token).toBeDefined()
  })

  test('make a ban that would have ended one that does not', async () => {
    const idTag = 'kurt.localhost'
    await server.createTenant(idTag)
    const admin = await server.as(baseTag)
    const banExpiresAt = Math.floor(clock.now() / 1000) + 7_200
    await admin.call(updateAdminProfile, { params: { idTag }, body: { status: 'Banned', banExpiresAt } })
    await line.json('tenant', 'suspend', idTag)
    clock.advance(7_201_000)
    await server.settle()
    expect((await line.json('tenant', 'list', idTag)).tenants).toMatchObject([{ status: 'suspended' }])
    await expect(signIn(idTag, testPassword)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    const { data } = await (await server.as(baseTag)).call(listProfiles, { query: { status: ['Suspended'] } })
    expect(data.find((profile) => profile.idTag === idTag)).not.toHaveProperty('banExpiresAt')
  })

  test.each(['suspend', 'resume', 'purge', 'password'])('%s fails for nobody', async (verb) => {
    const words = ['tenant', verb, 'nobody.localhost', ...(verb === 'purge' ? ['--yes'] : [])]
    expect(await line.fails(...words)).toMatchObject({ exitCode: 1, code: 'E-PROFILE-NOTFOUND' })
    expect(await line.fails('tenant', verb)).toMatchObject({ exitCode: 2, message: 'IDTAG is missing' })
  })

  test.each([
    ['suspend', []],
    ['purge', ['--yes']],
  ])('%s leaves the base tenant alone', async (verb, options) => {
    expect(await line.fails('tenant', verb, baseTag, ...options)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: 'The base tenant administers the server and stays.',
    })
    expect((await tenantOf(baseTag))?.suspendedAt).toBeUndefined()
  })
})

describe('tenant leader', () => {
  const club = 'band.localhost'
  const lena = 'lena.localhost'
  const mike = 'mike.localhost'
  const roleOf = async (idTag: string) => {
    const reader = server.db.reader((await tenantOf(club))!.tenantId)
    return (await findRelation(reader, idTag as never))?.role
  }

  test('gives a community another leader, without whom the only one can neither be suspended nor purged', async () => {
    for (const idTag of [lena, mike]) await server.createTenant(idTag)
    await line.json('tenant', 'create', club, '--type', 'community', '--owner', lena)
    clock.advance(noticedMs)
    const refused = {
      exitCode: 1,
      code: 'E-STATE',
      message: `Nobody else leads ${club}. Appoint another leader first: kith tenant leader ${club} IDTAG`,
    }
    expect(await line.fails('tenant', 'suspend', lena)).toMatchObject(refused)
    expect((await tenantOf(lena))?.suspendedAt).toBeUndefined()
    // Whom the community keeps out, its server may let in again.
    await server.relate(club, mike, { isBlocked: true, standing: 'Banned' })
    expect(await line.json('tenant', 'leader', club, mike)).toEqual({ community: club, leader: mike })
    expect(await line.json('tenant', 'suspend', lena)).toMatchObject({ tenant: { status: 'suspended' } })
    clock.advance(noticedMs)
    expect(await roleOf(mike)).toBe('leader')
    expect(await line.fails('tenant', 'suspend', mike)).toMatchObject(refused)
    const { data } = await (await server.as(mike)).call(getProxyToken, { query: { target: club } })
    const visiting = server.client(club, data.token)
    const { data: changed } = await visiting.call(updateAdminProfile, {
      params: { idTag: club },
      body: { name: 'The band' },
    })
    expect(changed.name).toBe('The band')

    await server.relate(club, mike, { role: undefined })
    expect(await line.fails('tenant', 'purge', lena, '--yes')).toMatchObject(refused)
    expect(await line.fails('tenant', 'leader', club, lena)).toMatchObject({
      exitCode: 1,
      message: `${lena} is blocked on this server.`,
    })
    await line.json('tenant', 'leader', club, mike)
    line.pauses.length = 0
    await line.json('tenant', 'purge', lena, '--yes')
    expect(await roleOf(lena)).toBeUndefined()
    // Until then the server may not know of the suspension.
    expect(line.pauses).toEqual([expect.toSatisfy((ms: number) => ms > 0 && ms <= 6_000)])
  })

  test.each([
    [[lena, baseTag], 1, 'There is no tenant lena.localhost on this server.'],
    [[mike, baseTag], 1, 'mike.localhost is a person, and has no leader.'],
    [[club, 'nobody.localhost'], 1, 'nobody.localhost was not found, here or elsewhere.'],
    [[club, club], 1, `${club} is a community, and cannot lead another.`],
    [[club], 2, 'IDTAG is missing'],
    [[], 2, 'COMMUNITY is missing'],
  ])('fails for %j', async (words, exitCode, message) => {
    expect(await line.fails('tenant', 'leader', ...words)).toMatchObject({ exitCode, message })
  })
})

describe('tenant email', () => {
  test('sets an address that counts at once, beside the running server', async () => {
    await server.createTenant('erin.localhost')
    const token = await server.signIn('erin.localhost')
    const set = (address: string) => line.json('tenant', 'email', 'erin.localhost', address)
    expect(await set('erin@one.example')).toEqual({ idTag: 'erin.localhost', email: 'erin@one.example' })
    expect(await set('erin@Two.example')).toEqual({
      idTag: 'erin.localhost',
      email: 'erin@two.example',
      former: 'erin@one.example',
    })
    const { data } = await server.client('erin.localhost', token).call(getEmail, {})
    expect(data).toEqual({ address: 'erin@two.example', verified: true })
    const { out } = await line.run(['tenant', 'email', 'erin.localhost', 'erin@two.example'])
    expect(out).toBe('Mails about erin.localhost go to erin@two.example from now on.\n')
  })

  test('refuses what is no address, a community, and who does not live here', async () => {
    await line.json('tenant', 'create', 'troupe.localhost', '--type', 'community')
    const bad = ['nobody', 'a@example.org\r\nBcc: b@example.org', 'A <a@example.org>', '']
    for (const address of bad)
      expect((await line.fails('tenant', 'email', baseTag, address)).exitCode).toBe(2)
    expect((await line.fails('tenant', 'email', baseTag)).exitCode).toBe(2)
    expect(await line.fails('tenant', 'email', 'troupe.localhost', 'a@example.org')).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
    })
    expect(await line.fails('tenant', 'email', 'nobody.localhost', 'a@example.org')).toMatchObject({
      exitCode: 1,
      code: 'E-PROFILE-NOTFOUND',
    })
  })
})

describe('tenant password', () => {
  test('makes a link that changes nothing until it is used', async () => {
    await server.createTenant('hugo.localhost')
    const { link } = await line.json('tenant', 'password', 'hugo.localhost')
    await signIn('hugo.localhost', testPassword)
    const token = link.split('#token=')[1]
    await server.client('hugo.localhost').call(setPassword, { body: { token, password: 'another one' } })
    await signIn('hugo.localhost', 'another one')
    await expect(signIn('hugo.localhost', testPassword)).rejects.toMatchObject({ code: 'E-AUTH-BADCRED' })
  })

  test('mails the link where the person has an address, and says so where not', async () => {
    await server.createTenant('mo.localhost', { email: 'mo@example.org' })
    expect(await line.json('tenant', 'password', 'mo.localhost', '--mail')).toEqual({
      idTag: 'mo.localhost',
      sent: true,
    })
    const { jobs } = await line.json('jobs', 'list', '--state', 'waiting', '--limit', '1000')
    const ofMo = jobs.filter(({ tenant }: { tenant?: string }) => tenant === 'mo.localhost')
    expect(ofMo).toMatchObject([{ kind: 'account.mail' }])
    const { data } = await (await server.as(baseTag)).call(getAuditLog, { query: { limit: 1 } })
    expect(data).toMatchObject([
      { event: 'password.reset-requested', details: { tenant: 'mo.localhost', by: 'command line' } },
    ])
    await server.createTenant('no-mail.localhost')
    expect(await line.fails('tenant', 'password', 'no-mail.localhost', '--mail')).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
    })
    expect(
      await line.fails('tenant', 'password', 'mo.localhost', '--mail', '--password', 'long enough a word'),
    ).toMatchObject({ exitCode: 2 })
  })

  test('asks for one, sets it at once and ends every session', async () => {
    await server.createTenant('ines.localhost')
    const client = await server.as('ines.localhost')
    const said = await line.run(['tenant', 'password', 'ines.localhost', '--stdin'], {
      answer: 'typed by hand',
    })
    expect(said).toEqual({
      exitCode: 0,
      out: 'ines.localhost has a new password. Sessions, API keys and passkeys have ended.\n',
      err: '',
    })
    clock.advance(noticedMs)
    const post = client.call(createAction, { body: { type: 'POST', content: {} } })
    await expect(post).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    await signIn('ines.localhost', 'typed by hand')
    await expect(signIn('ines.localhost', testPassword)).rejects.toMatchObject({ code: 'E-AUTH-BADCRED' })
  })

  test('ends API keys too, unless told to keep them', async () => {
    const idTag = 'ivan.localhost'
    await server.createTenant(idTag)
    const { data } = await (await server.as(idTag)).call(createApiKey, { body: { name: 'Backup' } })
    const withKey = server.client(idTag, data.key)
    const words = ['tenant', 'password', idTag, '--password', 'set by hand']
    expect(await line.run([...words, '--keep-keys'])).toMatchObject({
      out: 'ivan.localhost has a new password. Sessions have ended, API keys and passkeys stay.\n',
    })
    clock.advance(noticedMs)
    await withKey.call(getProxyToken, { query: { target: baseTag } })
    expect(await line.json(...words)).toEqual({ idTag })
    clock.advance(noticedMs)
    const asked = withKey.call(getProxyToken, { query: { target: baseTag } })
    await expect(asked).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    expect(await line.fails('tenant', 'password', idTag, '--keep-keys')).toMatchObject({
      exitCode: 2,
      message: '--keep-keys goes with --password or --stdin: who uses a link is asked',
    })
  })

  test('of the base tenant makes the set-up link worthless and removes its file', async () => {
    await using fresh = await CommandLine.open({ BASE_PASSWORD: '' })
    await using started = await TestServer.start({ dataDir: fresh.dataDir, env: { BASE_PASSWORD: '' } })
    const token = started.running.setUpUrl?.split('#token=')[1] ?? ''
    expect(await readdir(fresh.dataDir)).toContain('setup-link')
    expect(await fresh.json('tenant', 'password', baseTag, '--password', 'set by hand')).toEqual({
      idTag: baseTag,
    })
    expect(await readdir(fresh.dataDir)).not.toContain('setup-link')
    await expect(
      started.client(baseTag).call(setPassword, { body: { token, password: 'too late now' } }),
    ).rejects.toMatchObject({ status: expect.any(Number) })
    await started.signIn(baseTag, 'set by hand')
  })

  test('is not for a community, nor twice, nor short', async () => {
    await server.createTenant('choir.localhost', { type: 'community' })
    expect(await line.fails('tenant', 'password', 'choir.localhost')).toEqual({
      exitCode: 1,
      code: 'E-STATE',
      message: 'choir.localhost is a community: it has no password.',
    })
    expect(
      await line.fails('tenant', 'password', baseTag, '--password', 'long enough', '--stdin'),
    ).toMatchObject({
      exitCode: 2,
      message: '--password and --stdin exclude each other',
    })
    expect(await line.fails('tenant', 'password', baseTag, '--stdin')).toMatchObject({
      exitCode: 2,
      message: 'A password has 8 to 1024 characters',
    })
    await signIn(baseTag, testPassword)
  })
})
