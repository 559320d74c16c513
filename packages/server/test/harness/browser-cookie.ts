import type { Received } from './http-site.ts'
import type { SignInSite } from './sign-in-site.ts'

/** What a page of the own origin sends beside its cookie. */
export const ownPage = { 'sec-fetch-site': 'same-origin', 'x-kith-browser': '1' }

interface Shown {
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieOf({ headers }: Received): string {
  return String(headers['set-cookie']?.[0]).split(';')[0] ?? ''
}

/** Signs in, and has the browser stay so. */
export async function startBrowser(site: SignInSite) {
  const token = await site.login(site.alice)
  const answer = await site.ask('POST', '/api/auth/browser-session', { token })
  return { token, answer, cookie: cookieOf(answer) }
}

/** Asks for a login token by the cookie. */
export function useBrowserCookie(
  site: Pick<SignInSite, 'ask'>,
  cookie: string,
  { host, headers = ownPage }: Shown = {},
): Promise<Received> {
  const asked = { headers: { ...headers, cookie }, ...(host === undefined ? {} : { host }) }
  return site.ask('GET', '/api/auth/login-token', asked)
}
