// One request to the API of this origin, and the token that goes with it.

// In memory alone, so that it ends with the page. Each page gets its own by the cookie of this browser, which no script reads
// (docs/protocol/sign-in.md, Browser sessions).
let token = null
/** The answer that is awaited. */
let resuming

export function hasToken() {
  return token !== null
}

export function keepToken(given) {
  token = given
}

export function dropToken() {
  token = null
}

/** An answer that is no success; `code` is one of the API, or `offline`; `reason` says more where the API does, and
 * `waitSecs` after how many seconds another try is worth it. */
export class Problem extends Error {
  constructor(code, message, { reason, waitSecs } = {}) {
    super(message)
    this.code = code
    this.reason = reason
    this.waitSecs = waitSecs
  }
}

/** The login of this browser, with a token from now on; undefined where nobody is signed in. */
export function resume() {
  resuming ??= askForLogin().finally(() => {
    resuming = undefined
  })
  return resuming
}

async function askForLogin() {
  const asked = { token: null, takesCookie: true, headers: { 'x-kith-browser': '1' } }
  const login = await call('GET', '/api/auth/login-token', asked).catch((error) => {
    if (error.code !== 'E-AUTH-UNAUTH') throw error
  })
  token = login?.token ?? null
  return login
}

/** Whether browsers keep the cookie of a sign-in at this address: with https, or on their own machine. */
export const keepsCookies =
  isSecureContext || /^(?:(?:.*\.)?localhost|127\..*|\[::1\])$/.test(location.hostname)

/** Signs this browser in, for the pages that come. False where it keeps no cookie. */
export async function keepSignedIn(login) {
  // What was asked before would drop the token when it is refused.
  await resuming?.catch(() => undefined)
  keepToken(login.token)
  await call('POST', '/api/auth/browser-session', { takesCookie: true })
  return (await resume()) !== undefined
}

/** The `data` of a good answer; throws a `Problem` otherwise. `token`: another than that of who is signed in, or null.
 * Of a list that goes on: its `items` and `nextCursor`. */
export async function call(method, path, given = {}) {
  const isOwn = given.token === undefined && token !== null
  try {
    return await send(method, path, given)
  } catch (error) {
    // The token may have expired while the page was open.
    if (!isOwn || error.code !== 'E-AUTH-UNAUTH' || !(await resume())) throw error
    return await send(method, path, given)
  }
}

async function send(method, path, { body, headers = {}, takesCookie = false, ...given }) {
  const { token: shown = token } = given
  const response = await fetch(path, {
    method,
    credentials: takesCookie ? 'same-origin' : 'omit',
    cache: 'no-store',
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(shown === null ? {} : { authorization: `Bearer ${shown}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Problem('offline', '')
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok && answer.cursorPagination)
    return { items: answer.data, nextCursor: answer.cursorPagination.nextCursor }
  if (response.ok) return answer.data
  const { code = 'offline', message = response.statusText, details } = answer.error ?? {}
  const waitSecs = Number(response.headers.get('retry-after')) || undefined
  throw new Problem(code, message, { reason: details?.reason, waitSecs })
}
