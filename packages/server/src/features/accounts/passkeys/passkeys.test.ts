import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { TestAuthenticator } from '#harness/test-authenticator.ts'
import { secretHash } from '../sessions/session.ts'
import { sweepChallenges, takeChallenge } from './passkey-store.ts'

const host = 'alice.example.com'
const maxOpenChallenges = 20_000

async function start(site: SignInSite) {
  return { site, token: await site.login(site.alice), device: new TestAuthenticator(host) }
}

const newChallenge = async (site: SignInSite, token: string) =>
  (await site.ask('GET', '/api/auth/wa/reg/challenge', { token })).json.data

const add = (site: SignInSite, token: string | undefined, credential: object, name = 'Phone') =>
  site.ask('POST', '/api/auth/wa/reg', { token, body: { name, credential } })

async function register(site: SignInSite, token: string, device: TestAuthenticator) {
  const { challenge } = await newChallenge(site, token)
  const answer = await add(site, token, device.register({ challenge }))
  expect(answer.status).toBe(201)
  return answer.json.data
}

const loginChallenge = async (site: SignInSite, query = '') =>
  (await site.ask('GET', `/api/auth/wa/login/challenge${query}`)).json.data

const login = (site: SignInSite, credential: object, asked: { host?: string } = {}) =>
  site.ask('POST', '/api/auth/wa/login', { body: { credential }, ...asked })

eachDialect('a passkey', (open) => {
  test('is added, listed, used and removed', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const start1 = await newChallenge(site, token)
    expect(start1).toEqual({
      challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      rpId: host,
      rpName: host,
      userName: host,
      userId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      options: expect.objectContaining({
        challenge: start1.challenge,
        rp: { id: host, name: host },
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: expect.objectContaining({
          residentKey: 'preferred',
          userVerification: 'preferred',
        }),
      }),
    })
    const made = await add(site, token, device.register({ challenge: start1.challenge }))
    expect(made.status).toBe(201)
    expect(made.json.data).toEqual({ keyId: device.id, name: 'Phone', createdAt: '2026-01-01T00:00:00.000Z' })

    const offered = await loginChallenge(site, `?idTag=${host}`)
    const allowed = { type: 'public-key', id: device.id, transports: ['internal'] }
    expect(offered).toMatchObject({ rpId: host, allowCredentials: [allowed] })
    expect(offered.options).toMatchObject({
      challenge: offered.challenge,
      rpId: host,
      userVerification: 'preferred',
    })

    site.clock.advance(60_000)
    const answer = await login(site, device.authenticate({ challenge: offered.challenge }))
    expect(answer.json.data).toMatchObject({
      tnId: site.alice.tenantId,
      idTag: host,
      name: `Name of ${host}`,
      roles: ['user'],
    })
    const sessions = await site.ask('GET', '/api/auth/sessions', { token: answer.json.data.token })
    expect(sessions.json.data[0]).toMatchObject({ method: 'passkey', current: true })
    const [listed] = (await site.ask('GET', '/api/auth/wa/reg', { token })).json.data
    expect(listed).toEqual({ ...made.json.data, lastUsedAt: '2026-01-01T00:01:00.000Z' })

    const path = `/api/auth/wa/reg/${device.id}`
    expect((await site.ask('DELETE', path, { token })).json.data).toBe('ok')
    refused(await site.ask('DELETE', path, { token }), 404, 'E-NOTFOUND')
    const { challenge } = await loginChallenge(site)
    refused(await login(site, device.authenticate({ challenge })), 401, 'E-AUTH-BADCRED')
  })

  test('is named anew by its owner, after a recent sign-in', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const made = await register(site, token, device)
    const path = `/api/auth/wa/reg/${device.id}`
    const rename = (name: unknown, asked: { token?: string | undefined; host?: string } = { token }) =>
      site.ask('PATCH', path, { body: { name }, ...asked })
    expect((await rename('Anna’s phone')).json.data).toEqual({ ...made, name: 'Anna’s phone' })
    const listed = async () => (await site.ask('GET', '/api/auth/wa/reg', { token })).json.data
    expect(await listed()).toEqual([{ ...made, name: 'Anna’s phone' }])
    for (const name of ['', ' ', 'x'.repeat(101), 5]) expect((await rename(name)).status).toBe(400)
    refused(await rename('x', { token: undefined }), 401, 'E-AUTH-UNAUTH')
    const other = await site.login(site.bob)
    refused(await rename('x', { token: other, host: 'bob.example.com' }), 404, 'E-NOTFOUND')
    expect([401, 403]).toContain((await rename('x', { token: other })).status)
    refused(
      await site.ask('PATCH', '/api/auth/wa/reg/unknown', { token, body: { name: 'x' } }),
      404,
      'E-NOTFOUND',
    )
    site.clock.advance(15 * 60_000 + 1_000)
    refused(await rename('x'), 403, 'E-AUTH-FORBIDDEN')
    expect((await listed())[0].name).toBe('Anna’s phone')
    const { challenge } = await loginChallenge(site)
    expect((await login(site, device.authenticate({ challenge }))).status).toBe(200)
  })

  test('cannot be copied: a counter that does not go up is refused', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const use = async () => login(site, device.authenticate(await loginChallenge(site)))
    expect((await use()).status).toBe(200)
    expect((await use()).status).toBe(200)
    device.counter = 0
    refused(await use(), 401, 'E-AUTH-BADCRED')
  })

  test('whose answer is sent twice at once lets one in', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const credential = device.authenticate(await loginChallenge(site))
    const both = await Promise.all([login(site, credential), login(site, credential)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })
})

eachDialect('a passkey', (open) => {
  test('has a challenge whatever number of them others have asked for: the oldest goes', async () => {
    const site = await openSignInSite(open)
    const { challenge } = await loginChallenge(site)
    const { tenantId } = site.alice
    const now = Math.floor(site.clock.now() / 1000)
    const others = Array.from({ length: maxOpenChallenges - 1 }, (_, at) => ({
      tenant_id: tenantId,
      challenge_hash: `others ${at}`,
      expires_at: now + 121,
    }))
    for (let from = 0; from < others.length; from += 5000)
      await site.db.transact(tenantId, async (tx) => {
        const tables = tx.tables<{ passkey_challenges: (typeof others)[number] }>()
        await tables
          .insertInto('passkey_challenges')
          .values(others.slice(from, from + 5000))
          .execute()
      })
    const later = await site.ask('GET', '/api/auth/wa/login/challenge')
    expect(later.status).toBe(200)
    const left = await site.db.transact(tenantId, (tx) => sweepChallenges(tx, now))
    expect(left).toBe(maxOpenChallenges)
    const first = secretHash(`sign-in\n${challenge}`)
    expect(await site.db.transact(tenantId, (tx) => takeChallenge(tx, first, now))).toBe(false)
  })

  test('signs in without a name: the credential says who it is', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const { userId } = await newChallenge(site, token)
    await register(site, token, device)
    const offered = await loginChallenge(site)
    expect(offered.allowCredentials).toEqual([])
    const answer = await login(site, device.authenticate({ ...offered, userHandle: userId }))
    expect(answer.status).toBe(200)
    const other = { ...(await loginChallenge(site)), userHandle: 'someone-else' }
    refused(await login(site, device.authenticate(other)), 401, 'E-AUTH-BADCRED')
  })

  test('of an authenticator that does not count is good each time', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    for (let turn = 0; turn < 2; turn += 1) {
      device.counter = -1
      expect((await login(site, device.authenticate(await loginChallenge(site)))).status).toBe(200)
    }
  })

  test('is verified in every part of its answer', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const stranger = new TestAuthenticator(host)
    const answers = [
      (challenge: string) => device.authenticate({ challenge, origin: 'https://evil.example.com' }),
      (challenge: string) => device.authenticate({ challenge, origin: 'https://bob.example.com' }),
      (challenge: string) => device.authenticate({ challenge, origin: 'http://alice.example.com' }),
      (challenge: string) => device.authenticate({ challenge, rpId: 'bob.example.com' }),
      (challenge: string) => ({ ...device.authenticate({ challenge }), rawId: stranger.id }),
      (challenge: string) => ({ ...stranger.authenticate({ challenge }), id: device.id, rawId: device.id }),
      (challenge: string) => stranger.authenticate({ challenge }),
      () => device.authenticate({ challenge: 'A'.repeat(43) }),
    ]
    for (const answer of answers)
      refused(await login(site, answer((await loginChallenge(site)).challenge)), 401, 'E-AUTH-BADCRED')
    expect((await login(site, device.authenticate(await loginChallenge(site)))).status).toBe(200)
  })

  test('answers a challenge once, within 120 s, of its own tenant and purpose', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const { challenge } = await loginChallenge(site)
    expect((await login(site, device.authenticate({ challenge }))).status).toBe(200)
    refused(await login(site, device.authenticate({ challenge })), 401, 'E-AUTH-BADCRED')
    const late = await loginChallenge(site)
    site.clock.advance(120_000)
    refused(await login(site, device.authenticate(late)), 401, 'E-AUTH-BADCRED')
    const elsewhere = await site.ask('GET', '/api/auth/wa/login/challenge', { host: 'bob.example.com' })
    refused(await login(site, device.authenticate(elsewhere.json.data)), 401, 'E-AUTH-BADCRED')
    const forAdding = await newChallenge(site, token)
    const crossed = device.authenticate({ challenge: forAdding.challenge })
    refused(await login(site, crossed), 401, 'E-AUTH-BADCRED')
    const spoilt = await loginChallenge(site)
    await login(site, device.authenticate({ ...spoilt, origin: 'https://evil.example.com' }))
    refused(await login(site, device.authenticate(spoilt)), 401, 'E-AUTH-BADCRED')
  })

  test('is slowed down when strangers send many wrong answers, and they fill no trail', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const from = (at: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${at}` } })
    const wrong = device.authenticate({ challenge: 'A'.repeat(43) })
    const attempt = (at: number) =>
      site.ask('POST', '/api/auth/wa/login', { body: { credential: wrong }, ...from(at) })
    for (let at = 0; at < 20; at += 1) refused(await attempt(at), 401, 'E-AUTH-BADCRED')
    refused(await attempt(99), 429, 'E-RATELIMIT')
    expect((await login(site, device.authenticate(await loginChallenge(site)))).status).toBe(200)
  })

  test('is nothing on another tenant’s host', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    await register(site, token, device)
    const bob = { host: 'bob.example.com' }
    const { challenge } = (await site.ask('GET', '/api/auth/wa/login/challenge', bob)).json.data
    const ceremony = { challenge, origin: 'https://bob.example.com', rpId: 'bob.example.com' }
    refused(await login(site, device.authenticate(ceremony), bob), 401, 'E-AUTH-BADCRED')
    expect((await loginChallenge(site, '?idTag=bob.example.com')).allowCredentials).toEqual([])
    expect((await loginChallenge(site, '?idTag=nobody.example.com')).allowCredentials).toEqual([])
  })

  test('may be used from the app domain', async () => {
    const site = await openSignInSite(open)
    const carol = await site.makeTenant('carol.example.com', {
      password: 'correct horse battery',
      appDomain: 'app.example.org',
    })
    const on = { host: carol.idTag }
    const token = await site.login(carol)
    const device = new TestAuthenticator(carol.idTag)
    const { challenge } = (await site.ask('GET', '/api/auth/wa/reg/challenge', { ...on, token })).json.data
    const credential = device.register({ challenge, origin: 'https://app.example.org' })
    expect(
      (await site.ask('POST', '/api/auth/wa/reg', { ...on, token, body: { name: 'x', credential } })).status,
    ).toBe(201)
    const offered = (await site.ask('GET', '/api/auth/wa/login/challenge', { host: 'app.example.org' })).json
      .data
    expect(offered.rpId).toBe(carol.idTag)
    const answer = device.authenticate({ challenge: offered.challenge, origin: 'https://app.example.org' })
    expect((await login(site, answer, { host: 'app.example.org' })).json.data.idTag).toBe(carol.idTag)
  })
})

eachDialect('adding a passkey', (open) => {
  test('is refused when any part of the answer is wrong, and its challenge is spent', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const answers = [
      (challenge: string) => device.register({ challenge, origin: 'https://evil.example.com' }),
      (challenge: string) => device.register({ challenge, rpId: 'bob.example.com' }),
      (challenge: string) => ({ ...device.register({ challenge }), rawId: 'AAAA' }),
      () => device.register({ challenge: 'A'.repeat(43) }),
    ]
    for (const answer of answers)
      refused(
        await add(site, token, answer((await newChallenge(site, token)).challenge)),
        401,
        'E-AUTH-BADCRED',
      )
    const { challenge } = await newChallenge(site, token)
    const forLogin = await loginChallenge(site)
    refused(await add(site, token, device.register(forLogin)), 401, 'E-AUTH-BADCRED')
    refused(
      await add(site, await site.login(site.alice), device.register({ challenge })),
      401,
      'E-AUTH-BADCRED',
    )
    expect((await add(site, token, device.register({ challenge }))).status).toBe(201)
    const again = await newChallenge(site, token)
    expect(again.options.excludeCredentials).toMatchObject([{ id: device.id }])
    refused(await add(site, token, device.register(again)), 409, 'E-DUPLICATE')
  })

  test('is refused in a malformed body', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const good = device.register(await newChallenge(site, token))
    for (const bad of [{ ...good, type: 'password' }, { ...good, id: '' }, { ...good, response: {} }, {}])
      refused(await add(site, token, bad), 400, 'E-VALIDATION')
    for (const name of ['', ' ', 'Key\u202e', '\u200b'])
      refused(await add(site, token, good, name), 400, 'E-VALIDATION')
  })

  test('needs the owner, who signed in within the last 15 minutes, and tells them by mail', async () => {
    const { site, token, device } = await start(await openSignInSite(open))
    const early = device.register(await newChallenge(site, token))
    refused(await add(site, undefined, early), 401, 'E-AUTH-UNAUTH')
    site.clock.advance(15 * 60_000 + 1000)
    const stale = await add(site, token, device.register(await newChallenge(site, token)))
    refused(stale, 403, 'E-AUTH-FORBIDDEN')
    expect(stale.json.error.details).toEqual({ reason: 'sign-in-again' })
    const renewed = (await site.ask('GET', '/api/auth/login-token', { token })).json.data.token
    refused(
      await add(site, renewed, device.register(await newChallenge(site, renewed))),
      403,
      'E-AUTH-FORBIDDEN',
    )
    const fresh = await site.login(site.alice)
    await register(site, fresh, device)
    await site.jobs.settle()
    expect(site.world.mails).toMatchObject([{ to: 'alice@example.com', subject: 'A passkey was added' }])
  })

  test('is not for visitors, whatever their role', async () => {
    const { site } = await start(await openSignInSite(open))
    await site.giveRole(site.alice, site.bob.idTag, 'leader')
    const proxy = await site.ask('GET', `/api/auth/proxy-token?target=${host}`, {
      host: 'bob.example.com',
      token: await site.login(site.bob),
    })
    const token = proxy.json.data.token
    refused(await site.ask('GET', '/api/auth/wa/reg', { token }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('GET', '/api/auth/wa/reg/challenge', { token }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('DELETE', '/api/auth/wa/reg/x', { token }), 403, 'E-AUTH-FORBIDDEN')
  })
})

eachDialect('removing a passkey', (open) => {
  test('is refused for the last way to sign in, and for a sign-in long ago', async () => {
    const site = await openSignInSite(open)
    const { token, device } = await start(site)
    await register(site, token, device)
    await site.db.transact(site.alice.tenantId, async (tx) => {
      await tx
        .tables<{ accounts: { tenant_id: number; password_hash: string | null } }>()
        .updateTable('accounts')
        .set({ password_hash: null })
        .where('tenant_id', '=', tx.tenantId)
        .execute()
    })
    const path = `/api/auth/wa/reg/${device.id}`
    refused(await site.ask('DELETE', path, { token }), 409, 'E-STATE')
    expect((await login(site, device.authenticate(await loginChallenge(site)))).status).toBe(200)
    await register(site, token, new TestAuthenticator(host))
    site.clock.advance(16 * 60_000)
    refused(await site.ask('DELETE', path, { token }), 403, 'E-AUTH-FORBIDDEN')
    const again = (await login(site, device.authenticate(await loginChallenge(site)))).json.data.token
    expect((await site.ask('DELETE', path, { token: again })).status).toBe(200)
  })
})
