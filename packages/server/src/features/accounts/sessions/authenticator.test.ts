import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { type IdTag, parseScope } from '@kith/protocol'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { setRelation, withStatus } from '#features/relations/index.ts'
import {
  appointAdmin,
  getSignInEpoch,
  type HostedTenant,
  resumeTenant,
  suspendTenant,
} from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInLab, type SignInLab, signInLab } from '#harness/sign-in-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import { isApiKey, newApiKey } from './api-key.ts'
import { exchangeProxyToken } from './exchange-proxy-token.ts'
import { issueToken } from './issue-token.ts'
import { mintProxyToken } from './proxy-token.ts'
import { earliest, personalMethods, secretHash } from './session.ts'
import { findSession, listSessions } from './session-store.ts'
import {
  changeSession,
  type NewSession,
  revokeSession,
  revokeSessions,
  startSession,
} from './start-session.ts'

const device = { ip: '192.0.2.1', userAgent: 'Test' }
const bob = 'bob.example.com' as IdTag
const nowOf = (lab: SignInLab) => Math.floor(lab.clock.now() / 1000)

async function enter(lab: SignInLab, tenant: HostedTenant, session: Partial<NewSession> = {}) {
  const started = await lab.db.transact(tenant.tenantId, (tx) =>
    startSession(lab, tx, {
      callerTag: tenant.idTag,
      method: 'password',
      device,
      expiresAt: nowOf(lab) + 30 * 86_400,
      ...session,
    }),
  )
  if (!started) throw new Error('not started')
  return started
}

async function tokenFor(
  lab: SignInLab,
  tenant: HostedTenant,
  options: { scope?: string; sid: string; callerTag?: IdTag },
) {
  const { token } = await issueToken(lab.deps, tenant, {
    use: 'login',
    callerTag: options.callerTag ?? tenant.idTag,
    sid: options.sid,
    scope: options.scope === undefined ? undefined : parseScope(options.scope),
    roles: ['user'],
    lifeSecs: 86_400,
    notAfter: [],
  })
  return token
}

async function signedIn(lab: SignInLab, tenant: HostedTenant, session: Partial<NewSession> = {}) {
  const { sid } = await enter(lab, tenant, session)
  return { sid, token: await tokenFor(lab, tenant, { sid }) }
}

const unauthorized = expect.objectContaining({ code: 'E-AUTH-UNAUTH' })

eachDialect('a bearer', (open) => {
  async function start() {
    const lab = await openSignInLab(open)
    const alice = await lab.makeTenant('alice.example.com', { password: 'correct horse' })
    const caller = async (tenant: HostedTenant, bearer: string) =>
      (await lab.authenticator.authenticate({ tenant, bearer, ip: '203.0.113.9' })).caller
    return { lab, alice, caller }
  }

  test('of the owner is the owner with every right of their own tenant', async () => {
    const { lab, alice, caller } = await start()
    const { token, sid } = await signedIn(lab, alice)
    expect(await caller(alice, token)).toEqual({
      kind: 'identity',
      idTag: alice.idTag,
      tokenUse: 'login',
      scope: undefined,
      role: 'leader',
      isOwner: true,
      isAdmin: false,
      sessionId: sid,
      signedInAt: nowOf(lab),
    })
  })

  test('names its tenant, its session and its key, and nothing secret', async () => {
    const { lab, alice } = await start()
    const { token, sid } = await signedIn(lab, alice)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.any(String) })
    expect(decodeJwt(token)).toEqual({
      iss: alice.idTag,
      sub: alice.idTag,
      tnId: alice.tenantId,
      use: 'login',
      sid,
      roles: ['user'],
      iat: nowOf(lab),
      exp: nowOf(lab) + 86_400,
    })
  })

  test('of another tenant, of nobody, expired or altered is refused', async () => {
    const { lab, alice, caller } = await start()
    const other = await lab.makeTenant(bob)
    const { token } = await signedIn(lab, alice)
    await expect(caller(other, token)).rejects.toEqual(unauthorized)
    const [header, , signature] = token.split('.')
    const altered = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: bob })).toString('base64url')
    for (const bad of ['', 'x', 'a.b.c', `${header}.${altered}.${signature}`, `${token}x`, 'x'.repeat(9000)])
      await expect(caller(alice, bad)).rejects.toEqual(unauthorized)
    expect(await caller(alice, token)).toBeDefined()
    lab.clock.advance(86_400_000)
    await expect(caller(alice, token)).rejects.toEqual(unauthorized)
  })

  test('stays good when the secret is rotated, and new ones use the new secret', async () => {
    const { lab, alice, caller } = await start()
    const { token, sid } = await signedIn(lab, alice)
    await lab.secrets.rotate()
    const fresh = await tokenFor(lab, alice, { sid })
    expect(decodeProtectedHeader(fresh).kid).not.toBe(decodeProtectedHeader(token).kid)
    expect(await caller(alice, token)).toEqual(await caller(alice, fresh))
  })

  test('with no signature, or one made with a public key or another secret, is refused', async () => {
    const { lab, alice, caller } = await start()
    const { token } = await signedIn(lab, alice)
    const { kid } = decodeProtectedHeader(token)
    const payload = decodeJwt(token)
    const pem = (await lab.keys.list(alice.tenantId))[0]?.publicKey ?? ''
    const unsigned = [
      { alg: 'none', kid },
      { alg: 'HS256', typ: 'JWT', kid },
    ]
    for (const header of unsigned)
      await expect(caller(alice, `${encode(header)}.${encode(payload)}.`)).rejects.toEqual(unauthorized)
    for (const secret of [pem, 'guess']) {
      const signed = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${encode(payload)}`
      const mac = createHmac('sha256', secret).update(signed).digest('base64url')
      await expect(caller(alice, `${signed}.${mac}`)).rejects.toEqual(unauthorized)
    }
  })

  test('that is an action token is refused, whoever signed it', async () => {
    const { lab, alice, caller } = await start()
    const now = nowOf(lab)
    const action = {
      actionId: 'a1~x',
      type: 'POST',
      issuerTag: alice.idTag,
      iss: alice.idTag,
      iat: now,
      exp: now + 60,
    }
    const token = await lab.keys.sign(alice.tenantId, action)
    await expect(caller(alice, token)).rejects.toEqual(unauthorized)
    const withAudience = await lab.keys.sign(alice.tenantId, { ...action, aud: alice.idTag, jti: 'abcdefgh' })
    await expect(caller(alice, withAudience)).rejects.toEqual(unauthorized)
  })

  test('is worth what both its own scope and that of its session allow', async () => {
    const { lab, alice, caller } = await start()
    const { sid } = await enter(lab, alice, { scope: parseScope('write:files read:actions') })
    const token = await tokenFor(lab, alice, { sid, scope: 'read' })
    expect(await caller(alice, token)).toMatchObject({ scope: parseScope('read:files read:actions') })
    await lab.db.transact(alice.tenantId, (tx) =>
      changeSession(lab.deps, tx, { sid, scope: parseScope('read:files') }),
    )
    expect(await caller(alice, token)).toMatchObject({ scope: parseScope('read:files') })
  })

  test('is refused at once when its session is revoked, and within two seconds by another process', async () => {
    const { lab, alice, caller } = await start()
    const elsewhere = signInLab(lab.db, lab.world)
    const { token, sid } = await signedIn(lab, alice)
    await caller(alice, token)
    await elsewhere.deps.authenticator.authenticate({ tenant: alice, bearer: token, ip: '203.0.113.9' })
    expect(await lab.db.transact(alice.tenantId, (tx) => revokeSession(lab.deps, tx, { sid }))).toBe(true)
    expect(await lab.db.transact(alice.tenantId, (tx) => revokeSession(lab.deps, tx, { sid }))).toBe(false)
    await expect(caller(alice, token)).rejects.toEqual(unauthorized)
    lab.clock.advance(2001)
    await expect(
      elsewhere.deps.authenticator.authenticate({ tenant: alice, bearer: token, ip: '203.0.113.9' }),
    ).rejects.toEqual(unauthorized)
  })

  test('stays good when the revocation is rolled back', async () => {
    const { lab, alice, caller } = await start()
    const { token, sid } = await signedIn(lab, alice)
    const failing = lab.db.transact(alice.tenantId, async (tx) => {
      await revokeSession(lab.deps, tx, { sid })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await caller(alice, token)).toMatchObject({ idTag: alice.idTag })
  })

  test('is refused while its tenant is suspended, and afterwards', async () => {
    const { lab, alice, caller } = await start()
    const { token } = await signedIn(lab, alice)
    await caller(alice, token)
    const deps = {
      ...lab.deps,
      revokeSessions: async (tx: never) => void (await revokeSessions(lab.deps, tx)),
    }
    await lab.db.transact(alice.tenantId, (tx) => suspendTenant(deps, tx))
    await expect(caller(alice, token)).rejects.toEqual(unauthorized)
    await lab.db.transact(alice.tenantId, (tx) => resumeTenant(deps, tx))
    await expect(caller(alice, token)).rejects.toEqual(unauthorized)
  })

  test('of the base tenant’s owner, or of whom it appointed, is an administrator there and nowhere else', async () => {
    const { lab, alice, caller } = await start()
    const base = await lab.makeTenant('home.example.com', { isBase: true })
    const { token } = await signedIn(lab, base)
    expect(await caller(base, token)).toMatchObject({ isAdmin: true, isOwner: true })
    const foreign = await proxyToken(lab, alice, base)
    expect(await caller(base, foreign)).toMatchObject({ isAdmin: false, isOwner: false, role: 'public' })
    await lab.db.transact(base.tenantId, (tx) => appointAdmin(lab, tx, alice.idTag))
    lab.clock.advance(2001)
    expect(await caller(base, foreign)).toMatchObject({ isAdmin: true, isOwner: false })
    const isAdmin = async () => (await caller(base, foreign)) as { isAdmin?: boolean }
    for (const [status, expected] of [
      ['Blocked', false],
      ['Muted', true],
      ['Active', true],
    ] as const) {
      await lab.db.transact(serverTenant, (tx) =>
        setRelation(lab, tx, alice.idTag, { ...withStatus(status), at: nowOf(lab) }),
      )
      lab.clock.advance(2001)
      expect(await isAdmin(), status).toMatchObject({ isAdmin: expected })
    }
    lab.world.domainBlocked.add(alice.idTag)
    lab.clock.advance(2001)
    expect(await isAdmin()).toMatchObject({ isAdmin: false })
    lab.world.domainBlocked.clear()
    const own = await signedIn(lab, alice)
    expect(await caller(alice, own.token)).toMatchObject({ isAdmin: false })
  })

  describe('from another tenant, as a proxy token', () => {
    test('is that identity, with the role it has here', async () => {
      const { lab, alice, caller } = await start()
      const other = await lab.makeTenant(bob)
      await lab.giveRole(alice, bob, 'moderator')
      expect(await caller(alice, await proxyToken(lab, other, alice))).toEqual({
        kind: 'identity',
        idTag: bob,
        tokenUse: 'proxy',
        scope: undefined,
        role: 'moderator',
        isOwner: false,
        isAdmin: false,
      })
    })

    test('loses a role within two seconds, at once where it was taken', async () => {
      const { lab, alice, caller } = await start()
      const other = await lab.makeTenant(bob)
      await lab.giveRole(alice, bob, 'moderator')
      const token = await proxyToken(lab, other, alice)
      await caller(alice, token)
      await lab.giveRole(alice, bob, 'public')
      expect(await caller(alice, token)).toMatchObject({ role: 'public' })
    })

    test('is refused for another target, expired, from the future, too long-lived, or without an id', async () => {
      const { lab, alice, caller } = await start()
      const other = await lab.makeTenant(bob)
      const now = nowOf(lab)
      const good = { iss: bob, aud: alice.idTag, use: 'proxy', jti: 'abcdefgh12', iat: now, exp: now + 300 }
      const sign = (claims: object) => lab.keys.sign(other.tenantId, { ...good, ...claims })
      expect(await caller(alice, await sign({}))).toMatchObject({ idTag: bob })
      const bad = [
        { aud: 'carol.example.com' },
        { aud: [alice.idTag, 'carol.example.com'] },
        { iss: alice.idTag },
        { iss: 'Bob.example.com' },
        { use: 'login' },
        { use: undefined },
        { exp: now },
        { exp: now + 36_000 },
        { iat: now + 301, exp: now + 400 },
        { iat: undefined },
        { exp: undefined },
        { exp: now + 0.5 },
        { iat: now - 0.5 },
        { iat: now + 300, exp: now + 300 },
        { jti: undefined },
        { jti: 'short' },
      ]
      for (const claims of bad) await expect(caller(alice, await sign(claims))).rejects.toEqual(unauthorized)
    })

    test('signed with another key, or naming an unknown one, is refused', async () => {
      const { lab, alice, caller } = await start()
      const own = lab.world.addRemote(bob, 'key1')
      const now = nowOf(lab)
      const claims = { iss: bob, aud: alice.idTag, use: 'proxy', jti: 'abcdefgh12', iat: now, exp: now + 300 }
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
      const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      const sign = (header: object, key = own) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'ES384', typ: 'JWT', kid: 'key1', ...header }).sign(key)
      expect(await caller(alice, await sign({}))).toMatchObject({ idTag: bob })
      const jwk = createPublicKey(stranger).export({ format: 'jwk' })
      const forged = await Promise.all([
        sign({}, stranger),
        sign({ jwk }, stranger),
        sign({ alg: 'ES256' }, p256),
        sign({ kid: 'other' }),
        sign({ kid: '../x' }),
        sign({ kid: undefined }),
        sign({ typ: 'other' }),
      ])
      for (const token of forged) await expect(caller(alice, token)).rejects.toEqual(unauthorized)
    })

    test('signed with a key after that was retired is refused', async () => {
      const { lab, alice, caller } = await start()
      const key = lab.world.addRemote(bob, 'key1')
      const now = nowOf(lab)
      const retired = { kid: 'key1', key: createPublicKey(key), expiresAt: now - 10 }
      lab.world.remoteKeys.set(bob, retired)
      const sign = (iat: number) =>
        new SignJWT({ iss: bob, aud: alice.idTag, use: 'proxy', jti: 'abcdefgh12', iat, exp: now + 100 })
          .setProtectedHeader({ alg: 'ES384', typ: 'JWT', kid: 'key1' })
          .sign(key)
      await expect(caller(alice, await sign(now - 9))).rejects.toEqual(unauthorized)
      expect(await caller(alice, await sign(now - 10))).toMatchObject({ idTag: bob })
    })

    test('is exchanged once, also when two try together', async () => {
      const { lab, alice } = await start()
      const other = await lab.makeTenant(bob)
      const { credential } = await lab.authenticator.authenticate({
        tenant: alice,
        bearer: await proxyToken(lab, other, alice),
        ip: '203.0.113.9',
      })
      const { proxy } = credential
      if (!proxy) throw new Error('no proxy token')
      const epoch = await getSignInEpoch(lab.db.reader(alice.tenantId))
      const exchange = () =>
        exchangeProxyToken(lab, alice, { proxy, device, epoch, expiresAt: nowOf(lab) + 3600 })
      const both = await Promise.all([exchange(), exchange()])
      expect(both.filter((session) => session !== undefined)).toHaveLength(1)
      expect(await exchange()).toBeUndefined()
    })
  })

  test('that is an API key is its session’s owner, until the session ends', async () => {
    const { lab, alice, caller } = await start()
    const key = newApiKey()
    const { sid } = await enter(lab, alice, {
      method: 'apikey',
      secretHash: secretHash(key),
      scope: parseScope('read:files'),
      expiresAt: undefined,
    })
    expect(await caller(alice, key)).toMatchObject({
      idTag: alice.idTag,
      tokenUse: 'apikey',
      scope: parseScope('read:files'),
    })
    await expect(caller(await lab.makeTenant(bob), key)).rejects.toEqual(unauthorized)
    await expect(caller(alice, newApiKey())).rejects.toEqual(unauthorized)
    await lab.db.transact(alice.tenantId, (tx) => revokeSession(lab.deps, tx, { sid }))
    await expect(caller(alice, key)).rejects.toEqual(unauthorized)
  })

  test('leaves a trace of its last use, at most once a minute', async () => {
    const { lab, alice, caller } = await start()
    const { token, sid } = await signedIn(lab, alice)
    const startedAt = nowOf(lab)
    const lastUsedAt = async () => {
      await lab.lastUse.flush()
      return (await findSession(lab.db.reader(alice.tenantId), sid))?.lastUsedAt
    }
    lab.clock.advance(59_000)
    await caller(alice, token)
    expect(await lastUsedAt()).toBe(startedAt)
    lab.clock.advance(1_000)
    await caller(alice, token)
    expect(await lastUsedAt()).toBe(startedAt + 60)
    lab.clock.advance(30_000)
    await caller(alice, token)
    expect(await lastUsedAt()).toBe(startedAt + 60)
  })

  test('list of sessions has those in which the person signed in and that still hold', async () => {
    const { lab, alice } = await start()
    const { sid } = await signedIn(lab, alice)
    await enter(lab, alice, { method: 'proxy', callerTag: bob })
    await enter(lab, alice, { method: 'apikey', expiresAt: undefined })
    await enter(lab, alice, { expiresAt: nowOf(lab) + 10 })
    const revoked = await enter(lab, alice)
    await lab.db.transact(alice.tenantId, (tx) => revokeSession(lab.deps, tx, revoked))
    lab.clock.advance(10_000)
    const listed = await listSessions(lab.db.reader(alice.tenantId), {
      callerTag: alice.idTag,
      methods: personalMethods,
      liveAt: nowOf(lab),
    })
    expect(listed.map((session) => session.sid)).toEqual([sid])
  })

  test('sessions are removed a day after they ended', async () => {
    const { lab, alice } = await start()
    const short = await enter(lab, alice, { expiresAt: nowOf(lab) + 10 })
    lab.clock.advance(86_000_000)
    await enter(lab, alice)
    expect(await findSession(lab.db.reader(alice.tenantId), short.sid)).toBeDefined()
    lab.clock.advance(411_000)
    await enter(lab, alice)
    expect(await findSession(lab.db.reader(alice.tenantId), short.sid)).toBeUndefined()
  })
})

test('the earliest of some times ignores those that are absent', () => {
  expect(earliest(5)).toBe(5)
  expect(earliest(5, undefined, 3, Number.POSITIVE_INFINITY)).toBe(3)
})

test('an API key has 256 bits, of which a check sum tells a mistyped one', () => {
  const key = newApiKey()
  expect(key).toMatch(/^sk_[A-Za-z0-9_-]{43}$/)
  expect(isApiKey(key)).toBe(true)
  const mistyped = key.slice(0, 10) + (key[10] === 'A' ? 'B' : 'A') + key.slice(11)
  for (const bad of [mistyped, key.slice(0, -1), `${key}A`, `sk_${'A'.repeat(43)}`])
    expect(isApiKey(bad)).toBe(false)
})

async function proxyToken(lab: SignInLab, from: HostedTenant, to: HostedTenant): Promise<string> {
  const issuedAt = nowOf(lab)
  return mintProxyToken(lab.keys, from, { target: to.idTag, issuedAt, expiresAt: issuedAt + 300 })
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
