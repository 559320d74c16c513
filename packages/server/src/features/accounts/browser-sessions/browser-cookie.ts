import { type BrowserRequest, browserCookieNames } from '#infra/http/index.ts'

type Place = Pick<BrowserRequest, 'isPlainLoopback'>

/** The value of the cookie in a `Cookie` header; undefined where it is absent or stands there more than once. */
export function cookieValueOf({ cookie = '', isPlainLoopback }: BrowserRequest): string | undefined {
  const name = nameOf({ isPlainLoopback })
  const values = cookie.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=')
    return key.trim() === name ? [value.join('=').trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** The header that gives the cookie to a browser. */
export function setCookie(place: Place, value: string, forSecs: number): Record<string, string> {
  return { 'set-cookie': `${nameOf(place)}=${value}; Max-Age=${forSecs}; ${attributesOf(place)}` }
}

/** The header that takes the cookie from a browser. */
export function clearCookie(place: Place): Record<string, string> {
  return setCookie(place, '', 0)
}

function nameOf({ isPlainLoopback }: Place): string {
  return isPlainLoopback ? browserCookieNames.plain : browserCookieNames.secure
}

function attributesOf({ isPlainLoopback }: Place): string {
  return `Path=/; HttpOnly; SameSite=Strict${isPlainLoopback ? '' : '; Secure'}`
}
