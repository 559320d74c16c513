// One request to the API of this origin, and the token that goes with it.

// Of this tab alone: it ends with the tab, and no other page can make the browser send it.
const tokenName = 'kith.token'

export function hasToken() {
  return sessionStorage.getItem(tokenName) !== null
}

export function keepToken(token) {
  sessionStorage.setItem(tokenName, token)
}

export function dropToken() {
  sessionStorage.removeItem(tokenName)
}

/** An answer that is no success; `code` is one of the API, or `offline`. */
export class Problem extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

/** The `data` of a good answer; throws a `Problem` otherwise. `token`: another than that of who is signed in, or null.
 * Of a list that goes on: its `items` and `nextCursor`. */
export async function call(method, path, { body, headers = {}, ...given } = {}) {
  const { token = sessionStorage.getItem(tokenName) } = given
  const response = await fetch(path, {
    method,
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Problem('offline', '')
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok && answer.cursorPagination)
    return { items: answer.data, nextCursor: answer.cursorPagination.nextCursor }
  if (response.ok) return answer.data
  throw new Problem(answer.error?.code ?? 'offline', answer.error?.message ?? response.statusText)
}
