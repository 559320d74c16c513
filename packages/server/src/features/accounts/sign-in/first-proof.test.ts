import { parseRefId, type RefId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { TestAuthenticator } from '#harness/test-authenticator.ts'
import { mailReference } from '../mails/queue-account-mail.ts'
import { listPasskeys } from '../passkeys/passkey-store.ts'
import { replacePassword } from '../passwords/replace-password.ts'
import { makeReference } from '../references/make-reference.ts'
import { findReference } from '../references/reference-store.ts'

const newPassword = 'another good one'

/** Everything with which somebody may come back: made by whoever is signed in. */
async function digIn(site: SignInSite) {
  const token = await site.login(site.alice)
  const post = (path: string, body: object) => site.ask('POST', path, { token, body })
  const { key } = (await post('/api/auth/api-keys', { name: 'Backup' })).json.data
  const { challenge } = (await site.ask('GET', '/api/auth/wa/reg/challenge', { token })).json.data
  const credential = new TestAuthenticator(site.alice.idTag).register({ challenge })
  expect((await post('/api/auth/wa/reg', { name: 'Phone', credential })).status).toBe(201)
  const resourceId = `b1~${'A'.repeat(43)}`
  site.world.fileAccess.set(`${site.alice.idTag} ${resourceId as never}`, 'write')
  const { refId } = (await post('/api/refs', { type: 'share.file', resourceId, count: null })).json.data
  const guest = (await site.ask('GET', `/api/auth/access-token?ref=${refId}`)).json.data.token
  const access = (await site.ask('GET', '/api/auth/access-token', { token: key })).json.data.token
  return { token, key, refId: refId as RefId, guest, access }
}

async function mailed(site: SignInSite, type: 'welcome' | 'password-reset' | 'email-verify') {
  await site.db.transact(site.alice.tenantId, (tx) => mailReference(site.deps, tx, { type, validSecs: 3600 }))
  await site.jobs.settle()
  // Notices without a link, of what was done before, may be sent after it.
  const links = site.world.mails.map(({ text }) => /#token=([0-9A-Za-z]{24})/.exec(text)?.[1])
  const refId = links.findLast((link) => link !== undefined)
  if (refId === undefined) throw new Error('no mail with a link was sent')
  return refId
}

const set = (site: SignInSite, token: string, more: object = {}) =>
  site.ask('POST', '/api/auth/set-password', { body: { token, password: newPassword, ...more } })

async function left(site: SignInSite, made: Awaited<ReturnType<typeof digIn>>) {
  const opens = async (token: string) =>
    (await site.ask('GET', '/api/auth/access-token', { token })).status === 200
  const reader = site.db.reader(site.alice.tenantId)
  return {
    session: await opens(made.token),
    key: await opens(made.key),
    keyToken: await opens(made.access),
    guest: await opens(made.guest),
    passkey: (await listPasskeys(reader)).length === 1,
    reference: (await findReference(reader, made.refId)) !== undefined,
  }
}

const all = { session: true, key: true, keyToken: true, guest: true, passkey: true, reference: true }
const none = { session: false, key: false, keyToken: false, guest: false, passkey: false, reference: false }

eachDialect('the first proof of an address', (open) => {
  test.each(['welcome', 'email-verify', 'password-reset'] as const)(
    'by %s ends all that was made before',
    async (type) => {
      const site = await openSignInSite(open)
      const made = await digIn(site)
      expect(await left(site, made)).toEqual(all)
      const refId = await mailed(site, type)
      expect((await set(site, refId, { signOutEverything: false })).status).toBe(200)
      expect(await left(site, made)).toEqual(none)
      expect(
        (
          await site.ask('POST', '/api/auth/login', {
            body: { idTag: site.alice.idTag, password: newPassword },
          })
        ).status,
      ).toBe(200)
    },
  )
})

eachDialect('a reset', (open) => {
  async function proven(site: SignInSite) {
    await set(site, await mailed(site, 'email-verify'))
    await site.ask('POST', '/api/auth/login', { body: { idTag: site.alice.idTag, password: newPassword } })
  }

  test.each([
    ['by reset', 'password-reset', {}, { ...none, guest: true, reference: true }],
    ['by reset, sparing them', 'password-reset', { signOutEverything: false }, { ...all, session: false }],
    ['by another reference', 'email-verify', {}, { ...all, session: false }],
    [
      'by another one, when asked',
      'email-verify',
      { signOutEverything: true },
      { ...none, guest: true, reference: true },
    ],
  ] as const)('%s of a proven account leaves what it should', async (_, type, more, expected) => {
    const site = await openSignInSite(open)
    await proven(site)
    const made = await digIn({ ...site, login: () => signIn(site) })
    expect((await set(site, await mailed(site, type), more)).status).toBe(200)
    expect(await left(site, made)).toEqual(expected)
  })

  test.each([
    ['ends API keys and passkeys', {}, { ...none, guest: true, reference: true }],
    ['spares them when told so', { signOutEverything: false }, { ...all, session: false }],
  ])('by who runs the server %s', async (_, more, expected) => {
    const site = await openSignInSite(open)
    const made = await digIn(site)
    await replacePassword(site.deps, { tenant: site.alice, password: newPassword, ...more })
    expect(await left(site, made)).toEqual(expected)
  })

  test('with a printed link proves no address', async () => {
    const site = await openSignInSite(open)
    const made = await digIn(site)
    const { refId } = await site.db.transact(site.alice.tenantId, (tx) =>
      makeReference(site.deps, tx, { type: 'welcome' }),
    )
    expect(parseRefId(refId)).toBeDefined()
    expect((await set(site, refId)).status).toBe(200)
    expect(await left(site, made)).toEqual({ ...all, session: false })
  })

  test('refuses what is no yes or no', async () => {
    const site = await openSignInSite(open)
    const answer = await set(site, await mailed(site, 'password-reset'), { signOutEverything: 'all' })
    refused(answer, 400, 'E-VALIDATION')
  })
})

async function signIn(site: SignInSite): Promise<string> {
  const body = { idTag: site.alice.idTag, password: newPassword }
  return (await site.ask('POST', '/api/auth/login', { body })).json.data.token
}
