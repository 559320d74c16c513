import { expect, test } from 'vitest'
import { endSignIns } from '#features/accounts/index.ts'
import { resumeTenant, suspendTenant } from '#features/tenants/index.ts'
import { cookieOf, ownPage, startBrowser as start, useBrowserCookie as use } from '#harness/browser-cookie.ts'
import { eachDialect, onSqlite } from '#harness/each-dialect.ts'
import { defaultLifetimes, signInLab } from '#harness/sign-in-lab.ts'
import { openSignInSite, password, refused, type SignInSite, serveSignIn } from '#harness/sign-in-site.ts'
import type { Writer } from '#infra/db/index.ts'
import {
  deleteOldestBrowserSessions,
  findBrowserSession,
  putBrowserSession,
} from './browser-session-store.ts'

const path = '/api/auth/browser-session'
const daySecs = 86_400

type Site = Pick<SignInSite, 'ask'>

function rowsOf({ db, alice }: SignInSite): Promise<object[]> {
  const tables = db.reader(alice.tenantId).tables<{ browser_sessions: object }>()
  return tables.selectFrom('browser_sessions').selectAll().execute()
}

async function isGood(site: Site, cookie: string): Promise<boolean> {
  return (await use(site, cookie)).status === 200
}

/** The session of the token has ended, because its cookie was used by two. */
async function expectReuse(site: SignInSite, token: string): Promise<void> {
  refused(await site.ask('GET', '/api/auth/sessions', { token }), 401, 'E-AUTH-UNAUTH')
  const { json } = await site.ask('GET', '/api/audit', { token: await site.login(site.alice) })
  expect(json.data).toContainEqual(
    expect.objectContaining({ event: 'browser-session.reused', details: { sid: expect.any(String) } }),
  )
}

eachDialect('the cookie of a browser', (open) => {
  test('makes room for others when it was used least recently', async () => {
    const { db, alice } = await openSignInSite(open)
    const one = { sid: 'x', secretHash: '', former: [], expiresAt: 9 }
    await db.transact(alice.tenantId, async (tx) => {
      for (const [at, name] of ['b', 'a', 'c'].entries())
        await putBrowserSession(tx, { ...one, cookieId: name, sid: name }, at)
      await deleteOldestBrowserSessions(tx, { maxKept: 2, putNow: 'c' })
    })
    const reader = db.reader(alice.tenantId)
    const kept = await Promise.all(['a', 'b', 'c'].map((name) => findBrowserSession(reader, name)))
    expect(kept.map((found) => found?.cookieId)).toEqual(['a', undefined, 'c'])
  })

  test('is good when it is the newest of more than are kept, all of one second', async () => {
    const site = await openSignInSite(open)
    for (let count = 0; count < 60; count += 1) {
      const { cookie } = await start(site)
      expect(await isGood(site, cookie), `browser ${count}`).toBe(true)
    }
  })

  test('is replaced at each use, and that of before is good for half a minute more', async () => {
    const site = await openSignInSite(open)
    const { cookie } = await start(site)
    const first = await use(site, cookie)
    expect(first.json.data).toMatchObject({ idTag: 'alice.example.com', token: expect.any(String) })
    const next = cookieOf(first)
    expect(next).not.toBe(cookie)
    site.clock.advance(29_000)
    // The answer was lost: the browser has the former one, and is told the current one again.
    expect(cookieOf(await use(site, cookie))).toBe(next)
    expect(await isGood(site, next)).toBe(true)
  })

  test('stays one cookie for two tabs that use it at the same moment, at two processes', async () => {
    const site = await openSignInSite(open)
    const other = await serveSignIn(signInLab(site.db, site.world))
    const { cookie } = await start(site)
    const both = await Promise.all([use(site, cookie), use(other, cookie)])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(cookieOf(both[0])).toBe(cookieOf(both[1]))
    site.clock.advance(60_000)
    expect(await isGood(site, cookieOf(both[1]))).toBe(true)
  })

  test('ends its session when a former one is used after its successor, which is audited', async () => {
    const site = await openSignInSite(open)
    const { cookie, token } = await start(site)
    const next = cookieOf(await use(site, cookieOf(await use(site, cookie))))
    site.clock.advance(30_000)
    refused(await use(site, cookie), 401, 'E-AUTH-UNAUTH')
    refused(await use(site, next), 401, 'E-AUTH-UNAUTH')
    await expectReuse(site, token)
  })

  test.each(['POST', 'DELETE'])(
    'that was copied ends its session also when the copy is hidden by %s',
    async (method) => {
      const site = await openSignInSite(open)
      const { cookie } = await start(site)
      const { token } = (await use(site, cookie)).json.data
      const copy = cookieOf(await site.ask(method, path, { token }))
      site.clock.advance(30_000)
      refused(await use(site, cookie), 401, 'E-AUTH-UNAUTH')
      refused(await use(site, copy), 401, 'E-AUTH-UNAUTH')
      await expectReuse(site, token)
    },
  )

  test('is replaced when its session begins another, and good for half a minute more', async () => {
    const site = await openSignInSite(open)
    const { token, cookie } = await start(site)
    const used = cookieOf(await use(site, cookie))
    const second = cookieOf(await site.ask('POST', path, { token }))
    site.clock.advance(29_000)
    for (const former of [cookie, used]) expect(cookieOf(await use(site, former))).toBe(second)
    const third = cookieOf(await use(site, second))
    expect(cookieOf(await use(site, used))).toBe(third)
    expect(await rowsOf(site)).toHaveLength(1)
    site.clock.advance(60_000)
    expect(await isGood(site, third)).toBe(true)
  })

  test.each(['the last', 'a former'])(
    'that was taken away ends its session when %s one is used',
    async (which) => {
      const site = await openSignInSite(open)
      const { token, cookie } = await start(site)
      const last = cookieOf(await use(site, cookie))
      await site.ask('DELETE', path, { token })
      expect((await site.ask('GET', '/api/auth/sessions', { token })).status).toBe(200)
      refused(await use(site, which === 'the last' ? last : cookie), 401, 'E-AUTH-UNAUTH')
      await expectReuse(site, token)
    },
  )

  test('can be had again after it was taken away, and those of before still end the session', async () => {
    const site = await openSignInSite(open)
    const { token, cookie } = await start(site)
    await site.ask('DELETE', path, { token })
    const again = cookieOf(await site.ask('POST', path, { token }))
    const next = await use(site, again)
    expect(next.status).toBe(200)
    refused(await use(site, cookie), 401, 'E-AUTH-UNAUTH')
    await expectReuse(site, token)
  })

  test('goes with its session, without a trace', async () => {
    const site = await openSignInSite(open)
    const { token } = await start(site)
    await start(site)
    await site.ask('POST', '/api/auth/logout', { token })
    expect(await rowsOf(site)).toHaveLength(1)
  })
})

onSqlite('the cookie of a browser', (open) => {
  test('is for the host that set it, and for no script', async () => {
    const site = await openSignInSite(open)
    const { answer } = await start(site)
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^__Host-kith=[\w-]{65}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
    const used = await use(site, cookieOf(answer))
    expect(used.headers['set-cookie']?.[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
    expect(used.headers['cache-control']).toBe('no-store')
  })

  test.each([
    ['home.localhost', {}, /^kith=[^;]+; [^;]+; Path=\/; HttpOnly; SameSite=Strict$/],
    ['home.localhost', { 'x-forwarded-proto': 'https' }, /^__Host-kith=.*; Secure$/],
  ])('has the prefix but on a loopback name without TLS: %s %o', async (host, headers, form) => {
    const site = await openSignInSite(open)
    await site.makeTenant(host, { password })
    const { json } = await site.ask('POST', '/api/auth/login', {
      host,
      headers,
      body: { idTag: host, password },
    })
    const { token } = json.data
    const answer = await site.ask('POST', path, { host, headers, token })
    expect(answer.headers['set-cookie']?.[0]).toMatch(form)
    const cookie = cookieOf(answer)
    expect((await use(site, cookie, { host, headers: { ...ownPage, ...headers } })).status).toBe(200)
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same domain', { 'sec-fetch-site': 'same-site' }],
    ['the address field', { 'sec-fetch-site': 'none' }],
    ['a browser that does not say from where', { 'sec-fetch-site': '' }],
    ['a request that any page can send', { 'x-kith-browser': '' }],
  ])('is worth nothing to %s, and not used up by it', async (_, headers) => {
    const site = await openSignInSite(open)
    const { cookie } = await start(site)
    const answer = await use(site, cookie, { headers: { ...ownPage, ...headers } })
    refused(answer, 401, 'E-AUTH-UNAUTH')
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(cookieOf(await use(site, cookie))).not.toBe(cookie)
  })

  test('is worth nothing beside a bad bearer, on another host, or when it is made up', async () => {
    const site = await openSignInSite(open)
    const { cookie } = await start(site)
    const { headers } = { headers: { ...ownPage, cookie } }
    refused(
      await site.ask('GET', '/api/auth/login-token', { token: 'garbage', headers }),
      401,
      'E-AUTH-UNAUTH',
    )
    refused(await use(site, cookie, { host: 'bob.example.com' }), 401, 'E-AUTH-UNAUTH')
    for (const madeUp of ['', '__Host-kith=', `__Host-kith=${'A'.repeat(65)}`, `kith=${cookie.slice(12)}`])
      refused(await use(site, madeUp), 401, 'E-AUTH-UNAUTH')
    refused(await use(site, `${cookie}; ${cookie}`), 401, 'E-AUTH-UNAUTH')
    expect(await isGood(site, `a=b; ${cookie}; c=d`)).toBe(true)
  })

  test('is made for a login token alone, unscoped and the owner’s', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const access = await site.ask('GET', '/api/auth/access-token', { token })
    const key = await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'script' } })
    for (const narrower of [access.json.data.token, key.json.data.key])
      refused(await site.ask('POST', path, { token: narrower }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('POST', path), 401, 'E-AUTH-UNAUTH')
  })

  test('follows its session, and ends with it', async () => {
    const site = await openSignInSite(open)
    const { token } = await start(site)
    site.clock.advance(20 * daySecs * 1000)
    refused(await site.ask('POST', path, { token }), 401, 'E-AUTH-UNAUTH')
    const { answer, cookie } = await start(site)
    site.clock.advance(29 * daySecs * 1000)
    const later = await use(site, cookie)
    expect(later.headers['set-cookie']?.[0]).toContain(`Max-Age=${daySecs};`)
    expect(later.json.data.expiresAt).toBe(answer.json.data.expiresAt)
    site.clock.advance(daySecs * 1000)
    refused(await use(site, cookieOf(later)), 401, 'E-AUTH-UNAUTH')
  })

  const ends: Record<string, (site: SignInSite, token: string) => Promise<unknown>> = {
    'the sign-out': (site, token) => site.ask('POST', '/api/auth/logout', { token }),
    'the end of the session from elsewhere': async (site) => {
      const other = await site.login(site.alice)
      const { json } = await site.ask('GET', '/api/auth/sessions', { token: other })
      for (const { sid, current } of json.data)
        if (!current) await site.ask('DELETE', `/api/auth/sessions/${sid}`, { token: other })
    },
    'a new password': (site, token) =>
      site.ask('POST', '/api/auth/password', {
        token,
        body: { currentPassword: password, newPassword: 'another password' },
      }),
    'a reset': async (site) => {
      await site.ask('POST', '/api/auth/forgot-password', { body: { idTag: 'alice.example.com' } })
      await site.jobs.settle()
      const refId = /#token=(\w+)/.exec(site.world.mails[0]?.text ?? '')?.[1]
      await site.ask('POST', '/api/auth/set-password', {
        body: { token: refId, password: 'another password' },
      })
    },
    'a suspension': async (site) => {
      const { tenantId } = site.alice
      const revokeSessions = (tx: Writer) => endSignIns(site.deps, tx)
      await site.db.transact(tenantId, (tx) => suspendTenant({ ...site.deps, revokeSessions }, tx))
      await site.db.transact(tenantId, (tx) => resumeTenant(site.deps, tx))
    },
    'its removal': (site, token) => site.ask('DELETE', path, { token }),
  }
  test.each(Object.keys(ends))('is worth nothing after %s', async (name) => {
    const site = await openSignInSite(open)
    const { token, cookie } = await start(site)
    await ends[name]?.(site, token)
    refused(await use(site, cookie), 401, 'E-AUTH-UNAUTH')
  })

  test('is taken from the browser by the sign-out and by its removal', async () => {
    const site = await openSignInSite(open)
    const { token } = await start(site)
    for (const [method, at] of [
      ['DELETE', path],
      ['POST', '/api/auth/logout'],
    ] as const) {
      const answer = await site.ask(method, at, { token })
      expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-kith=; Max-Age=0; Path=\//)
      expect(answer.headers['cache-control']).toBe('no-store')
    }
  })

  test('is kept for fifty browsers of an account, those that used it last', async () => {
    const site = await openSignInSite(open)
    const cookies: string[] = []
    for (let count = 0; count < 51; count += 1) {
      cookies.push((await start(site)).cookie)
      site.clock.advance(60_000)
    }
    expect(await isGood(site, cookies[0] ?? '')).toBe(false)
    expect(await isGood(site, cookies[1] ?? '')).toBe(true)
  })

  test('outlives a hundred uses in half a minute', async () => {
    const site = await openSignInSite(open)
    const { cookie } = await start(site)
    let last = cookie
    for (let count = 0; count < 100; count += 1) last = cookieOf(await use(site, last))
    expect(cookieOf(await use(site, cookie))).toBe(last)
  })

  test('remembers 64 that were replaced by others of its session in half a minute', async () => {
    const site = await openSignInSite(open)
    const { token } = await start(site)
    const cookies: string[] = []
    for (let count = 0; count < 66; count += 1)
      cookies.push(cookieOf(await site.ask('POST', path, { token })))
    const [oldest = '', remembered = ''] = cookies
    expect(cookieOf(await use(site, remembered))).toBe(cookies.at(-1))
    refused(await use(site, oldest), 401, 'E-AUTH-UNAUTH')
  })

  test('leaves a trace until its session ends when it was taken away, however long that is', async () => {
    const site = await openSignInSite(open)
    site.world.lifetimes = { ...defaultLifetimes, loginSecs: 60 * daySecs, sessionSecs: 60 * daySecs }
    const { token, cookie } = await start(site)
    await site.ask('DELETE', path, { token })
    site.clock.advance(31 * daySecs * 1000)
    refused(await use(site, cookie), 401, 'E-AUTH-UNAUTH')
    await expectReuse(site, token)
  })

  test('is stored as a hash', async () => {
    const site = await openSignInSite(open)
    const { token, cookie } = await start(site)
    const second = cookieOf(await site.ask('POST', path, { token }))
    const rows = JSON.stringify(await rowsOf(site))
    for (const one of [cookie, second]) expect(rows).not.toContain(one.slice(-43))
  })
})
