import type { IdTag } from '@kith/protocol'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, type SignInSite } from '#harness/sign-in-site.ts'
import { newApiKey } from '../sessions/api-key.ts'
import { mintProxyToken } from '../sessions/proxy-token.ts'

const path = '/api/auth/sessions'
const bobHost = 'bob.example.com'

async function reasonOf(site: SignInSite, token: string | undefined, ask = path): Promise<unknown> {
  const { json } = await site.ask('GET', ask, { token })
  expect(json.error.code).toBe('E-AUTH-UNAUTH')
  return json.error.details.reason
}

async function makeKey(site: SignInSite, body: object = {}): Promise<{ key: string; keyId: string }> {
  const token = await site.login(site.alice)
  return (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci', ...body } })).json.data
}

/** A token with which Bob proves himself at Alice's. */
async function proxyToken(site: SignInSite, target: IdTag = site.alice.idTag): Promise<string> {
  const issuedAt = Math.floor(site.clock.now() / 1000)
  return mintProxyToken(site.keys, site.bob, { target, issuedAt, expiresAt: issuedAt + 300 })
}

eachDialect('a refused credential says', (open) => {
  test('that none was shown, or one of no form', async () => {
    const site = await openSignInSite(open)
    expect(await reasonOf(site, undefined)).toBe('missing')
    expect(await reasonOf(site, undefined, '/api/auth/access-token')).toBe('missing')
    for (const token of ['x', 'x.y.z', 'sk_short', `${'x'.repeat(9000)}`])
      expect(await reasonOf(site, token)).toBe('malformed')
  })

  test('that it has expired, was revoked, or is for another host', async () => {
    const site = await openSignInSite(open)
    const revoked = await site.login(site.alice)
    await site.ask('POST', '/api/auth/logout', { token: revoked })
    expect(await reasonOf(site, revoked)).toBe('revoked')
    expect(await reasonOf(site, await site.login(site.bob))).toBe('wrong-tenant')
    expect(await reasonOf(site, await proxyToken(site, 'carol.example.org' as IdTag))).toBe('wrong-tenant')
    const [login, proxy] = [await site.login(site.alice), await proxyToken(site)]
    site.clock.advance(300_000)
    expect(await reasonOf(site, proxy)).toBe('expired')
    site.clock.advance(24 * 3600_000)
    expect(await reasonOf(site, login)).toBe('expired')
  })

  test('of an API key that it has ended; one that was removed and one that never was are the same', async () => {
    const site = await openSignInSite(open)
    const ending = await makeKey(site, { expiresAt: '2026-01-02T00:00:00Z' })
    const removed = await makeKey(site)
    await site.ask('DELETE', `/api/auth/api-keys/${removed.keyId}`, { token: await site.login(site.alice) })
    expect(await reasonOf(site, removed.key)).toBe('revoked')
    expect(await reasonOf(site, newApiKey())).toBe('revoked')
    site.clock.advance(24 * 3600_000)
    expect(await reasonOf(site, ending.key)).toBe('expired')
  })

  test('that its signature is not that of whom it names', async () => {
    const site = await openSignInSite(open)
    const [head, payload, signature = ''] = (await site.login(site.alice)).split('.')
    const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    expect(await reasonOf(site, `${head}.${payload}.${changed}`)).toBe('bad-signature')
    const forged = await new SignJWT({ use: 'login', sid: 'x' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'nobody' })
      .setIssuer(site.alice.idTag)
      .setIssuedAt(1)
      .setExpirationTime(2)
      .sign(new Uint8Array(32))
    expect(await reasonOf(site, forged)).toBe('bad-signature')
    const proxy = await proxyToken(site)
    expect(await reasonOf(site, `${proxy.slice(0, -128)}${'A'.repeat(128)}`)).toBe('bad-signature')
  })

  test('nothing of a suspended tenant but that what it gave has ended', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    await site.db.transact(site.alice.tenantId, (tx) =>
      suspendTenant({ ...site.deps, revokeSessions: async () => undefined }, tx),
    )
    expect(await reasonOf(site, token)).toBe('revoked')
  })

  test('which scope it lacks', async () => {
    const site = await openSignInSite(open)
    const { key } = await makeKey(site, { scope: 'read:files' })
    const { status, json } = await site.ask('GET', path, { token: key })
    expect(status).toBe(403)
    expect(json.error.details).toEqual({ reason: 'scope', scope: 'admin' })
    const asked = await site.ask('GET', '/api/auth/access-token?scope=write:actions', { token: key })
    expect(asked.json.error.details).toEqual({ reason: 'scope', scope: 'write:actions' })
    const login = await site.login(site.alice)
    const unshared = `file:f1~${'A'.repeat(43)}:read`
    const file = await site.ask('GET', `/api/auth/access-token?scope=${unshared}`, { token: login })
    expect(file.json.error).not.toHaveProperty('details')
    const narrow = (await site.ask('GET', '/api/auth/access-token', { token: key })).json.data.token
    const mint = await site.ask('GET', `/api/auth/proxy-token?target=${bobHost}`, { token: narrow })
    expect(mint.json.error.details).toEqual({ reason: 'scope' })
  })

  test('the same in the log, at debug', async () => {
    const site = await openSignInSite(open)
    await reasonOf(site, 'x.y.z')
    expect(site.debugged).toMatchObject([
      { endpoint: 'listSessions', code: 'E-AUTH-UNAUTH', details: { reason: 'malformed' } },
    ])
    expect(JSON.stringify(site.debugged)).not.toContain('x.y.z')
  })
})
