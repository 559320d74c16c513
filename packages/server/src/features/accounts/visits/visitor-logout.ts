import { clockSkewSecs } from '#lib/clock.ts'
import { type IdentityToken, longestLifeSecs } from '../sessions/identity-token.ts'
import type { ProxyToken } from '../sessions/proxy-token.ts'

/** What has ended of that which an identity proved at a tenant. All times are Unix seconds. */
export interface VisitorLogout {
  /** Proxy tokens issued then or earlier, by the clock of the identity's server. */
  readonly before: number
  /** Those made in these sessions, as that server names them, and when it said so. */
  readonly sessions: readonly { readonly sid: string; readonly at: number }[]
}

/** What was proved in a session, or up to a time. */
export type EndOfVisits =
  | { readonly sid: string; readonly before?: never }
  | { readonly sid?: never; readonly before: number }

/** How long it is remembered: a token may have been issued by a clock that is ahead. */
export const logoutKeptSecs = 2 * longestLifeSecs
// Beyond them all that the identity has shown so far has ended, and its other sessions show themselves anew.
const maxSessions = 16

export const nothingEnded: VisitorLogout = { before: -1, sessions: [] }

/** Has the proxy token ended, or the session in which it was made? */
export function isLoggedOut(
  { before, sessions }: VisitorLogout,
  { issuedAt, homeSid }: Pick<ProxyToken, 'issuedAt' | 'homeSid'>,
): boolean {
  return issuedAt <= before || (homeSid !== undefined && sessions.some(({ sid }) => sid === homeSid))
}

/** What a logout token says; undefined for one that is malformed. */
export function endOf({ sid, issuedAt, claims }: IdentityToken): EndOfVisits | undefined {
  if (sid !== undefined) return { sid }
  if (claims.sid !== undefined) return undefined
  const { before = issuedAt } = claims
  return Number.isSafeInteger(before) && Number(before) >= 0 ? { before: Number(before) } : undefined
}

/** What has ended after one more is said, at `now`, by a token that was issued at `issuedAt`. */
export function withEnd(
  known: VisitorLogout,
  { sid, before = 0 }: EndOfVisits,
  { now, issuedAt }: { readonly now: number; readonly issuedAt: number },
): VisitorLogout {
  // Nothing is said of tokens that do not exist yet.
  if (sid === undefined)
    return { ...known, before: Math.max(known.before, Math.min(before, now + clockSkewSecs)) }
  const others = known.sessions.filter((one) => one.sid !== sid && one.at > now - logoutKeptSecs)
  const sessions = [...others, { sid, at: now }]
  if (sessions.length <= maxSessions) return { ...known, sessions }
  return { before: Math.max(known.before, issuedAt), sessions: sessions.slice(-maxSessions) }
}
