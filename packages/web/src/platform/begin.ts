import { type Begun, type BegunPlace, firstPathsOf, loginPath } from '#lib/begun.ts'

// This runs as a script of its own, which is there long before the app: it imports nothing that the app has as well.
const place = globalThis as BegunPlace
// Where the app came first after all it has asked by itself.
place.kithBegun ??= ask()

function ask(): Begun {
  // Kept alive: a page that is left before the answer would lose the new cookie, and the former one ends the session.
  const login = fetch(loginPath, { headers: { 'x-kith-browser': '1' }, cache: 'no-store', keepalive: true })
  const token = login.then(async (answer) => {
    if (!answer.ok) throw new Error('nobody is signed in')
    const { data } = (await answer.clone().json()) as { readonly data: { readonly token: string } }
    return data.token
  })
  const hasWorker = Boolean(navigator.serviceWorker?.controller)
  const begun: Begun = new Map()
  for (const path of firstPathsOf({ place: location, hasWorker })) begun.set(path, askFor(path, token))
  // What the app renders when it knows who is signed in takes long: by then everything is asked for.
  begun.set(
    loginPath,
    token.then(
      () => login,
      () => login,
    ),
  )
  // Whoever takes an answer is told what has failed.
  for (const answer of [token, ...begun.values()]) answer.catch(() => undefined)
  // A tab that is still loading has nobody else who hears that another one has signed out: nothing of it is to be shown here.
  new BroadcastChannel('kith').onmessage = () => begun.clear()
  return begun
}

async function askFor(path: string, token: Promise<string>): Promise<Response> {
  const headers = { authorization: `Bearer ${await token}` }
  return fetch(path, { headers, credentials: 'omit', cache: 'no-store' })
}
