import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { signInLab } from '#harness/sign-in-lab.ts'
import { openSignInSite, password, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { TestAuthenticator } from '#harness/test-authenticator.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Writer } from '#infra/db/index.ts'
import { answerQrLogin, initQrLogin, pollQrLogin } from './qr-login.ts'
import { insertQrSession } from './qr-store.ts'
import { QrWaiters } from './qr-waiters.ts'

interface Started {
  readonly sessionId: string
  readonly secret: string
  readonly code: string
}

const base = '/api/auth/qr-login'
const askingDevice = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'Television/1' }

const init = async (site: SignInSite, host?: string): Promise<Started> =>
  (await site.ask('POST', `${base}/init`, { headers: askingDevice, ...(host ? { host } : {}) })).json.data

function poll(
  site: SignInSite,
  { sessionId, secret }: Partial<Started>,
  timeout: number | string = 0,
  host?: string,
) {
  const headers = secret === undefined ? {} : { 'x-qr-secret': secret }
  const path = `${base}/${sessionId}/status?timeout=${timeout}`
  return site.ask('GET', path, { headers, ...(host ? { host } : {}) })
}

const respond = (site: SignInSite, sessionId: string, token: string | undefined, approved: unknown = true) =>
  site.ask('POST', `${base}/${sessionId}/respond`, { token, body: { approved } })

const details = (site: SignInSite, sessionId: string, token: string | undefined) =>
  site.ask('GET', `${base}/${sessionId}/details`, { token })

eachDialect('a QR sign-in', (open) => {
  test('shows who asks, is approved once, and hands its login out once', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const started = await init(site)
    expect(started).toEqual({
      sessionId: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code: expect.stringMatching(/^\d{6}$/),
    })
    expect((await poll(site, started)).json.data).toEqual({ status: 'pending' })
    expect((await details(site, started.sessionId, token)).json.data).toEqual({
      sessionId: started.sessionId,
      idTag: 'alice.example.com',
      name: 'Name of alice.example.com',
      code: started.code,
      ipAddress: '203.0.113.9',
      userAgent: 'Television/1',
      createdAt: '2026-01-01T00:00:00.000Z',
    })
    expect((await respond(site, started.sessionId, token)).json.data).toEqual({ status: 'approved' })
    refused(await respond(site, started.sessionId, token, false), 409, 'E-STATE')
    const polls = await Promise.all([poll(site, started), poll(site, started)])
    const logins = polls.map(({ json }) => json.data.login).filter((login) => login !== undefined)
    expect(logins).toHaveLength(1)
    expect(logins[0]).toMatchObject({
      tnId: site.alice.tenantId,
      idTag: 'alice.example.com',
      name: 'Name of alice.example.com',
      token: expect.any(String),
    })
    expect((await poll(site, started)).json.data).toEqual({ status: 'approved' })
    const sessions = (await site.ask('GET', '/api/auth/sessions', { token: logins[0].token })).json.data
    expect(sessions.find(({ current }: { current: boolean }) => current)).toMatchObject({
      method: 'qr',
      ipAddress: '203.0.113.9',
      userAgent: 'Television/1',
    })
  })

  test('answered on another node ends the wait here', async () => {
    const site = await openSignInSite(open)
    const other = { ...signInLab(site.db, site.world).deps, qrWaiters: new QrWaiters(site.clock) }
    const here = { ...site.deps, qrWaiters: new QrWaiters(site.clock) }
    const tenant = site.alice
    const started = await initQrLogin(here, { tenant, device: { ip: '203.0.113.9' } })
    const { signal } = new AbortController()
    const waiting = pollQrLogin(here, { tenant, ...started, timeoutSecs: 30, signal })
    const token = await site.login(tenant)
    const { caller } = await site.authenticator.authenticate({ tenant, bearer: token, ip: '203.0.113.9' })
    if (caller.kind !== 'identity') throw new Error('not signed in')
    const { sessionId } = started
    await answerQrLogin(other, { tenant, caller, sessionId, approved: true, ip: '198.51.100.1' })
    // The time of the test passes no faster than the database answers.
    expect(await passing(site.clock, waiting, () => site.db.ping())).toMatchObject({
      status: 'approved',
      login: { idTag: tenant.idTag },
    })
    expect(site.clock.now() - Date.UTC(2026, 0, 1)).toBeLessThan(30_000)
  })
})

eachDialect('a QR sign-in', (open) => {
  test('that is denied stays so', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const started = await init(site)
    expect((await respond(site, started.sessionId, token, false)).json.data).toEqual({ status: 'denied' })
    refused(await respond(site, started.sessionId, token), 409, 'E-STATE')
    expect((await poll(site, started)).json.data).toEqual({ status: 'denied' })
  })

  test('expires after 300 s, answered or not', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const [open1, approved] = [await init(site), await init(site)]
    await respond(site, approved.sessionId, token)
    site.clock.advance(300_000)
    for (const started of [open1, approved])
      expect((await poll(site, started, 30)).json.data).toEqual({ status: 'expired' })
    refused(await respond(site, open1.sessionId, token), 409, 'E-STATE')
    refused(await details(site, open1.sessionId, token), 404, 'E-NOTFOUND')
  })

  test('is known only to whoever has its secret', async () => {
    const site = await openSignInSite(open)
    const started = await init(site)
    refused(await poll(site, { sessionId: started.sessionId }), 401, 'E-AUTH-UNAUTH')
    refused(await poll(site, { ...started, secret: 'A'.repeat(43) }), 404, 'E-NOTFOUND')
    refused(await poll(site, { ...started, secret: '' }), 404, 'E-NOTFOUND')
    refused(await poll(site, { ...started, sessionId: 'A'.repeat(22) }), 404, 'E-NOTFOUND')
    refused(await poll(site, started, 0, 'bob.example.com'), 404, 'E-NOTFOUND')
    refused(await poll(site, started, 31), 400, 'E-VALIDATION')
    refused(await poll(site, started, 'x'), 400, 'E-VALIDATION')
    const rows = await site.db
      .reader(site.alice.tenantId)
      .tables<{ qr_sessions: object }>()
      .selectFrom('qr_sessions')
      .selectAll()
      .execute()
    expect(JSON.stringify(rows)).not.toContain(started.secret)
  })

  test('is answered by the owner in person alone', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { sessionId } = await init(site)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    const narrow = (await site.ask('GET', '/api/auth/access-token?scope=write', { token })).json.data.token
    const proxy = await site.ask('GET', '/api/auth/proxy-token?target=alice.example.com', {
      host: 'bob.example.com',
      token: await site.login(site.bob),
    })
    await site.giveRole(site.alice, site.bob.idTag, 'leader')
    for (const bearer of [key, narrow, proxy.json.data.token]) {
      refused(await respond(site, sessionId, bearer), 403, 'E-AUTH-FORBIDDEN')
      refused(await details(site, sessionId, bearer), 403, 'E-AUTH-FORBIDDEN')
    }
    refused(await respond(site, sessionId, undefined), 401, 'E-AUTH-UNAUTH')
    refused(await details(site, sessionId, undefined), 401, 'E-AUTH-UNAUTH')
    refused(await respond(site, sessionId, token, 'yes'), 400, 'E-VALIDATION')
    refused(await respond(site, 'A'.repeat(22), token), 404, 'E-NOTFOUND')
    refused(await details(site, 'A'.repeat(22), token), 404, 'E-NOTFOUND')
    const other = await init(site, 'bob.example.com')
    refused(await respond(site, other.sessionId, token), 404, 'E-NOTFOUND')
    expect((await respond(site, sessionId, token)).status).toBe(200)
  })

  test('is approved by a recent sign-in, the password or a passkey, and by no token alone that is older', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const passkey = new TestAuthenticator(site.alice.idTag)
    const { challenge } = (await site.ask('GET', '/api/auth/wa/reg/challenge', { token })).json.data
    const added = { name: 'Phone', credential: passkey.register({ challenge }) }
    await site.ask('POST', '/api/auth/wa/reg', { token, body: added })
    const approve = (sessionId: string, proof: object = {}) =>
      site.ask('POST', `${base}/${sessionId}/respond`, { token, body: { approved: true, ...proof } })
    const answerOf = async () =>
      passkey.authenticate((await site.ask('GET', '/api/auth/wa/login/challenge')).json.data)

    site.clock.advance(15 * 60_000)
    expect((await approve((await init(site)).sessionId)).status).toBe(200)
    site.clock.advance(1000)
    const started = await init(site)
    const refusal = await approve(started.sessionId)
    refused(refusal, 403, 'E-AUTH-FORBIDDEN')
    expect(refusal.json.error.details).toEqual({ reason: 'sign-in-again' })
    refused(await approve(started.sessionId, { password: 'a wrong password' }), 401, 'E-AUTH-BADCRED')
    const credential = await answerOf()
    const other = new TestAuthenticator(site.alice.idTag).authenticate(
      (await site.ask('GET', '/api/auth/wa/login/challenge')).json.data,
    )
    refused(await approve(started.sessionId, { credential: other }), 401, 'E-AUTH-BADCRED')
    expect((await poll(site, started)).json.data).toEqual({ status: 'pending' })
    expect((await approve(started.sessionId, { credential })).json.data).toEqual({ status: 'approved' })
    const next = await init(site)
    refused(await approve(next.sessionId, { credential }), 401, 'E-AUTH-BADCRED')
    expect((await approve(next.sessionId, { password })).json.data).toEqual({ status: 'approved' })
    // To refuse needs no proof.
    expect((await respond(site, (await init(site)).sessionId, token, false)).status).toBe(200)
  })

  test('is opened twenty times by one network: the oldest of the same network makes room', async () => {
    const site = await openSignInSite(open)
    const other = (await site.ask('POST', `${base}/init`)).json.data
    const first = await init(site)
    site.clock.advance(1000)
    for (let turn = 0; turn < 19; turn += 1) await init(site)
    expect((await poll(site, first)).json.data).toEqual({ status: 'pending' })
    const last = await init(site)
    refused(await poll(site, first), 404, 'E-NOTFOUND')
    for (const started of [other, last])
      expect((await poll(site, started)).json.data).toEqual({ status: 'pending' })
  })

  test('counts the addresses of one /64 as one network', async () => {
    const site = await openSignInSite(open)
    const from = async (ip: string) =>
      (await site.ask('POST', `${base}/init`, { headers: { 'x-forwarded-for': ip } })).json.data as Started
    const first = await from('2001:db8:1:2::1')
    site.clock.advance(1000)
    for (let turn = 2; turn <= 21; turn += 1) await from(`2001:db8:1:2::${turn}`)
    refused(await poll(site, first), 404, 'E-NOTFOUND')
  })

  test('that nobody can open any more leaves the other ways in open', async () => {
    const site = await openSignInSite(open)
    const { tenantId } = site.alice
    const now = Math.floor(site.clock.now() / 1000)
    const insert = (tx: Writer, at: number) =>
      insertQrSession(tx, {
        sessionId: `s${at}`,
        secretHash: 'none',
        isDelivered: false,
        createdAt: now,
        expiresAt: now + 300,
        ip: `10.0.${at >> 8}.${at & 255}`,
        network: `10.0.${at >> 8}.${at & 255}`,
      })
    // A transaction may take ten seconds, which so many are on a busy machine.
    for (let from = 0; from < 5000; from += 500)
      await site.db.transact(tenantId, async (tx) => {
        for (let at = from; at < from + 500; at += 1) await insert(tx, at)
      })
    const refusal = await site.ask('POST', `${base}/init`, { headers: askingDevice })
    refused(refusal, 429, 'E-RATELIMIT')
    expect(refusal.headers['retry-after']).toBeDefined()
    const { json, status } = await site.ask('POST', '/api/auth/login-init', { headers: askingDevice })
    expect([status, json.data]).toEqual([
      200,
      { status: 'unauthenticated', webAuthn: expect.objectContaining({ challenge: expect.any(String) }) },
    ])
    // Somebody who has one of them may have another.
    const known = { headers: { 'x-forwarded-for': '10.0.0.7' } }
    expect((await site.ask('POST', `${base}/init`, known)).status).toBe(200)
  })

  test('beyond the rate of its network is left out of what a sign-in page starts with', async () => {
    const site = await openSignInSite(open, { qr: 1 })
    const start = async () => (await site.ask('POST', '/api/auth/login-init')).json.data
    expect(Object.keys(await start()).sort()).toEqual(['qrLogin', 'status', 'webAuthn'])
    expect(Object.keys(await start()).sort()).toEqual(['status', 'webAuthn'])
    refused(await site.ask('POST', `${base}/init`), 429, 'E-RATELIMIT')
  })

  test('long-poll ends when its time is over', async () => {
    const site = await openSignInSite(open)
    const started = await init(site)
    const before = site.clock.now()
    expect((await passing(site.clock, poll(site, started, 5), () => site.db.ping())).json.data).toEqual({
      status: 'pending',
    })
    expect(site.clock.now() - before).toBeGreaterThanOrEqual(5000)
  })

  test('long-poll ends at once when the answer is given here', async () => {
    const site = await openSignInSite(open)
    const started = await init(site)
    const token = await site.login(site.alice)
    const waiting = poll(site, started, 30)
    await respond(site, started.sessionId, token)
    expect((await waiting).json.data).toMatchObject({
      status: 'approved',
      login: { idTag: 'alice.example.com' },
    })
    expect(site.clock.now()).toBe(Date.UTC(2026, 0, 1))
  })
})

describe('the waiters', () => {
  const found = async () => undefined
  const never = new AbortController().signal

  test('are few for each session and bounded in all', async () => {
    const clock = new TestClock()
    const waiters = new QrWaiters(clock)
    const untilMs = clock.now() + 30_000
    const ofOne = Array.from({ length: 4 }, () =>
      waiters.wait({ sessionId: 'a', untilMs, signal: never }, found),
    )
    await nextTurn()
    const fifth = waiters.wait({ sessionId: 'a', untilMs, signal: never }, found)
    await expect(fifth).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    const rest = Array.from({ length: 996 }, (_, at) =>
      waiters.wait({ sessionId: `s${at}`, untilMs, signal: never }, found),
    )
    await nextTurn()
    const late = waiters.wait({ sessionId: 'late', untilMs, signal: never }, found)
    await expect(late).rejects.toMatchObject({ code: 'E-RATELIMIT' })
    await passing(clock, Promise.all([...ofOne, ...rest]))
    expect(await waiters.wait({ sessionId: 'late', untilMs, signal: never }, found)).toBeUndefined()
  })

  test('leave when the client does', async () => {
    const clock = new TestClock()
    const waiters = new QrWaiters(clock)
    const leaving = new AbortController()
    const waiting = waiters.wait(
      { sessionId: 'a', untilMs: clock.now() + 30_000, signal: leaving.signal },
      found,
    )
    await nextTurn()
    leaving.abort()
    expect(await waiting).toBeUndefined()
  })
})

/** Lets time pass until `promise` settles, slowly: what it waits for may take many turns on a busy machine. */
async function passing<Result>(
  clock: TestClock,
  promise: Promise<Result>,
  pause = async () => {},
): Promise<Result> {
  let isOver = false
  const over = promise.finally(() => {
    isOver = true
  })
  while (!isOver) {
    clock.advance(10)
    await pause()
    await nextTurn()
  }
  return over
}
