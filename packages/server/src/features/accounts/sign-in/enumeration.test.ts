import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Received } from '#harness/http-site.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { TestAuthenticator } from '#harness/test-authenticator.ts'
import { newApiKey } from '../sessions/api-key.ts'

/** What a stranger can see of an answer, but for what is new in each. */
function seen({ status, headers, json }: Received) {
  const { reqId, time, ...body } = json
  expect([reqId, time]).not.toContain(undefined)
  const random = /"(challenge|sessionId|secret)":"[^"]*"/g
  return {
    status,
    headers: Object.keys(headers).sort(),
    body: JSON.stringify(body).replaceAll(random, '"$1":"…"'),
  }
}

/** The answers, and how many passwords were hashed for each. */
async function askAll(site: SignInSite, asks: readonly (() => Promise<Received>)[]) {
  const answers: (ReturnType<typeof seen> & { hashings: number })[] = []
  for (const ask of asks) {
    const before = site.world.hashings
    const answer = seen(await ask())
    answers.push({ ...answer, hashings: site.world.hashings - before })
  }
  return answers
}

async function expectAlike(site: SignInSite, asks: readonly (() => Promise<Received>)[]) {
  const [first, ...others] = await askAll(site, asks)
  for (const other of others) expect(other).toEqual(first)
  return first
}

eachDialect('a stranger cannot tell who has an account', (open) => {
  const people = ['alice.example.com', 'bob.example.com', 'nobody.example.com', 'nobody.elsewhere.example']

  test('by signing in with a password, whose check costs the same for everybody', async () => {
    const site = await openSignInSite(open)
    await site.makeTenant('new.example.com')
    const attempt = (idTag: string, host: string) => () =>
      site.ask('POST', '/api/auth/login', { host, body: { idTag, password: 'a wrong password' } })
    const answer = await expectAlike(site, [
      ...people.map((idTag) => attempt(idTag, 'alice.example.com')),
      // Has no password yet.
      attempt('new.example.com', 'new.example.com'),
    ])
    expect(answer).toMatchObject({ status: 401, hashings: 1 })
  })

  test('by saying that the password is forgotten', async () => {
    const site = await openSignInSite(open)
    const answer = await expectAlike(
      site,
      people.map((idTag) => () => site.ask('POST', '/api/auth/forgot-password', { body: { idTag } })),
    )
    expect(answer).toMatchObject({ status: 200, hashings: 0 })
  })

  test('by asking for a passkey challenge', async () => {
    const site = await openSignInSite(open)
    const answer = await expectAlike(
      site,
      people.map((idTag) => () => site.ask('GET', `/api/auth/wa/login/challenge?idTag=${idTag}`)),
    )
    expect(answer).toMatchObject({ status: 200 })
  })

  test('by a passkey: an unknown one, one of somebody else, one with a wrong signature', async () => {
    const site = await openSignInSite(open)
    const [alice, bob] = [
      new TestAuthenticator('alice.example.com'),
      new TestAuthenticator('bob.example.com'),
    ]
    for (const [tenant, authenticator] of [
      [site.alice, alice],
      [site.bob, bob],
    ] as const) {
      const asked = { host: tenant.idTag, token: await site.login(tenant) }
      const { json } = await site.ask('GET', '/api/auth/wa/reg/challenge', asked)
      const credential = authenticator.register({ challenge: json.data.challenge })
      const body = { name: 'Key', credential }
      expect((await site.ask('POST', '/api/auth/wa/reg', { ...asked, body })).status).toBe(201)
    }
    const signIn =
      (authenticator: TestAuthenticator, isForged = false) =>
      async () => {
        const { json } = await site.ask('GET', '/api/auth/wa/login/challenge')
        const credential = authenticator.authenticate({ challenge: json.data.challenge })
        if (isForged) credential.response.signature = Buffer.alloc(70, 1).toString('base64url')
        return site.ask('POST', '/api/auth/wa/login', { body: { credential } })
      }
    const answer = await expectAlike(site, [
      signIn(new TestAuthenticator('alice.example.com')),
      signIn(bob),
      signIn(alice, true),
    ])
    expect(answer).toMatchObject({ status: 401 })
    expect((await signIn(alice)()).status).toBe(200)
  })

  test('by credentials that are unknown, of another tenant or of no form at all', async () => {
    const site = await openSignInSite(open)
    const bobs = await site.login(site.bob)
    const token = (value: string) => () =>
      site.ask('GET', `/api/auth/access-token?token=${encodeURIComponent(value)}`)
    const answer = await expectAlike(site, [token('x.y.z'), token('nothing')])
    expect(answer).toMatchObject({ status: 401 })
    const made = { host: site.bob.idTag, token: bobs, body: { name: 'Backup' } }
    const { key } = (await site.ask('POST', '/api/auth/api-keys', made)).json.data
    await expectAlike(site, [token(newApiKey()), token(key)])
    // A session’s token says itself whose it is: the answer that it is another tenant’s tells nothing new.
    refused(await token(bobs)(), 401, 'E-AUTH-UNAUTH')
  })
})
