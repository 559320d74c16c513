import { fileIdOf, type IdTag } from '@kith/protocol'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { mintProxyToken } from '../sessions/proxy-token.ts'

const fileId = fileIdOf('BLOB', 'A'.repeat(43))
const otherFileId = fileIdOf('BLOB', `B${'A'.repeat(42)}`)
const aliceTag = 'alice.example.com'

function exchange(site: SignInSite, query: string, token?: string, host = aliceTag) {
  return site.ask('GET', `/api/auth/access-token?${query}`, { host, token })
}

async function proxyToken(site: SignInSite, host: string, target: string): Promise<string> {
  const tenant = host === aliceTag ? site.alice : site.bob
  const path = `/api/auth/proxy-token?target=${target}`
  const { json } = await site.ask('GET', path, { host, token: await site.login(tenant) })
  return json.data.token
}

eachDialect('an access token', (open) => {
  test('is worth what was asked of a login token, for an hour', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { status, json } = await exchange(site, 'scope=read:files,write:actions', token)
    expect(status).toBe(200)
    expect(json.data).toEqual({
      token: expect.any(String),
      expiresAt: Math.floor(site.clock.now() / 1000) + 3600,
      scope: 'read:files,write:actions',
    })
    expect(decodeJwt(json.data.token)).toMatchObject({ use: 'access', scope: 'read:files write:actions' })
  })

  test('from a proxy token is the stranger’s, once', async () => {
    const site = await openSignInSite(open)
    const proxy = await proxyToken(site, 'bob.example.com', aliceTag)
    const { json } = await exchange(site, `token=${proxy}`)
    expect(decodeJwt(json.data.token)).toMatchObject({ iss: aliceTag, sub: 'bob.example.com', use: 'access' })
    refused(await exchange(site, `token=${proxy}`), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, '', proxy), 401, 'E-AUTH-UNAUTH')
  })
})

eachDialect('an access token', (open) => {
  test('without a scope asked has the credential’s own', async () => {
    const site = await openSignInSite(open)
    const full = await exchange(site, '', await site.login(site.alice))
    expect(full.json.data).not.toHaveProperty('scope')
    const narrow = await exchange(site, 'scope=read', full.json.data.token)
    expect((await exchange(site, '', narrow.json.data.token)).json.data.scope).toBe('read')
  })

  test('can only narrow, and does not outlive what it was made from', async () => {
    const site = await openSignInSite(open)
    const first = await exchange(site, 'scope=write:files', await site.login(site.alice))
    site.clock.advance(1_800_000)
    const second = await exchange(site, 'scope=admin', first.json.data.token)
    expect(second.json.data).toMatchObject({ scope: 'write:files', expiresAt: first.json.data.expiresAt })
    refused(await exchange(site, 'scope=read:actions', first.json.data.token), 403, 'E-AUTH-FORBIDDEN')
  })

  test('is refused for an unknown scope, no credential, a bad one or another tenant’s', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    refused(await exchange(site, 'scope=read:everything', token), 400, 'E-VALIDATION')
    refused(await exchange(site, 'scope=', token), 400, 'E-VALIDATION')
    refused(await exchange(site, ''), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, 'token=x.y.z'), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, 'apiKey=sk_guess'), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, `token=${await site.login(site.bob)}`), 401, 'E-AUTH-UNAUTH')
    refused(
      await exchange(site, `token=${await proxyToken(site, aliceTag, 'bob.example.com')}`),
      401,
      'E-AUTH-UNAUTH',
    )
  })

  test('names a file only as far as the caller may use it now', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const both = `scope=file:${fileId}:write,file:${otherFileId}:read`
    refused(await exchange(site, both, token), 403, 'E-AUTH-FORBIDDEN')
    site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'read')
    expect((await exchange(site, both, token)).json.data.scope).toBe(`file:${fileId}:read`)
    site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'write')
    expect((await exchange(site, both, token)).json.data.scope).toBe(`file:${fileId}:write`)
  })

  test('that is narrow opens nothing beyond its scope', async () => {
    const site = await openSignInSite(open)
    const narrow = await exchange(site, 'scope=read:files', await site.login(site.alice))
    const { token } = narrow.json.data
    const closed = [
      ['GET', '/api/auth/login-token'],
      ['GET', '/api/auth/proxy-token?target=bob.example.com'],
      ['GET', '/api/auth/sessions'],
      ['DELETE', '/api/auth/sessions/x'],
      ['GET', '/api/auth/api-keys'],
      ['GET', '/api/auth/wa/reg'],
      ['GET', '/api/auth/wa/reg/challenge'],
      ['GET', '/api/refs'],
      ['GET', '/api/audit'],
    ] as const
    for (const [method, path] of closed)
      refused(await site.ask(method, path, { token }), 403, 'E-AUTH-FORBIDDEN')
  })

  test('ends with the session it came from', async () => {
    const site = await openSignInSite(open)
    const login = await site.login(site.alice)
    const access = (await exchange(site, 'scope=read', login)).json.data.token
    expect((await exchange(site, '', access)).status).toBe(200)
    expect((await site.ask('POST', '/api/auth/logout', { token: login })).json.data).toBe('ok')
    refused(await exchange(site, '', access), 401, 'E-AUTH-UNAUTH')
    refused(await site.ask('POST', '/api/auth/logout', { token: login }), 401, 'E-AUTH-UNAUTH')
  })
})

eachDialect('a login token', (open) => {
  const refresh = (site: SignInSite, token?: string) => site.ask('GET', '/api/auth/login-token', { token })

  test('is renewed within its session, up to thirty days after the sign-in', async () => {
    const site = await openSignInSite(open)
    let token = await site.login(site.alice)
    const endsAt = Math.floor(site.clock.now() / 1000) + 30 * 86_400
    const sid = decodeJwt(token).sid
    for (let day = 0; day < 31; day += 1) {
      site.clock.advance(84_000_000)
      const { status, json } = await refresh(site, token)
      if (status !== 200) break
      expect(json.data).toMatchObject({ idTag: aliceTag, tnId: site.alice.tenantId, roles: ['user'] })
      expect(json.data.expiresAt).toBeLessThanOrEqual(endsAt)
      token = json.data.token
      expect(decodeJwt(token)).toMatchObject({ sid, use: 'login' })
    }
    expect(decodeJwt(token).exp).toBe(endsAt)
    refused(await refresh(site, token), 401, 'E-AUTH-UNAUTH')
  })

  test('is not to be had for an access token, a stranger’s token or nothing', async () => {
    const site = await openSignInSite(open)
    const access = (await exchange(site, '', await site.login(site.alice))).json.data.token
    refused(await refresh(site, access), 403, 'E-AUTH-FORBIDDEN')
    refused(await refresh(site, await proxyToken(site, 'bob.example.com', aliceTag)), 403, 'E-AUTH-FORBIDDEN')
    refused(await refresh(site), 401, 'E-AUTH-UNAUTH')
    refused(await refresh(site, await site.login(site.bob)), 401, 'E-AUTH-UNAUTH')
  })

  test('skips the sign-in page', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { json } = await site.ask('POST', '/api/auth/login-init', { token })
    expect(json.data).toMatchObject({
      status: 'authenticated',
      login: { idTag: aliceTag, tnId: site.alice.tenantId },
    })
    expect(json.data).not.toHaveProperty('qrLogin')
    const start = await site.ask('POST', '/api/auth/login-init')
    expect(start.json.data).toMatchObject({
      status: 'unauthenticated',
      qrLogin: {
        sessionId: expect.any(String),
        secret: expect.any(String),
        code: expect.stringMatching(/^\d{6}$/),
      },
      webAuthn: { challenge: expect.any(String), rpId: aliceTag, allowCredentials: [] },
    })
    expect(start.json.data).not.toHaveProperty('login')
  })
})

eachDialect('a proxy token', (open) => {
  test('proves its tenant to the target for five minutes', async () => {
    const site = await openSignInSite(open)
    const token = await proxyToken(site, 'bob.example.com', aliceTag)
    const now = Math.floor(site.clock.now() / 1000)
    const [key] = await site.keys.list(site.bob.tenantId)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES384', typ: 'JWT', kid: key?.kid })
    expect(decodeJwt(token)).toEqual({
      iss: 'bob.example.com',
      aud: aliceTag,
      use: 'proxy',
      jti: expect.any(String),
      sid: expect.any(String),
      iat: now,
      exp: now + 300,
    })
    expect((await site.ask('GET', '/api/auth/sessions', { token })).json.data).toEqual([])
    site.clock.advance(300_000)
    refused(await site.ask('GET', '/api/auth/sessions', { token }), 401, 'E-AUTH-UNAUTH')
  })

  test('is made for identities that exist, here or elsewhere', async () => {
    const site = await openSignInSite(open)
    site.world.addRemote('carol.example.org' as never)
    const token = await site.login(site.alice)
    const mint = (target: string) => site.ask('GET', `/api/auth/proxy-token?target=${target}`, { token })
    expect((await mint('carol.example.org')).json.data).toMatchObject({
      serverUrl: 'https://carol.example.org',
    })
    expect((await mint('bob.example.com')).json.data).toMatchObject({ serverUrl: 'https://bob.example.com' })
    refused(await mint('nobody.example.org'), 404, 'E-PROFILE-NOTFOUND')
    refused(await mint('a/b'), 400, 'E-VALIDATION')
    refused(await site.ask('GET', '/api/auth/proxy-token', { token }), 400, 'E-VALIDATION')
    refused(await site.ask('GET', '/api/auth/proxy-token?target=bob.example.com'), 401, 'E-AUTH-UNAUTH')
  })

  test('is not made for oneself, nor believed when it is', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const answer = await site.ask('GET', `/api/auth/proxy-token?target=${aliceTag}`, { token })
    refused(answer, 400, 'E-VALIDATION')
    const issuedAt = Math.floor(site.clock.now() / 1000)
    const times = { issuedAt, expiresAt: issuedAt + 300 }
    const forged = await mintProxyToken(site.keys, site.alice, { target: site.alice.idTag, ...times })
    refused(await exchange(site, `token=${forged}`), 401, 'E-AUTH-UNAUTH')
    refused(await site.ask('GET', '/api/auth/sessions', { token: forged }), 401, 'E-AUTH-UNAUTH')
  })

  test('ends with the session it was made in, and so does what it was exchanged for', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.bob)
    const host = 'bob.example.com'
    const { key, keyId } = (
      await site.ask('POST', '/api/auth/api-keys', { host, token, body: { name: 'ci' } })
    ).json.data
    const leave = (bearer: string) =>
      bearer === key
        ? site.ask('DELETE', `/api/auth/api-keys/${keyId}`, { host, token })
        : site.ask('POST', '/api/auth/logout', { host, token: bearer })
    for (const bearer of [key, token]) {
      const mint = async () => {
        const path = `/api/auth/proxy-token?target=${aliceTag}`
        return (await site.ask('GET', path, { host, token: bearer })).json.data.token
      }
      const unused = await mint()
      const visit = (await exchange(site, `token=${await mint()}`)).json.data.token
      for (const good of [unused, visit])
        expect((await site.ask('GET', '/api/auth/sessions', { token: good })).status).toBe(200)
      expect((await leave(bearer)).status).toBe(200)
      for (const ended of [unused, visit])
        refused(await site.ask('GET', '/api/auth/sessions', { token: ended }), 401, 'E-AUTH-UNAUTH')
    }
  })

  test('for another server names the session as no other server knows it', async () => {
    const site = await openSignInSite(open)
    const [first, second] = [await site.login(site.alice), await site.login(site.alice)]
    const [carol, dave] = ['carol.example.org', 'dave.example.org'] as IdTag[]
    for (const idTag of [carol, dave]) site.world.addRemote(idTag as IdTag)
    const sidFor = async (token: string, target: string | undefined) => {
      const { json } = await site.ask('GET', `/api/auth/proxy-token?target=${target}`, { token })
      return `${decodeJwt(json.data.token).sid}`
    }
    const sids = [await sidFor(first, carol), await sidFor(first, dave), await sidFor(second, carol)]
    expect(new Set([...sids, decodeJwt(first).sid, decodeJwt(second).sid]).size).toBe(5)
    expect(await sidFor(first, carol)).toBe(sids[0])
  })

  test('made with an API key says so, and is worth no more where it is exchanged', async () => {
    const site = await openSignInSite(open)
    const host = 'bob.example.com'
    const token = await site.login(site.bob)
    const made = await site.ask('POST', '/api/auth/api-keys', { host, token, body: { name: 'ci' } })
    const path = `/api/auth/proxy-token?target=${aliceTag}`
    const proxy = (await site.ask('GET', path, { host, token: made.json.data.key })).json.data.token
    expect(decodeJwt(proxy)).toMatchObject({ via: 'apikey' })
    const visit = (await exchange(site, `token=${proxy}`)).json.data.token
    expect(decodeJwt(visit)).toMatchObject({ use: 'apikey', sub: 'bob.example.com' })
    const again = (await exchange(site, '', visit)).json.data.token
    expect(decodeJwt(again)).toMatchObject({ use: 'apikey' })
  })

  test('of a community is not for its leaders', async () => {
    const site = await openSignInSite(open)
    const club = await site.makeTenant('club.example.com', { type: 'community' })
    const leader = await proxyToken(site, aliceTag, 'club.example.com')
    await site.giveRole(club, site.alice.idTag, 'leader')
    const asked = { host: 'club.example.com', token: leader }
    expect((await site.ask('GET', '/api/auth/sessions', asked)).status).toBe(200)
    refused(
      await site.ask('GET', '/api/auth/proxy-token?target=bob.example.com', asked),
      403,
      'E-AUTH-FORBIDDEN',
    )
  })

  test('is made for the tenant itself alone, not for its visitors and not for narrowed tokens', async () => {
    const site = await openSignInSite(open)
    const visitor = await proxyToken(site, 'bob.example.com', aliceTag)
    const mint = (token: string) =>
      site.ask('GET', '/api/auth/proxy-token?target=home.example.com', { token })
    refused(await mint(visitor), 403, 'E-AUTH-FORBIDDEN')
    const admin = await exchange(site, 'scope=admin', await site.login(site.alice))
    refused(await mint(admin.json.data.token), 403, 'E-AUTH-FORBIDDEN')
  })
})

eachDialect('sessions', (open) => {
  test('are listed with their devices, and ended one by one', async () => {
    const site = await openSignInSite(open)
    const first = await site.login(site.alice, '198.51.100.1')
    site.clock.advance(60_000)
    const second = await site.login(site.alice, '198.51.100.2')
    const { json } = await site.ask('GET', '/api/auth/sessions', { token: second })
    expect(json.data).toEqual([
      {
        sid: decodeJwt(second).sid,
        current: true,
        method: 'password',
        createdAt: '2026-01-01T00:01:00.000Z',
        lastUsedAt: '2026-01-01T00:01:00.000Z',
        expiresAt: '2026-01-31T00:01:00.000Z',
        ipAddress: '198.51.100.2',
        userAgent: null,
      },
      expect.objectContaining({ sid: decodeJwt(first).sid, current: false, ipAddress: '198.51.100.1' }),
    ])
    const path = `/api/auth/sessions/${decodeJwt(first).sid}`
    refused(await site.ask('DELETE', path), 401, 'E-AUTH-UNAUTH')
    expect((await site.ask('DELETE', path, { token: second })).json.data).toBe('ok')
    refused(await site.ask('GET', '/api/auth/sessions', { token: first }), 401, 'E-AUTH-UNAUTH')
    refused(await site.ask('DELETE', path, { token: second }), 404, 'E-NOTFOUND')
  })

  test('of somebody else cannot be ended', async () => {
    const site = await openSignInSite(open)
    const mine = await site.login(site.alice)
    const visitor = (await exchange(site, `token=${await proxyToken(site, 'bob.example.com', aliceTag)}`))
      .json.data.token
    const path = (token: string) => `/api/auth/sessions/${decodeJwt(token).sid}`
    refused(await site.ask('DELETE', path(mine), { token: visitor }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('DELETE', path(visitor), { token: mine }), 404, 'E-NOTFOUND')
    expect((await site.ask('POST', '/api/auth/logout', { token: visitor })).status).toBe(200)
    refused(await exchange(site, '', visitor), 401, 'E-AUTH-UNAUTH')
  })

  test('end when the tenant is suspended', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    await site.db.transact(site.alice.tenantId, (tx) =>
      suspendTenant({ ...site.deps, revokeSessions: async () => undefined }, tx),
    )
    refused(await site.ask('GET', '/api/auth/sessions', { token }), 401, 'E-AUTH-UNAUTH')
  })
})
