import type { ProxyToken } from '../sessions/proxy-token.ts'

/** Which proxy tokens of an identity have ended at a tenant. */
export interface VisitorLogout {
  /** Unix seconds: those issued then or earlier. */
  readonly before: number
  /** Those made in these sessions, as the identity's server names them. */
  readonly sids: readonly string[]
}

/** Has the proxy token ended, or the session in which it was made? */
export function isLoggedOut(
  logout: VisitorLogout | undefined,
  { issuedAt, homeSid }: Pick<ProxyToken, 'issuedAt' | 'homeSid'>,
): boolean {
  if (!logout) return false
  return issuedAt <= logout.before || (homeSid !== undefined && logout.sids.includes(homeSid))
}
