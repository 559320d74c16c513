import type { RefId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type HostedTenant, suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, password, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { MailError } from '#infra/mail/index.ts'
import { markEmailVerified } from '../account.ts'
import { findAccount } from '../account-store.ts'
import { makeReference } from '../references/make-reference.ts'

const aliceTag = 'alice.example.com'
const newPassword = 'another good one'

const reset = (site: SignInSite, token: string, host = aliceTag) =>
  site.ask('POST', '/api/auth/set-password', { host, body: { token, password: newPassword } })

const tryLogin = (site: SignInSite, given: string, tenant: HostedTenant = site.alice) =>
  site.ask('POST', '/api/auth/login', { host: tenant.idTag, body: { idTag: tenant.idTag, password: given } })

async function makeRef(site: SignInSite, type: 'welcome' | 'password-reset' | 'invite', expiresAt?: number) {
  const options = { type, ...(expiresAt === undefined ? {} : { expiresAt }) }
  const made = await site.db.transact(site.alice.tenantId, (tx) => makeReference(site.deps, tx, options))
  return made.refId
}

const forgot = (site: SignInSite, body: object = { idTag: aliceTag }, host = aliceTag) =>
  site.ask('POST', '/api/auth/forgot-password', { host, body })

function linkIn(mail: { text: string } | undefined): RefId {
  const [, refId] = /#token=([0-9A-Za-z]{24})/.exec(mail?.text ?? '') ?? []
  if (refId === undefined) throw new Error('the mail has no link')
  return refId as RefId
}

eachDialect('a forgotten password', (open) => {
  test('is replaced with a mailed link, once, and every session ends', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const answer = await forgot(site)
    expect(answer.json.data).toEqual({ sent: true })
    await site.jobs.settle()
    const [mail] = site.world.mails
    expect(mail).toMatchObject({ to: 'alice@example.com', subject: 'Choose a new password' })
    expect(mail?.text).toContain('https://alice.example.com/set-password#token=')
    const refId = linkIn(mail)
    expect((await reset(site, refId)).json.data).toEqual({ success: true })
    refused(await site.ask('GET', '/api/auth/sessions', { token }), 401, 'E-AUTH-UNAUTH')
    refused(await tryLogin(site, password), 401, 'E-AUTH-BADCRED')
    expect((await tryLogin(site, newPassword)).status).toBe(200)
    refused(await reset(site, refId), 410, 'E-GONE')
    const account = await findAccount(site.db.reader(site.alice.tenantId))
    expect(account?.emailVerifiedAt).toBe(Math.floor(site.clock.now() / 1000))
  })

  test('is mailed at most three times an hour and five a day, silently', async () => {
    const site = await openSignInSite(open)
    await site.db.transact(site.alice.tenantId, (tx) => markEmailVerified(site, tx))
    const ask = async (times: number) => {
      for (let turn = 0; turn < times; turn += 1) {
        expect((await forgot(site)).json.data).toEqual({ sent: true })
        await site.jobs.settle()
      }
      return site.world.mails.length
    }
    expect(await ask(4)).toBe(3)
    site.clock.advance(3_600_000)
    expect(await ask(4)).toBe(5)
    site.clock.advance(12 * 3_600_000)
    expect(await ask(1)).toBe(5)
    site.clock.advance(12 * 3_600_000)
    expect(await ask(1)).toBe(6)
  })
})

eachDialect('a forgotten password', (open) => {
  test('is answered alike for whoever does not exist, has no address or no account', async () => {
    const site = await openSignInSite(open)
    await site.makeTenant('club.example.com', { type: 'community' })
    for (const [idTag, host] of [
      ['nobody.example.com', aliceTag],
      ['bob.example.com', aliceTag],
      ['bob.example.com', 'bob.example.com'],
      ['club.example.com', 'club.example.com'],
    ])
      expect(await forgot(site, { idTag }, host)).toMatchObject({
        status: 200,
        json: { data: { sent: true } },
      })
    await site.jobs.settle()
    expect(site.world.mails).toEqual([])
  })

  test('is answered alike on the host of a suspended tenant, and nothing is mailed', async () => {
    const site = await openSignInSite(open)
    const answers = [await forgot(site, { idTag: 'nobody.example.com' })]
    const deps = { ...site.deps, revokeSessions: async () => undefined }
    await site.db.transact(site.alice.tenantId, (tx) => suspendTenant(deps, tx))
    answers.push(await forgot(site), await forgot(site, { idTag: 'nobody.example.com' }))
    for (const { status, json, headers } of answers)
      expect([status, json.data, Object.keys(headers).sort()]).toEqual([
        200,
        { sent: true },
        Object.keys(answers[0]?.headers ?? {}).sort(),
      ])
    await site.jobs.settle()
    expect(site.world.mails).toEqual([])
  })

  test('is mailed in German to whoever asks in German', async () => {
    const site = await openSignInSite(open)
    await forgot(site, { idTag: aliceTag, lang: 'de-AT' })
    await site.jobs.settle()
    expect(site.world.mails[0]?.subject).toBe('Neues Passwort wählen')
  })

  test('keeps the link out of the queue, and sends it when the mail server is back', async () => {
    const site = await openSignInSite(open)
    site.world.mailFailure = new MailError('connect', 'down', { isPermanent: false })
    await forgot(site)
    await site.jobs.settle()
    const stored = await site.db.reader(site.alice.tenantId).tables<{ jobs: { payload: string } }>()
    const payloads = await stored.selectFrom('jobs').select('payload').execute()
    site.world.mailFailure = undefined
    site.clock.advance(60_000)
    await site.jobs.settle()
    const refId = linkIn(site.world.mails[0])
    expect(payloads.length).toBeGreaterThan(0)
    expect(JSON.stringify(payloads)).not.toContain(refId)
  })

  test('link ends after an hour, on another tenant, and when the password is changed meanwhile', async () => {
    const site = await openSignInSite(open)
    await forgot(site)
    await site.jobs.settle()
    const refId = linkIn(site.world.mails[0])
    refused(await reset(site, refId, 'bob.example.com'), 404, 'E-NOTFOUND')
    await forgot(site)
    await site.jobs.settle()
    const second = linkIn(site.world.mails[1])
    expect((await reset(site, second)).status).toBe(200)
    refused(await reset(site, refId), 410, 'E-GONE')
    await forgot(site)
    await site.jobs.settle()
    site.clock.advance(3_600_000)
    refused(await reset(site, linkIn(site.world.mails[2])), 410, 'E-GONE')
  })

  test('needs a reference that is for passwords', async () => {
    const site = await openSignInSite(open)
    refused(await reset(site, await makeRef(site, 'invite')), 404, 'E-NOTFOUND')
    refused(await reset(site, 'x'.repeat(24)), 404, 'E-NOTFOUND')
    refused(await reset(site, '../../x'), 404, 'E-NOTFOUND')
    const now = Math.floor(site.clock.now() / 1000)
    const expiring = await makeRef(site, 'password-reset', now + 10)
    site.clock.advance(10_000)
    refused(await reset(site, expiring), 410, 'E-GONE')
    const short = { token: await makeRef(site, 'welcome'), password: 'short' }
    refused(await site.ask('POST', '/api/auth/set-password', { body: short }), 400, 'E-VALIDATION')
    expect((await reset(site, short.token)).status).toBe(200)
  })

  test('set with a link that was not mailed says nothing about the address', async () => {
    const site = await openSignInSite(open)
    expect((await reset(site, await makeRef(site, 'welcome'))).status).toBe(200)
    expect((await findAccount(site.db.reader(site.alice.tenantId)))?.emailVerifiedAt).toBeUndefined()
  })

  test('with a link opens the account at a new address, though strangers keep it busy', async () => {
    const site = await openSignInSite(open)
    const attempt = (from: string, typed: string) =>
      site.ask('POST', '/api/auth/login', {
        body: { idTag: aliceTag, password: typed },
        headers: { 'x-forwarded-for': from },
      })
    const from = '192.0.2.77'
    for (let turn = 0; turn < 60; turn += 1) await attempt(`203.0.113.${turn}`, 'wrong password')
    refused(await attempt(from, password), 429, 'E-RATELIMIT')
    const { status } = await site.ask('POST', '/api/auth/set-password', {
      body: { token: await makeRef(site, 'password-reset'), password: newPassword },
      headers: { 'x-forwarded-for': from },
    })
    expect(status).toBe(200)
    refused(await attempt('192.0.2.99', newPassword), 429, 'E-RATELIMIT')
    expect((await attempt(from, newPassword)).status).toBe(200)
  })

  test('is set once by many who use one link at once', async () => {
    const site = await openSignInSite(open)
    const refId = await makeRef(site, 'welcome')
    const answers = await Promise.all(Array.from({ length: 40 }, () => reset(site, refId)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(39)
  })
})

eachDialect('changing the password', (open) => {
  const change = (site: SignInSite, token: string | undefined, body: object = {}) =>
    site.ask('POST', '/api/auth/password', {
      token,
      body: { currentPassword: password, newPassword, ...body },
    })

  test('ends every session, keeps API keys, tells the owner and kills links', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const other = await site.login(site.alice)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    const link = await makeRef(site, 'password-reset')
    expect((await change(site, token)).json.data).toEqual({ success: true })
    for (const ended of [token, other])
      refused(await site.ask('GET', '/api/auth/sessions', { token: ended }), 401, 'E-AUTH-UNAUTH')
    expect((await site.ask('GET', '/api/auth/sessions', { token: key })).status).toBe(200)
    refused(await reset(site, link), 410, 'E-GONE')
    refused(await tryLogin(site, password), 401, 'E-AUTH-BADCRED')
    expect((await tryLogin(site, newPassword)).status).toBe(200)
    await site.jobs.settle()
    expect(site.world.mails.map((mail) => mail.subject)).toEqual(['Your password was changed'])
  })

  test('ends visits to other tenants of the server, under way or not yet begun', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const host = 'bob.example.com'
    const mint = async () =>
      (await site.ask('GET', `/api/auth/proxy-token?target=${host}`, { token })).json.data.token
    const unused = await mint()
    const visit = await site.ask('GET', `/api/auth/access-token?token=${await mint()}`, { host })
    expect(visit.status).toBe(200)
    expect((await change(site, token)).status).toBe(200)
    for (const ended of [unused, visit.json.data.token])
      refused(await site.ask('GET', '/api/auth/access-token', { host, token: ended }), 401, 'E-AUTH-UNAUTH')
  })

  test('needs the present password, and slows down who guesses it with a stolen token', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    for (let turn = 0; turn < 10; turn += 1)
      refused(await change(site, token, { currentPassword: 'wrong password' }), 401, 'E-AUTH-BADCRED')
    refused(await change(site, token), 429, 'E-RATELIMIT')
    site.clock.advance(15_000)
    expect((await change(site, token)).status).toBe(200)
  })

  test('is refused for a bad new one, a key, a narrow token, a stranger and nobody', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    refused(await change(site, token, { newPassword: 'short' }), 400, 'E-VALIDATION')
    refused(await change(site, token, { newPassword: 'x'.repeat(1025) }), 400, 'E-VALIDATION')
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    refused(await change(site, key), 403, 'E-AUTH-FORBIDDEN')
    const narrow = await site.ask('GET', '/api/auth/access-token?scope=write', { token })
    refused(await change(site, narrow.json.data.token), 403, 'E-AUTH-FORBIDDEN')
    const visitor = await site.ask('GET', `/api/auth/proxy-token?target=${aliceTag}`, {
      host: 'bob.example.com',
      token: await site.login(site.bob),
    })
    await site.giveRole(site.alice, site.bob.idTag, 'leader')
    refused(await change(site, visitor.json.data.token), 403, 'E-AUTH-FORBIDDEN')
    refused(await change(site, undefined), 401, 'E-AUTH-UNAUTH')
    expect((await tryLogin(site, password)).status).toBe(200)
  })

  test('lets one of two changes at once through', async () => {
    const site = await openSignInSite(open)
    const tokens = [await site.login(site.alice), await site.login(site.alice)]
    const answers = await Promise.all(tokens.map((token) => change(site, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })
})
