import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { changeRelation, withStatus } from '#features/relations/index.ts'
import { type HostedTenant, resumeTenant, suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { defaultLifetimes } from '#harness/sign-in-lab.ts'
import { openSignInSite, password, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { TestAuthenticator } from '#harness/test-authenticator.ts'
import { serverTenant } from '#infra/db/index.ts'
import { createApiKey } from '../api-keys/api-keys.ts'
import { addPasskey } from '../passkeys/manage-passkeys.ts'
import { loginWithPasskey } from '../passkeys/passkey-login.ts'
import { replacePassword } from '../passwords/replace-password.ts'
import { setPasswordByReference } from '../passwords/set-password.ts'
import { answerQrLogin } from '../qr/qr-login.ts'
import { QrWaiters } from '../qr/qr-waiters.ts'
import { dropReference } from '../references/drop-reference.ts'
import { makeReference } from '../references/make-reference.ts'
import { findReference } from '../references/reference-store.ts'
import { personalMethods } from '../sessions/session.ts'
import { listSessions } from '../sessions/session-store.ts'
import { endSignIns } from './end-sign-ins.ts'
import { exchangeCredential } from './exchange-credential.ts'
import { getProxyToken } from './get-proxy-token.ts'
import { login } from './login.ts'

const device = { ip: '198.51.100.7' }
const fileId = `b1~${'A'.repeat(43)}` as never
const badCredential = { code: 'E-AUTH-BADCRED' }
const unauthorized = { code: 'E-AUTH-UNAUTH' }

const changeIt = (site: SignInSite) =>
  replacePassword(site.deps, { tenant: site.alice, password: 'another good one' })

const suspend = ({ deps }: SignInSite, { tenantId }: HostedTenant) =>
  deps.db.transact(tenantId, (tx) =>
    suspendTenant({ ...deps, revokeSessions: (own) => endSignIns(deps, own) }, tx),
  )

const resume = ({ deps }: SignInSite, { tenantId }: HostedTenant) =>
  deps.db.transact(tenantId, (tx) => resumeTenant(deps, tx))

async function suspendAndResume(site: SignInSite): Promise<void> {
  await suspend(site, site.alice)
  await resume(site, site.alice)
}

/** The deps of a process in which something happens after a sign-in was checked, and before its session is made. */
function interrupted(site: SignInSite, happen: () => Promise<unknown>) {
  const findLifetimes = async () => {
    await happen()
    return defaultLifetimes
  }
  return { ...site.deps, findLifetimes, qrWaiters: new QrWaiters(site.clock) }
}

const ownSessions = ({ db, alice }: SignInSite) =>
  listSessions(db.reader(alice.tenantId), { callerTag: alice.idTag, methods: personalMethods })

async function callerOf(site: SignInSite, token: string) {
  return (await site.authenticator.authenticate({ tenant: site.alice, bearer: token, ip: '203.0.113.9' }))
    .caller as never
}

async function approvedQr(site: SignInSite, token: string) {
  const { sessionId, secret } = (await site.ask('POST', '/api/auth/qr-login/init')).json.data
  await site.ask('POST', `/api/auth/qr-login/${sessionId}/respond`, { token, body: { approved: true } })
  const path = `/api/auth/qr-login/${sessionId}/status?timeout=0`
  return async () => (await site.ask('GET', path, { headers: { 'x-qr-secret': secret } })).json.data
}

eachDialect('a sign-in that was checked opens no session', (open) => {
  test.each([
    ['the password was changed', changeIt],
    ['the tenant was suspended and resumed', suspendAndResume],
  ] as const)('by password after %s', async (_, happen) => {
    const site = await openSignInSite(open)
    const deps = interrupted(site, () => happen(site))
    const entering = login(deps, { tenant: site.alice, idTag: site.alice.idTag, password, device })
    await expect(entering).rejects.toMatchObject(badCredential)
    expect(await ownSessions(site)).toEqual([])
  })

  test('by password after the tenant was suspended by another process', async () => {
    const site = await openSignInSite(open)
    // The tenant is in memory here as it was.
    await site.tenants.findById(site.alice.tenantId)
    const tenants = { ...site.tenants, forget: () => undefined }
    const deps = interrupted(site, () => suspend({ ...site, deps: { ...site.deps, tenants } }, site.alice))
    const entering = login(deps, { tenant: site.alice, idTag: site.alice.idTag, password, device })
    await expect(entering).rejects.toMatchObject(badCredential)
    expect(await ownSessions(site)).toEqual([])
  })

  test('by passkey after the tenant was suspended and resumed', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const authenticator = new TestAuthenticator(site.alice.idTag)
    const { challenge } = (await site.ask('GET', '/api/auth/wa/reg/challenge', { token })).json.data
    const credential = authenticator.register({ challenge })
    await site.ask('POST', '/api/auth/wa/reg', { token, body: { name: 'Phone', credential } })
    const offered = (await site.ask('GET', '/api/auth/wa/login/challenge')).json.data
    const answer = authenticator.authenticate({ challenge: offered.challenge })
    const entering = loginWithPasskey(
      interrupted(site, () => suspendAndResume(site)),
      { tenant: site.alice, device, answer: answer as never },
    )
    await expect(entering).rejects.toMatchObject(badCredential)
    expect(await ownSessions(site)).toEqual([])
  })

  test('by QR code after the session ended in which it was approved', async () => {
    const site = await openSignInSite(open)
    const approver = await site.login(site.alice)
    const poll = await approvedQr(site, approver)
    await site.ask('POST', '/api/auth/logout', { token: approver })
    expect(await poll()).toEqual({ status: 'denied' })
    const late = await approvedQr(site, await site.login(site.alice))
    await changeIt(site)
    expect(await late()).toEqual({ status: 'denied' })
    expect(await ownSessions(site)).toEqual([])
  })

  test('by QR code after the tenant was suspended and resumed', async () => {
    const site = await openSignInSite(open)
    const poll = await approvedQr(site, await site.login(site.alice))
    await suspendAndResume(site)
    expect(await poll()).toBeUndefined()
    expect(await ownSessions(site)).toEqual([])
  })

  test('of a visitor after the tenant was suspended and resumed, or the server banned the visitor', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.bob)
    const proxyToken = async () => {
      const path = `/api/auth/proxy-token?target=${site.alice.idTag}`
      return (await site.ask('GET', path, { token, host: site.bob.idTag })).json.data.token as string
    }
    const ban = () =>
      site.db.transact(serverTenant, (tx) =>
        changeRelation(tx, site.bob.idTag, { ...withStatus('Banned'), at: 1 }),
      )
    for (const happen of [() => suspendAndResume(site), ban]) {
      const input = { tenant: site.alice, caller: { kind: 'guest' }, device, bearer: undefined } as const
      const presented = { ...input, token: await proxyToken() }
      const entering = exchangeCredential(interrupted(site, happen), presented)
      await expect(entering).rejects.toMatchObject(unauthorized)
    }
  })
})

eachDialect('a revocation', (open) => {
  test('ends an exchange of an API key or a reference that is on its way', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { key, keyId } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'Backup' } }))
      .json.data
    const input = { tenant: site.alice, caller: { kind: 'guest' }, device, bearer: undefined } as const
    const remove = () => site.ask('DELETE', `/api/auth/api-keys/${keyId}`, { token })
    const byKey = exchangeCredential(interrupted(site, remove), { ...input, apiKey: key })
    await expect(byKey).rejects.toMatchObject(unauthorized)

    const { refId } = await site.db.transact(site.alice.tenantId, (tx) =>
      makeReference(site.deps, tx, {
        type: 'share.file',
        createdBy: site.alice.idTag,
        resourceId: fileId,
        accessLevel: 'read',
      }),
    )
    const drop = () => site.db.transact(site.alice.tenantId, (tx) => dropReference(site.deps, tx, refId))
    const findMakersFileAccess = async () => {
      await drop()
      return 'write' as const
    }
    const byReference = exchangeCredential({ ...site.deps, findMakersFileAccess }, { ...input, ref: refId })
    await expect(byReference).rejects.toMatchObject({ code: 'E-NOTFOUND' })
  })

  test('ends what a signed-in person was making to last: keys, passkeys, approvals, proxy tokens', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const caller = await callerOf(site, token)
    const { challenge } = (await site.ask('GET', '/api/auth/wa/reg/challenge', { token })).json.data
    const answer = new TestAuthenticator(site.alice.idTag).register({ challenge }) as never
    const { sessionId } = (await site.ask('POST', '/api/auth/qr-login/init')).json.data
    await site.ask('POST', '/api/auth/logout', { token })
    const by = { tenant: site.alice, caller, ip: device.ip }
    const deps = { ...site.deps, qrWaiters: new QrWaiters(site.clock) }
    for (const make of [
      () => createApiKey(deps, { ...by, name: 'Backup', device }),
      () => addPasskey(deps, { ...by, name: 'Phone', answer }),
      () => answerQrLogin(deps, { ...by, sessionId, approved: true }),
      () => getProxyToken(deps, { ...by, target: site.bob.idTag }),
    ])
      await expect(make()).rejects.toMatchObject(unauthorized)
  })

  test('of sign-ins ends references that set the password, but not by signing out', async () => {
    const site = await openSignInSite(open)
    const make = async () =>
      (
        await site.db.transact(site.alice.tenantId, (tx) =>
          makeReference(site.deps, tx, { type: 'password-reset' }),
        )
      ).refId
    const isGood = async (refId: Awaited<ReturnType<typeof make>>) =>
      (await findReference(site.db.reader(site.alice.tenantId), refId))?.count === 1
    const refId = await make()
    await site.ask('POST', '/api/auth/logout', { token: await site.login(site.alice) })
    expect(await isGood(refId)).toBe(true)
    await suspendAndResume(site)
    expect(await isGood(refId)).toBe(false)
    const later = await make()
    const hash = async (text: string) => {
      await suspendAndResume(site)
      return site.deps.passwords.hash(text)
    }
    const setting = setPasswordByReference(
      { ...site.deps, passwords: { ...site.deps.passwords, hash } },
      { tenant: site.alice, refId: later, password: 'yet another one', ip: device.ip },
    )
    await expect(setting).rejects.toMatchObject({ code: 'E-GONE' })
  })

  test('by suspension is for good, and spares API keys', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'Backup' } })).json
      .data
    await suspend(site, site.alice)
    refused(await site.ask('GET', '/api/auth/access-token', { token: key }), 401, 'E-AUTH-UNAUTH')
    await resume(site, site.alice)
    refused(await site.ask('GET', '/api/auth/sessions', { token }), 401, 'E-AUTH-UNAUTH')
    expect((await site.ask('GET', '/api/auth/access-token', { token: key })).status).toBe(200)
    expect(
      (await site.ask('GET', '/api/auth/sessions', { token: await site.login(site.alice) })).status,
    ).toBe(200)
  })
})

eachDialect('a token made from a credential', (open) => {
  test('ends no later than the credential, also as a proxy token', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const expiresAt = Math.floor(site.clock.now() / 1000) + 60
    const body = { name: 'Backup', expiresAt }
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body })).json.data
    const access = (await site.ask('GET', '/api/auth/access-token', { token: key })).json.data
    expect(access.expiresAt).toBe(expiresAt)
    const path = `/api/auth/proxy-token?target=${site.bob.idTag}`
    for (const bearer of [key, access.token]) {
      const proxy = (await site.ask('GET', path, { token: bearer })).json.data
      expect(proxy.expiresAt).toBe(expiresAt)
      expect(decodeJwt(proxy.token).exp).toBe(expiresAt)
    }
  })
})
