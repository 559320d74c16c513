import { expect, test } from 'vitest'
import { suspendTenant } from '#features/tenants/index.ts'
import { eachDialect, onSqlite } from '#harness/each-dialect.ts'
import { openSignInSite, password, refused, type SignInSite } from '#harness/sign-in-site.ts'
import type { Writer } from '#infra/db/index.ts'
import { findAccount } from '../account-store.ts'
import { mailReference } from '../mails/queue-account-mail.ts'
import { endSignIns } from '../sign-in/end-sign-ins.ts'
import { replaceEmail } from './replace-email.ts'

const oldAddress = 'alice@example.com'
const newAddress = 'alice@new.example.org'
const otherPassword = 'another good one'
const minuteMs = 60_000
const hourMs = 60 * minuteMs

const put = (site: SignInSite, token: string | undefined, body: object, host?: string) =>
  site.ask('PUT', '/api/auth/email', { token, body, ...(host === undefined ? {} : { host }) })
const confirm = (site: SignInSite, token: string, host?: string) =>
  site.ask('POST', '/api/auth/email/confirm', { body: { token }, ...(host === undefined ? {} : { host }) })
const shown = async (site: SignInSite, token: string) =>
  (await site.ask('GET', '/api/auth/email', { token })).json.data
const setPassword = (site: SignInSite, token: string, more: object = {}) =>
  site.ask('POST', '/api/auth/set-password', { body: { token, password: otherPassword, ...more } })

/** The mails since the last call, oldest first. */
async function mails(site: SignInSite) {
  await site.jobs.settle()
  return site.world.mails.splice(0)
}

/** The token in the only mail to an address. */
async function mailedToken(site: SignInSite, address = newAddress): Promise<string> {
  const to = (await mails(site)).filter((mail) => mail.to === address)
  expect(to).toHaveLength(1)
  const [, token = ''] = /confirm-email\?token=([0-9A-Za-z]{24})/.exec(to[0]?.text ?? '') ?? []
  expect(token).not.toBe('')
  return token
}

async function suspend({ db, deps, alice }: SignInSite) {
  const ending = { ...deps, revokeSessions: (tx: Writer) => endSignIns(deps, tx) }
  await db.transact(alice.tenantId, (tx) => suspendTenant(ending, tx))
}

async function mailedReset(site: SignInSite, type: 'password-reset' | 'email-verify' = 'password-reset') {
  await site.db.transact(site.alice.tenantId, (tx) => mailReference(site.deps, tx, { type, validSecs: 3600 }))
  const [mail] = await mails(site)
  return /#token=([0-9A-Za-z]{24})/.exec(mail?.text ?? '')?.[1] ?? ''
}

/** Alice with a proven address, signed in. */
async function openProven(open: Parameters<typeof openSignInSite>[0]) {
  const site = await openSignInSite(open)
  expect((await setPassword(site, await mailedReset(site))).status).toBe(200)
  const body = { idTag: site.alice.idTag, password: otherPassword }
  const { json } = await site.ask('POST', '/api/auth/login', { body })
  return { site, token: json.data.token as string }
}

eachDialect('a new e-mail address', (open) => {
  test('counts once the link that was mailed there is used, once', async () => {
    const { site, token } = await openProven(open)
    const answer = await put(site, token, { email: newAddress, lang: 'en' })
    const pending = { address: newAddress, expiresAt: Math.floor(site.clock.now() / 1000) + 24 * 3600 }
    expect(answer.json.data).toEqual({ address: oldAddress, verified: true, pending })
    expect(await shown(site, token)).toEqual(answer.json.data)
    await site.jobs.settle()
    const [link, notice] = [newAddress, oldAddress].map((to) =>
      site.world.mails.find((mail) => mail.to === to),
    )
    expect(site.world.mails).toHaveLength(2)
    expect(link?.text).toMatch(/https:\/\/alice\.example\.com\/confirm-email\?token=[0-9A-Za-z]{24}\n/)
    expect(notice).toMatchObject({ to: oldAddress, subject: 'Your e-mail address is to be changed' })
    expect(notice?.text).toContain('change your password')
    expect(notice?.text).not.toMatch(/https?:|new\.example\.org/)
    const ref = await mailedToken(site)
    const done = await confirm(site, ref)
    expect(done.json.data).toEqual({ email: newAddress, signedOut: false })
    expect(await shown(site, token)).toEqual({ address: newAddress, verified: true })
    expect(await mails(site)).toMatchObject([{ to: oldAddress, subject: 'Your e-mail address was changed' }])
    refused(await confirm(site, ref), 410, 'E-GONE')
  })

  test('takes the place of one that was asked for before, and of itself', async () => {
    const { site, token } = await openProven(open)
    await put(site, token, { email: 'first@example.org' })
    const first = await mailedToken(site, 'first@example.org')
    await put(site, token, { email: newAddress })
    const second = await mailedToken(site)
    refused(await confirm(site, first), 410, 'E-GONE')
    await put(site, token, { email: oldAddress })
    expect(await mails(site)).toEqual([])
    expect(await shown(site, token)).toEqual({ address: oldAddress, verified: true })
    refused(await confirm(site, second), 410, 'E-GONE')
  })

  test('of two that are asked for at once one can be confirmed', async () => {
    const { site, token } = await openProven(open)
    const addresses = ['a@example.org', 'b@example.org']
    await Promise.all(addresses.map((email) => put(site, token, { email })))
    const sent = (await mails(site)).flatMap(({ text }) => /\?token=(\w+)/.exec(text)?.[1] ?? [])
    const answers = await Promise.all(sent.map((ref) => confirm(site, ref)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

onSqlite('the link to a new address', (open) => {
  test('is good for a day, on its own host, and for nothing else', async () => {
    const { site, token } = await openProven(open)
    await put(site, token, { email: newAddress })
    const ref = await mailedToken(site)
    refused(await confirm(site, ref, 'bob.example.com'), 404, 'E-NOTFOUND')
    refused(await setPassword(site, ref), 404, 'E-NOTFOUND')
    refused(await site.ask('GET', `/api/auth/access-token?ref=${ref}`), 403, 'E-AUTH-FORBIDDEN')
    expect((await site.ask('GET', `/api/refs/${ref}`)).json.data).toEqual({
      refId: ref,
      type: 'email-change',
      state: 'active',
    })
    expect((await site.ask('GET', '/api/refs?filter=all', { token })).json.data).toEqual([])
    refused(await confirm(site, await mailedReset(site)), 404, 'E-NOTFOUND')
    site.world.warnings.splice(0)
    refused(await confirm(site, 'nonsense'), 404, 'E-NOTFOUND')
    expect(site.world.warnings.at(-1)).toEqual({
      ip: '127.0.0.1',
      method: 'reference',
      tenant: site.alice.idTag,
      msg: 'sign-in failed',
    })
    site.clock.advance(24 * hourMs)
    refused(await confirm(site, ref), 410, 'E-GONE')
  })

  test('is made by nobody but the server', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.base)
    const body = { type: 'email-change', resourceId: 'mailto:eve@example.org' }
    refused(
      await site.ask('POST', '/api/refs', { host: site.base.idTag, token, body }),
      403,
      'E-AUTH-FORBIDDEN',
    )
  })

  test.each([
    [
      'a change of the password',
      async (site: SignInSite, token: string) => {
        const body = { currentPassword: otherPassword, newPassword: password }
        expect((await site.ask('POST', '/api/auth/password', { token, body })).status).toBe(200)
      },
    ],
    [
      'a reset',
      async (site: SignInSite) => {
        expect((await setPassword(site, await mailedReset(site))).status).toBe(200)
      },
    ],
    [
      'a suspension',
      async (site: SignInSite) => {
        await suspend(site)
      },
    ],
  ] as const)('ends with %s, and is not mailed after that', async (_, end) => {
    const { site, token } = await openProven(open)
    site.world.mailFailure = new Error('not now')
    await put(site, token, { email: newAddress })
    await site.jobs.settle()
    site.world.mailFailure = undefined
    await end(site, token)
    site.clock.advance(minuteMs)
    expect((await mails(site)).map(({ to }) => to)).not.toContain(newAddress)
  })

  test('outlives a logout', async () => {
    const { site, token } = await openProven(open)
    await put(site, token, { email: newAddress })
    await site.ask('POST', '/api/auth/logout', { token })
    expect((await confirm(site, await mailedToken(site))).status).toBe(200)
  })
})

onSqlite('a change of the address', (open) => {
  test('ends what was mailed to the old one, and leaves sessions and keys', async () => {
    const { site, token } = await openProven(open)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    const resets = [await mailedReset(site), await mailedReset(site, 'email-verify')]
    await put(site, token, { email: newAddress })
    const ref = await mailedToken(site)
    // As long as the old one counts, a mail to it opens the account.
    expect((await site.ask('GET', `/api/refs/${resets[0]}`)).status).toBe(200)
    expect((await confirm(site, ref)).json.data.signedOut).toBe(false)
    for (const reset of resets) refused(await setPassword(site, reset), 410, 'E-GONE')
    for (const bearer of [token, key])
      expect((await site.ask('GET', '/api/auth/access-token', { token: bearer })).status).toBe(200)
    await mails(site)
    await site.ask('POST', '/api/auth/forgot-password', { body: { idTag: site.alice.idTag } })
    expect(await mails(site)).toMatchObject([{ to: newAddress }])
  })

  test('of a registered address that was never proven is the first proof: all that was made before ends', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    await put(site, token, { email: newAddress })
    expect((await confirm(site, await mailedToken(site))).json.data).toEqual({
      email: newAddress,
      signedOut: true,
    })
    for (const bearer of [token, key])
      refused(await site.ask('GET', '/api/auth/access-token', { token: bearer }), 401, 'E-AUTH-UNAUTH')
    await site.login(site.alice)
  })

  test('gives an account without address one, and leaves what its owner has made', async () => {
    const site = await openSignInSite(open)
    const host = site.base.idTag
    const token = await site.login(site.base)
    expect((await site.ask('GET', '/api/auth/login-token', { host, token })).json.data.email).toEqual({
      address: null,
      verified: false,
    })
    await put(site, token, { email: newAddress }, host)
    const [mail, ...others] = await mails(site)
    expect(others).toEqual([])
    const [, ref = ''] = /\?token=(\w+)/.exec(mail?.text ?? '') ?? []
    expect((await confirm(site, ref, host)).json.data.signedOut).toBe(false)
    expect((await site.ask('GET', '/api/auth/login-token', { host, token })).json.data.email).toEqual({
      address: newAddress,
      verified: true,
    })
  })

  test('proves the address that the account was registered with, by a mail to it', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    await put(site, token, { email: oldAddress })
    expect((await confirm(site, await mailedToken(site, oldAddress))).json.data.signedOut).toBe(true)
    expect(await mails(site)).toEqual([])
  })

  test('is in the audit trail, with who asked and what it was before', async () => {
    const { site, token } = await openProven(open)
    await put(site, token, { email: newAddress })
    await confirm(site, await mailedToken(site))
    const { data } = (await site.ask('GET', '/api/audit', { token })).json
    const entryOf = (event: string) => data.find((entry: { event: string }) => entry.event === event)
    expect(entryOf('email.change-requested')).toMatchObject({
      actorTag: site.alice.idTag,
      details: { email: newAddress },
    })
    expect(entryOf('email.changed').details).toEqual({ email: newAddress, former: oldAddress })
  })
})

onSqlite('asking for another address', (open) => {
  test('needs a recent sign-in or the password, which cannot be guessed there', async () => {
    const { site, token } = await openProven(open)
    site.clock.advance(16 * minuteMs)
    const late = await put(site, token, { email: newAddress })
    refused(late, 403, 'E-AUTH-FORBIDDEN')
    expect(late.json.error.details).toEqual({ reason: 'sign-in-again' })
    expect((await put(site, token, { email: newAddress, password: otherPassword })).status).toBe(200)
    await mails(site)
    for (let turn = 0; turn < 10; turn += 1)
      refused(await put(site, token, { email: newAddress, password: 'a wrong one' }), 401, 'E-AUTH-BADCRED')
    refused(await put(site, token, { email: newAddress, password: otherPassword }), 429, 'E-RATELIMIT')
    expect(await mails(site)).toEqual([])
  })

  test('is for the owner in person', async () => {
    const { site, token } = await openProven(open)
    const { key } = (await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })).json.data
    const ofKey = (await site.ask('GET', '/api/auth/access-token', { token: key })).json.data.token
    const admin = (await site.ask('GET', '/api/auth/access-token?scope=admin', { token })).json.data.token
    const bob = await site.login(site.bob)
    const proxy = await site.ask('GET', `/api/auth/proxy-token?target=${site.alice.idTag}`, {
      host: site.bob.idTag,
      token: bob,
    })
    for (const bearer of [key, ofKey, admin, proxy.json.data.token]) {
      refused(await put(site, bearer, { email: newAddress }), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('GET', '/api/auth/email', { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
    }
    for (const bearer of [undefined, bob])
      refused(await put(site, bearer, { email: newAddress }), 401, 'E-AUTH-UNAUTH')
    expect(await mails(site)).toEqual([])
  })

  test.each([
    'nobody',
    'a@b@example.org',
    'alice@example.org\r\nBcc: all@example.org',
    'alice@example.org\n',
    'alice@exam\u0000ple.org',
    'Alice <alice@example.org>',
    '"alice b"@example.org',
    'älice@example.org',
    'alice@[192.0.2.1]',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.org`,
    'a'.repeat(2000),
  ])('refuses %.40j', async (email) => {
    const { site, token } = await openProven(open)
    refused(await put(site, token, { email }), 400, 'E-VALIDATION')
    expect(await mails(site)).toEqual([])
  })

  test('takes an internationalized domain in its ASCII form', async () => {
    const { site, token } = await openProven(open)
    const { json } = await put(site, token, { email: 'alice@Bücher.example' })
    expect(json.data.pending.address).toBe('alice@xn--bcher-kva.example')
  })

  test('is done three times an hour and five a day', async () => {
    const { site, token } = await openProven(open)
    const ask = (turn: number) => put(site, token, { email: `a${turn}@example.org`, password: otherPassword })
    for (const turn of [1, 2, 3]) expect((await ask(turn)).status).toBe(200)
    const fourth = await ask(4)
    refused(fourth, 429, 'E-RATELIMIT')
    expect(fourth.headers['retry-after']).toBe('3600')
    // What is refused leaves the earlier request as it is.
    expect((await shown(site, token)).pending.address).toBe('a3@example.org')
    site.clock.advance(hourMs)
    for (const turn of [4, 5]) expect((await ask(turn)).status).toBe(200)
    refused(await ask(6), 429, 'E-RATELIMIT')
    site.clock.advance(2 * hourMs)
    refused(await ask(6), 429, 'E-RATELIMIT')
  })

  test('reaches a mailbox three times, whoever asks and however it is spelled', async () => {
    const site = await openSignInSite(open)
    const asks = ['victim@example.org', 'Victim+1@example.org', 'victim+x@EXAMPLE.org', 'victim@example.org']
    const answers = []
    for (const [index, email] of asks.entries()) {
      const host = `n${index}.example.com`
      const tenant = await site.makeTenant(host, { password })
      answers.push((await put(site, await site.login(tenant), { email }, host)).status)
    }
    expect(answers).toEqual([200, 200, 200, 429])
    expect(await mails(site)).toHaveLength(3)
  })

  test('says the same whether or not another account has the address', async () => {
    const { site, token } = await openProven(open)
    await site.makeTenant('carol.example.com', { email: 'carol@example.org' })
    const [taken, free] = await Promise.all([
      put(site, token, { email: 'carol@example.org' }),
      site.login(site.bob).then((bob) => put(site, bob, { email: 'free@example.org' }, site.bob.idTag)),
    ])
    expect([taken.status, free.status]).toEqual([200, 200])
    expect(Object.keys(taken.json.data.pending)).toEqual(Object.keys(free.json.data.pending))
  })

  test('is refused at a suspended account, and so is its link', async () => {
    const { site, token } = await openProven(open)
    await put(site, token, { email: newAddress })
    const ref = await mailedToken(site)
    await suspend(site)
    expect((await put(site, token, { email: newAddress })).status).not.toBe(200)
    expect((await confirm(site, ref)).status).not.toBe(200)
    expect((await findAccount(site.db.reader(site.alice.tenantId)))?.email).toBe(oldAddress)
  })
})

onSqlite('an address set by the operator', (open) => {
  test('counts at once, ends what was mailed to the former one, and is told there', async () => {
    const { site, token } = await openProven(open)
    const reset = await mailedReset(site)
    await put(site, token, { email: 'asked@example.org' })
    const asked = await mailedToken(site, 'asked@example.org')
    const set = await replaceEmail(site.deps, { tenant: site.alice, email: newAddress })
    expect(set).toEqual({ email: newAddress, former: oldAddress })
    expect(await shown(site, token)).toEqual({ address: newAddress, verified: true })
    refused(await setPassword(site, reset), 410, 'E-GONE')
    refused(await confirm(site, asked), 410, 'E-GONE')
    expect(await mails(site)).toMatchObject([{ to: oldAddress, subject: 'Your e-mail address was changed' }])
  })

  test('is none for a community', async () => {
    const site = await openSignInSite(open)
    const club = await site.makeTenant('club.example.com', { type: 'community' })
    await expect(replaceEmail(site.deps, { tenant: club, email: newAddress })).rejects.toMatchObject({
      code: 'E-STATE',
    })
    await expect(replaceEmail(site.deps, { tenant: site.bob, email: 'no address' })).rejects.toMatchObject({
      code: 'E-VALIDATION',
    })
  })
})
