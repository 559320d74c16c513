import { createClient } from '@kith/client'
import {
  changePassword,
  getPasskeyLoginChallenge,
  type LoginSession,
  login,
  loginWithPasskey,
  logout,
} from '@kith/protocol'
import { openMedia } from './media.ts'
import { keepPush } from './push.ts'
import { currentToken, replaceSession, session, takeLogin } from './session.ts'

const withoutCookie: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'omit' })

/** Without the cookie, and without a new token when one is refused. */
function clientWith(token: string | undefined) {
  return createClient({
    baseUrl: location.origin,
    fetch: withoutCookie,
    ...(token === undefined ? {} : { token }),
  })
}

/** Whether passkeys can work here: only in a secure context. */
export function canUsePasskeys(): boolean {
  return window.isSecureContext && 'PublicKeyCredential' in window
}

/** Proves with the password who uses the app: the session begins anew. */
export async function signInAnew(password: string): Promise<void> {
  await replaceLogin(() => logInWith(password))
}

/** The same with a passkey. */
export async function signInAnewWithPasskey(): Promise<void> {
  await replaceLogin(logInWithPasskey)
}

/** Changes the password, which ends every session, and begins the present one anew. */
export async function changePasswordHere(present: string, next: string): Promise<void> {
  await replaceLogin(async () => {
    const body = { currentPassword: present, newPassword: next }
    await clientWith(currentToken()).call(changePassword, { body })
    return await logInWith(next)
  })
}

async function replaceLogin(logIn: () => Promise<LoginSession>): Promise<void> {
  const former = currentToken()
  await replaceSession(async () => takeLogin(await logIn()))
  await openMedia()
  await keepPush().catch(() => undefined)
  // A changed password has ended it already.
  if (former !== undefined)
    await clientWith(former)
      .call(logout)
      .catch(() => undefined)
}

async function logInWith(password: string): Promise<LoginSession> {
  const { data } = await clientWith(undefined).call(login, { body: { idTag: ownIdTag(), password } })
  return data
}

async function logInWithPasskey(): Promise<LoginSession> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const client = clientWith(undefined)
  const { data: challenge } = await client.call(getPasskeyLoginChallenge, { query: { idTag: ownIdTag() } })
  const optionsJSON = challenge.options as unknown as Parameters<typeof startAuthentication>[0]['optionsJSON']
  const { id, rawId, response } = await startAuthentication({ optionsJSON })
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  const answer = { clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) }
  const credential = { id, rawId, type: 'public-key', response: answer } as const
  return (await client.call(loginWithPasskey, { body: { credential } })).data
}

function ownIdTag(): string {
  const present = session.get()
  return 'login' in present ? present.login.idTag : ''
}
