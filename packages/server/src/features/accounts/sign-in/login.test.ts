import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Received } from '#harness/http-site.ts'
import { openSignInSite, password, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { findAccount } from '../account-store.ts'
import { createPasswordHasher } from '../passwords/password-hasher.ts'
import { takeAttempt } from './attempt-buckets.ts'
import { login } from './login.ts'

const unknown = 'nobody.example.com'

function tryLogin(
  site: SignInSite,
  attempt: { idTag?: string; password?: string; from?: string; host?: string } = {},
) {
  const { from = '198.51.100.1', host = 'alice.example.com', ...given } = attempt
  return site.ask('POST', '/api/auth/login', {
    host,
    body: { idTag: 'alice.example.com', password, ...given },
    headers: { 'x-forwarded-for': from, 'user-agent': 'Browser/1' },
  })
}

async function fail(site: SignInSite, times: number, attempt: Parameters<typeof tryLogin>[1] = {}) {
  for (let turn = 0; turn < times; turn += 1)
    refused(await tryLogin(site, { ...attempt, password: 'wrong password' }), 401, 'E-AUTH-BADCRED')
}

eachDialect('signing in with a password', (open) => {
  test('answers the login session, with everything a client needs', async () => {
    const site = await openSignInSite(open)
    const { status, json } = await tryLogin(site)
    expect(status).toBe(200)
    expect(json.data).toEqual({
      tnId: site.alice.tenantId,
      idTag: 'alice.example.com',
      name: 'Name of alice.example.com',
      token: expect.any(String),
      expiresAt: Math.floor(site.clock.now() / 1000) + 86_400,
      roles: ['user'],
      settings: [['theme', 'dark']],
      email: { address: 'alice@example.com', verified: false },
      swEncryptionKey: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })
    const again = await tryLogin(site)
    expect(again.json.data.swEncryptionKey).toBe(json.data.swEncryptionKey)
    expect(again.json.data.token).not.toBe(json.data.token)
  })

  test('gives the owner of the base tenant the role SADM', async () => {
    const site = await openSignInSite(open)
    const { json } = await tryLogin(site, { host: 'home.example.com', idTag: 'home.example.com' })
    expect(json.data.roles).toEqual(['user', 'SADM'])
    expect(decodeJwt(json.data.token)).toMatchObject({ roles: ['user', 'SADM'] })
  })

  test('slows strangers down on one account, and never the owner’s own devices', async () => {
    const site = await openSignInSite(open)
    expect((await tryLogin(site, { from: '198.51.100.7' })).status).toBe(200)
    for (let turn = 0; turn < 20; turn += 1) await fail(site, 1, { from: `203.0.113.${turn}` })
    const stopped = await tryLogin(site, { from: '203.0.113.99' })
    refused(stopped, 429, 'E-RATELIMIT')
    const waitSecs = Number(stopped.headers['retry-after'])
    expect(waitSecs).toBe(15)
    expect(stopped.headers).toMatchObject({
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(site.clock.now() / 1000 + waitSecs),
    })
    expect((await tryLogin(site, { from: '198.51.100.7' })).status).toBe(200)
    site.clock.advance(15_000)
    expect((await tryLogin(site, { from: '203.0.113.99' })).status).toBe(200)
  })

  test('gives the owner a turn at a new address, however many strangers go on guessing', async () => {
    const site = await openSignInSite(open)
    const guess = async (count: number) => {
      const answers = await Promise.all(
        Array.from({ length: count }, (_, at) =>
          tryLogin(site, { password: 'wrong password', from: `203.0.${at % 3}.${at}` }),
        ),
      )
      return answers.filter(({ status }) => status === 401).length
    }
    expect(await guess(40)).toBe(20)
    const owner = { from: '192.0.2.77' }
    const stopped = await tryLogin(site, owner)
    refused(stopped, 429, 'E-RATELIMIT')
    const waitSecs = Number(stopped.headers['retry-after'])
    expect(waitSecs).toBe(21 * 15)
    let guesses = 0
    for (let passed = 0; passed < waitSecs; passed += 15) {
      guesses += await guess(40)
      // Who asks again before the turn has come neither loses it nor gets another.
      refused(await tryLogin(site, owner), 429, 'E-RATELIMIT')
      site.clock.advance(15_000)
    }
    // As many as the account takes from all strangers together, and no more.
    expect(guesses).toBe(20)
    expect((await tryLogin(site, { ...owner, password: 'wrong password' })).status).toBe(401)
    refused(await tryLogin(site, owner), 429, 'E-RATELIMIT')
  })

  test('slows one address down over all accounts of the server', async () => {
    const site = await openSignInSite(open)
    const from = '203.0.113.5'
    for (let turn = 0; turn < 20; turn += 1) await fail(site, 1, { from, idTag: `x${turn}.example.com` })
    refused(await tryLogin(site, { from }), 429, 'E-RATELIMIT')
    const elsewhere = { from, host: 'bob.example.com', idTag: 'bob.example.com' }
    refused(await tryLogin(site, elsewhere), 429, 'E-RATELIMIT')
    expect((await tryLogin(site, { from: '203.0.113.6' })).status).toBe(200)
  })

  test('takes an IPv6 network for one address', async () => {
    const site = await openSignInSite(open)
    for (let turn = 1; turn <= 20; turn += 1)
      await fail(site, 1, { from: `2001:db8::${turn}`, idTag: unknown })
    refused(await tryLogin(site, { from: '2001:db8::ffff' }), 429, 'E-RATELIMIT')
    expect((await tryLogin(site, { from: '2001:db8:0:1::1' })).status).toBe(200)
  })

  test('slows one customer with many networks down', async () => {
    const site = await openSignInSite(open)
    const guess = (net: string, at: number) =>
      tryLogin(site, { password: 'wrong password', from: `2001:db8:${net}:${at.toString(16)}::1` })
    for (let at = 0; at < 60; at += 1) await guess('7', at)
    const stopped = await guess('7', 60)
    refused(stopped, 429, 'E-RATELIMIT')
    expect(stopped.headers['retry-after']).toBe('60')
    // Who comes from elsewhere waits no longer than for the turns that these have had.
    expect((await guess('8', 0)).headers['retry-after']).toBe(String(41 * 15))
  })

  test('counts attempts that are made at once', async () => {
    const site = await openSignInSite(open)
    const wrong = () => tryLogin(site, { password: 'wrong password', from: '203.0.113.5' })
    const answers = await Promise.all(Array.from({ length: 30 }, wrong))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  })
})

eachDialect('signing in', (open) => {
  test('refuses a wrong password, another identity and an account without password alike', async () => {
    const site = await openSignInSite(open)
    await site.makeTenant('empty.example.com')
    await site.makeTenant('club.example.com', { type: 'community' })
    const answers = [
      await tryLogin(site, { password: 'wrong password' }),
      await tryLogin(site, { idTag: unknown }),
      await tryLogin(site, { idTag: 'bob.example.com' }),
      await tryLogin(site, { host: 'empty.example.com', idTag: 'empty.example.com' }),
      await tryLogin(site, { host: 'club.example.com', idTag: 'club.example.com' }),
    ]
    const bodies = answers.map(({ status, json }) => ({ status, error: json.error }))
    for (const body of bodies) expect(body).toEqual(bodies[0])
    refused(answers[0]!, 401, 'E-AUTH-BADCRED')
  })

  test('takes an identity in any spelling', async () => {
    const site = await openSignInSite(open)
    expect((await tryLogin(site, { idTag: 'ALICE.example.com' })).status).toBe(200)
  })

  test('refuses a malformed identity or body', async () => {
    const site = await openSignInSite(open)
    refused(await tryLogin(site, { idTag: 'a/b' }), 400, 'E-VALIDATION')
    refused(await tryLogin(site, { password: 'x'.repeat(5000) }), 400, 'E-VALIDATION')
    refused(await tryLogin(site, { password: '\ud800'.repeat(8) }), 400, 'E-VALIDATION')
    refused(
      await site.ask('POST', '/api/auth/login', { body: { idTag: 'alice.example.com' } }),
      400,
      'E-VALIDATION',
    )
  })

  test('is refused on a suspended tenant', async () => {
    const site = await openSignInSite(open)
    const deps = { ...site.deps, revokeSessions: async () => undefined }
    await site.db.transact(site.alice.tenantId, (tx) => suspendTenant(deps, tx))
    refused(await tryLogin(site), 403, 'E-AUTH-FORBIDDEN')
  })

  test('asks for a verified address where the setting wants it, after the right password only', async () => {
    const site = await openSignInSite(open)
    site.world.needsVerifiedEmail = true
    refused(await tryLogin(site), 403, 'E-AUTH-NOTVERIFIED')
    refused(await tryLogin(site, { password: 'wrong password' }), 401, 'E-AUTH-BADCRED')
  })

  test('stores the password anew when it was hashed at another cost', async () => {
    const site = await openSignInSite(open)
    const hashOf = async () => (await findAccount(site.db.reader(site.alice.tenantId)))?.passwordHash
    expect(await hashOf()).toContain('m=64,t=1')
    const { deps } = site
    const dearer = { ...deps, passwords: createPasswordHasher({ memoryKiB: 128, passes: 1 }) }
    const device = { ip: '198.51.100.1' }
    await login(dearer, { tenant: site.alice, idTag: site.alice.idTag, password, device })
    expect(await hashOf()).toContain('m=128,t=1')
    expect((await tryLogin(site)).status).toBe(200)
  })

  test('leaves a line in the audit trail, failed or not, that only the owner sees', async () => {
    const site = await openSignInSite(open)
    await fail(site, 1)
    await fail(site, 1, { idTag: unknown })
    site.clock.advance(1000)
    const token = (await tryLogin(site)).json.data.token
    const { json } = await site.ask('GET', '/api/audit', { token })
    expect(json.data).toHaveLength(2)
    expect(json.data).toMatchObject([
      { event: 'session.started', actorTag: 'alice.example.com', details: { method: 'password' } },
      { event: 'sign-in.failed', ipAddress: '198.51.100.1', details: { method: 'password' } },
    ])
    expect(JSON.stringify(json)).not.toContain('wrong password')
    refused(await site.ask('GET', '/api/audit'), 401, 'E-AUTH-UNAUTH')
    const foreign = await site.ask('GET', `/api/auth/proxy-token?target=alice.example.com`, {
      host: 'bob.example.com',
      token: await site.login(site.bob),
    })
    refused(await site.ask('GET', '/api/audit', { token: foreign.json.data.token }), 403, 'E-AUTH-FORBIDDEN')
  })

  test('pages through the audit trail without losing or repeating a line, and keeps it 180 days', async () => {
    const site = await openSignInSite(open)
    for (let turn = 0; turn < 5; turn += 1) await site.login(site.alice)
    const token = await site.login(site.alice)
    const ids: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`
      const page: Received = await site.ask('GET', `/api/audit?limit=4${query}`, { token })
      const { json } = page
      ids.push(...json.data.map((line: { id: string }) => line.id))
      cursor = json.cursorPagination.nextCursor
      expect(json.cursorPagination.hasMore).toBe(cursor !== null)
    }
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
    refused(await site.ask('GET', '/api/audit?cursor=x', { token }), 400, 'E-VALIDATION')
    site.clock.advance(181 * 86_400_000)
    const later = await site.ask('GET', '/api/audit', { token: await site.login(site.alice) })
    expect(later.json.data).toHaveLength(1)
  })
})

describe('an attempt', () => {
  const pace = { burst: 3, refillMs: 1000 }

  test('finds room up to the burst, then one for each refill', () => {
    let fullUntilMs: number | undefined
    for (let turn = 0; turn < 3; turn += 1) {
      const taking = takeAttempt(pace, fullUntilMs, 10_000)
      expect(taking.roomAtMs).toBeLessThanOrEqual(10_000)
      fullUntilMs = taking.fullUntilMs
    }
    expect(takeAttempt(pace, fullUntilMs, 10_000)).toEqual({ fullUntilMs: 14_000, roomAtMs: 11_000 })
    expect(takeAttempt(pace, fullUntilMs, 11_000)).toEqual({ fullUntilMs: 14_000, roomAtMs: 11_000 })
  })

  test('finds a bucket that has rested long enough as good as new', () => {
    expect(takeAttempt(pace, 13_000, 13_000)).toEqual({ fullUntilMs: 14_000, roomAtMs: 11_000 })
    expect(takeAttempt(pace, 13_000, 99_000)).toEqual({ fullUntilMs: 100_000, roomAtMs: 97_000 })
  })
})
