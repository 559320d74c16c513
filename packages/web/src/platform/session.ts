import { createClient, KithError } from '@kith/client'
import { type LoginSession, logout, refreshLogin, startBrowserSession } from '@kith/protocol'
import { createStore } from '#lib/store.ts'
import { takeBegun } from './begun.ts'
import { type KeptLogin, keepFor, openKept } from './kept.ts'
import { keepAgain, wipeAge, wipeDevice } from './wipe.ts'

/** Who uses the app. `expired`: somebody did, and has to sign in again to go on. `unreachable`: the app was opened without
 * its server, for who used it last. */
export type Session =
  | { readonly state: 'opening' | 'signed-out' }
  | { readonly state: 'signed-in'; readonly login: LoginSession }
  | { readonly state: 'expired' | 'unreachable'; readonly login: KeptLogin }

/** The session of this tab. Its token stays in memory: what keeps a browser signed in is a cookie no script reads. */
export const session = createStore<Session>({ state: 'opening' })

const tabs = new BroadcastChannel('kith')
tabs.onmessage = ({ data }) => {
  if (data === 'signed-out') {
    session.set({ state: 'signed-out' })
    void wipeDevice()
  }
  // One that the server has not told of it asks.
  if (data === 'ended' && currentLogin()) void resumeAnew().catch(() => undefined)
}

function currentLogin(): unknown {
  const present = session.get()
  return present.state === 'expired' || !('login' in present) ? undefined : present.login
}

// The one endpoint that takes the cookie, and the one that sets it: what is set is kept by a browser that has left the page.
const withCookie: typeof fetch = (input, init) =>
  takeBegun(input, init) ??
  fetch(input, {
    ...init,
    credentials: 'same-origin',
    keepalive: true,
    headers: { ...(init?.headers as Record<string, string>), 'x-kith-browser': '1' },
  })
const cookieClient = createClient({ baseUrl: location.origin, fetch: withCookie })

let resuming: Promise<boolean> | undefined

/** Has the browser's session give a new token. False when there is none any more; throws when the server cannot be asked. */
export function resumeSession(): Promise<boolean> {
  resuming ??= askForLogin().finally(() => {
    resuming = undefined
  })
  return resuming
}

/** The same after word that a session has ended: an answer that is on its way may be from before. */
export async function resumeAnew(): Promise<boolean> {
  await resuming?.catch(() => undefined)
  return resumeSession()
}

async function askForLogin(): Promise<boolean> {
  const since = wipeAge()
  try {
    const { data } = await cookieClient.call(refreshLogin)
    // Another tab has signed out meanwhile.
    if (since !== wipeAge()) return false
    begin(data)
    return true
  } catch (error) {
    if (!(error instanceof KithError) || error.code !== 'E-AUTH-UNAUTH') throw error
    // A page that has only begun goes to the sign-in at once, and what it has not done by then is not done.
    if (session.get().state === 'opening') await wipeDevice()
    tabs.postMessage('ended')
    end()
    await wipeDevice()
    return false
  }
}

function begin(login: LoginSession): void {
  keepAgain()
  session.set({ state: 'signed-in', login })
  void keepFor(login)
}

/** Opens the app for who used it last, to read what this device keeps; false where it keeps nothing. */
export async function openWithoutServer(): Promise<boolean> {
  const login = await openKept()
  if (login && session.get().state === 'opening') session.set({ state: 'unreachable', login })
  return login !== undefined
}

function end(): void {
  const present = session.get()
  session.set('login' in present ? { state: 'expired', login: present.login } : { state: 'signed-out' })
}

/** The bearer of the present session. */
export function currentToken(): string | undefined {
  const present = session.get()
  return present.state === 'signed-in' ? present.login.token : undefined
}

/** Takes the place of the session by what `work` does: whoever wants a new token meanwhile waits for its end. `work` must not
 * ask for one itself. */
export async function replaceSession(work: () => Promise<void>): Promise<void> {
  await resuming?.catch(() => undefined)
  const replaced = work()
  const settled = replaced.then(
    () => true,
    () => false,
  )
  resuming = settled
  try {
    await replaced
  } finally {
    if (resuming === settled) resuming = undefined
  }
}

/** Goes on with a login that was made just now, and keeps this browser signed in. */
export async function takeLogin(login: LoginSession): Promise<void> {
  const client = createClient({ baseUrl: location.origin, fetch: withCookie, token: login.token })
  await client.call(startBrowserSession)
  begin(login)
}

/** Takes over a setting that comes with the sign-in, when it was changed since. */
export function takeSetting(name: string, value: string): void {
  const present = session.get()
  if (!('login' in present)) return
  const others = present.login.settings.filter(([known]) => known !== name)
  session.set({ ...present, login: { ...present.login, settings: [...others, [name, value]] } } as Session)
}

/** Ends the session of this browser, in all its tabs, and leaves the app with nothing kept. Fails where the server cannot be
 * told: the cookie would sign this browser in again. */
export async function signOut(): Promise<void> {
  const client = createClient({ baseUrl: location.origin, fetch: withCookie, token: currentToken })
  await client.call(logout).catch((error) => {
    if (!(error instanceof KithError)) throw error
  })
  tabs.postMessage('signed-out')
  await wipeDevice()
  location.replace('/login')
}
