import type { KeyObject } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { openSignInSite, refused } from '#harness/sign-in-site.ts'
import { nowSecs } from '#lib/clock.ts'

const aliceTag = 'alice.example.com'
const carolTag = 'carol.example.org' as IdTag
const kid = '20260101abcd'

/** Carol lives on another server, of which the test holds the key. */
async function openVisited(open: OpenTestDatabase) {
  const site = await openSignInSite(open)
  const key = site.world.addRemote(carolTag, kid)
  let made = 0

  /** A token of Carol's for Alice. */
  async function token(use: string, claims: object = {}, by: KeyObject = key): Promise<string> {
    made += 1
    const now = nowSecs(site.clock)
    const base = { iss: carolTag, aud: aliceTag, use, jti: `the-token-${made}`, iat: now, exp: now + 300 }
    return new SignJWT({ ...base, ...claims }).setProtectedHeader({ alg: 'ES384', typ: 'JWT', kid }).sign(by)
  }
  const post = (body: unknown, host = aliceTag) =>
    site.ask('POST', '/api/auth/visitor-logout', { host, body: { token: body } })
  const exchange = (proxy: string) => site.ask('GET', `/api/auth/access-token?token=${proxy}`)

  return {
    site,
    token,
    post,
    exchange,
    logout: async (claims: object = {}) => (await post(await token('logout', claims))).status,
    visit: async (claims: object = {}) => {
      const [bare, given] = [await token('proxy', claims), await token('proxy', claims)]
      return [bare, `${(await exchange(given)).json.data.token}`] as const
    },
    /** Whether each is good for something. */
    areGood: (bearers: readonly string[]) =>
      Promise.all(
        bearers.map(async (bearer) => {
          const { status } = await site.ask('GET', '/api/auth/sessions', { token: bearer })
          return status === 200
        }),
      ),
  }
}

eachDialect('a logout token', (open) => {
  test('ends what was shown in its session, and no other', async () => {
    const { token, visit, logout, areGood, exchange } = await openVisited(open)
    const [first, second, unnamed] = [await visit({ sid: 'one' }), await visit({ sid: 'two' }), await visit()]
    const late = await token('proxy', { sid: 'one' })
    expect(await areGood([...first, ...second, ...unnamed])).toEqual(Array(6).fill(true))
    expect(await logout({ sid: 'one' })).toBe(200)
    expect(await areGood([...first, ...second, ...unnamed])).toEqual([false, false, true, true, true, true])
    refused(await exchange(late), 401, 'E-AUTH-UNAUTH')
  })

  test('without a session ends what was issued up to a time, and what comes later is good', async () => {
    const { site, visit, logout, areGood } = await openVisited(open)
    const before = [...(await visit({ sid: 'one' })), ...(await visit())]
    expect(await logout()).toBe(200)
    expect(await areGood(before)).toEqual([false, false, false, false])
    site.clock.advance(1000)
    const after = await visit({ sid: 'one' })
    expect(await areGood(after)).toEqual([true, true])
    // It is sent again where its answer was lost, and later ones do not take back what earlier ones say.
    expect(await logout({ before: nowSecs(site.clock) - 1 })).toBe(200)
    expect(await logout({ before: nowSecs(site.clock) - 10 })).toBe(200)
    expect(await areGood([...before, ...after])).toEqual([false, false, false, false, true, true])
  })

  test('leaves other visitors, the owner and API keys there alone', async () => {
    const { site, visit, logout, areGood } = await openVisited(open)
    const path = `/api/auth/proxy-token?target=${aliceTag}`
    const asked = { host: 'bob.example.com', token: await site.login(site.bob) }
    const others = [(await site.ask('GET', path, asked)).json.data.token, await site.login(site.alice)]
    await visit()
    expect(await logout()).toBe(200)
    expect(await areGood(others)).toEqual([true, true])
  })

  test('of the seventeenth session within two hours ends all that came before', async () => {
    const { site, token, visit, logout, areGood } = await openVisited(open)
    const kept = await visit({ sid: 'kept' })
    for (let at = 0; at < 16; at += 1) expect(await logout({ sid: `session-${at}` })).toBe(200)
    expect(await areGood(kept)).toEqual([true, true])
    expect(await logout({ sid: 'session-16' })).toBe(200)
    expect(await areGood(kept)).toEqual([false, false])
    site.clock.advance(1000)
    expect(await areGood(await visit({ sid: 'kept' }))).toEqual([true, true])
    expect(await areGood([await token('proxy', { sid: 'session-16' })])).toEqual([false])
  })

  test('is not counted among the sixteen for longer than it matters', async () => {
    const { site, visit, logout, areGood } = await openVisited(open)
    for (let at = 0; at < 20; at += 1) {
      expect(await logout({ sid: `session-${at}` })).toBe(200)
      site.clock.advance(600_000)
    }
    expect(await areGood(await visit({ sid: 'kept' }))).toEqual([true, true])
  })

  test('that comes late ends nothing that was issued after its time', async () => {
    const { site, token, visit, logout, areGood, exchange } = await openVisited(open)
    const before = nowSecs(site.clock)
    const [old, unused] = [await visit(), await token('proxy')]
    site.clock.advance(60_000)
    const fresh = await visit()
    // A proxy token of then that was exchanged now.
    const late = `${(await exchange(unused)).json.data.token}`
    expect(await logout({ before })).toBe(200)
    expect(await areGood([...old, late, ...fresh])).toEqual([false, false, false, true, true])
    expect(await logout({ before: 0 })).toBe(200)
    expect(await areGood(fresh)).toEqual([true, true])
  })

  test.each([-250, 250])('goes by the clock of the home, which may be wrong by %i s', async (skew) => {
    const { site, visit, logout, areGood } = await openVisited(open)
    const home = () => ({ iat: nowSecs(site.clock) + skew, exp: nowSecs(site.clock) + skew + 300 })
    const ended = await visit({ ...home(), sid: 'one' })
    for (let at = 0; at < 17; at += 1)
      expect(await logout({ ...home(), sid: at === 0 ? 'one' : `session-${at}` })).toBe(200)
    expect(await areGood(ended)).toEqual([false, false])
    site.clock.advance(1000)
    expect(await areGood(await visit({ ...home(), sid: 'two' }))).toEqual([true, true])
  })

  test('says nothing of tokens that are issued later than its clock can be wrong', async () => {
    const { site, visit, logout, areGood } = await openVisited(open)
    expect(await logout({ before: Number.MAX_SAFE_INTEGER })).toBe(200)
    site.clock.advance(301_000)
    expect(await areGood(await visit())).toEqual([true, true])
  })

  test('is refused where it is not for this tenant, of this use, of now, or signed by its issuer', async () => {
    const { site, token, post, visit, areGood } = await openVisited(open)
    const visits = await visit()
    const now = nowSecs(site.clock)
    const stranger = site.world.addRemote('dave.example.org' as IdTag, kid)
    const wrong = [
      await token('proxy'),
      await token('logout', { aud: 'bob.example.com' }),
      await token('logout', { iss: aliceTag }),
      await token('logout', { exp: now }),
      await token('logout', { iat: now + 301, exp: now + 400 }),
      await token('logout', {}, stranger),
      await token('logout', { sid: 'x'.repeat(65) }),
      await token('logout', { sid: '' }),
      await token('logout', { sid: 7 }),
      await token('logout', { before: -1 }),
      await token('logout', { before: 1.5 }),
      await token('logout', { before: '1' }),
      'nothing',
    ]
    for (const one of wrong) refused(await post(one), 401, 'E-AUTH-UNAUTH')
    refused(await post(await token('logout'), 'bob.example.com'), 401, 'E-AUTH-UNAUTH')
    refused(await site.ask('POST', '/api/auth/visitor-logout', { body: {} }), 400, 'E-VALIDATION')
    expect(await areGood(visits)).toEqual([true, true])
  })

  test('is kept for as long as a proxy token may be good', async () => {
    const { site, token, logout, exchange } = await openVisited(open)
    const now = nowSecs(site.clock)
    const proxy = await token('proxy', { sid: 'one', iat: now + 300, exp: now + 3900 })
    await logout({ sid: 'one' })
    site.clock.advance(3_890_000)
    refused(await exchange(proxy), 401, 'E-AUTH-UNAUTH')
  })
})
