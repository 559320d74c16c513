import { ok, strictEqual } from 'node:assert/strict'
import { TestAuthenticator } from '../packages/server/test/harness/test-authenticator.ts'
import { type Guest, type GuestAddress, tokenIn } from './demo-guest.ts'
import { request, say, step } from './demo-stage.ts'

/** A guest who sends the requests that the pages would send, with an authenticator in software. */
export function httpGuest({ idTag, email, password, url, homeUrl }: GuestAddress): Guest {
  const authenticator = new TestAuthenticator(idTag)
  let token = ''
  return {
    means: 'HTTP alone, with an authenticator in software: there is no Chromium here',

    async register(link) {
      const wanted = { type: 'idp', idTag, token: tokenIn(link) }
      const verified = await step('guest asks for a name', 'POST', `${homeUrl}/api/profiles/verify`, {
        json: wanted,
      })
      strictEqual(verified.data.available, true)
      const json = { ...wanted, email, lang: 'en' }
      const made = await step('guest registers', 'POST', `${homeUrl}/api/profiles/register`, { json })
      strictEqual(made.data.idTag, idTag)
    },

    async choosePassword(link) {
      strictEqual(new URL(link).origin, url)
      const json = { token: tokenIn(link), password }
      await step('guest chooses a password', 'POST', `${url}/api/auth/set-password`, { json })
    },

    async signIn() {
      const json = { idTag, password }
      const { data } = await step('guest signs in with it', 'POST', `${url}/api/auth/login`, { json })
      token = String(data.token)
    },

    async addPasskey() {
      const path = `${url}/api/auth/wa/reg`
      const { data } = await step('guest asks to add a passkey', 'GET', `${path}/challenge`, { token })
      const credential = authenticator.register({ challenge: String(data.challenge), origin: url })
      const json = { name: 'Software', credential }
      await step('guest adds it', 'POST', path, { token, json })
    },

    async signInWithPasskey() {
      const path = `${url}/api/auth/wa/login`
      const { data } = await step('guest asks to sign in with it', 'GET', `${path}/challenge?idTag=${idTag}`)
      strictEqual((data.allowCredentials as unknown as object[]).length, 1)
      const credential = authenticator.authenticate({ challenge: String(data.challenge), origin: url })
      const signedIn = await step('guest signs in with the passkey', 'POST', path, { json: { credential } })
      token = String(signedIn.data.token)
    },

    async signInElsewhere() {
      const path = `${url}/api/auth/qr-login`
      const shown = await step('a second device shows a code', 'POST', `${path}/init`)
      const session = `${path}/${String(shown.data.sessionId)}`
      const headers = { 'x-qr-secret': String(shown.data.secret) }
      const waiting = request('GET', `${session}/status?timeout=20`, { headers })
      const details = await step('the first device looks at it', 'GET', `${session}/details`, { token })
      strictEqual(details.data.idTag, idTag)
      const json = { approved: true }
      await step('and agrees', 'POST', `${session}/respond`, { token, json })
      const answer = await waiting
      say('the second device is signed in', `GET ${session}/status`, answer.status, answer.tookMs)
      const login = answer.data.login as unknown as { readonly token: string }
      const own = await step('and reads who it is', 'GET', `${url}/api/me`, { token: login.token })
      strictEqual(own.data.idTag, idTag)
      ok(Array.isArray(own.data.roles), 'the owner sees the roles')
    },

    leave: async () => undefined,
  }
}
