import { type Identified, isPersonal } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import type { Session } from './session.ts'
import { findSession } from './session-store.ts'

const recentSecs = 15 * 60

/** Fails unless the caller is the owner in person and signed in recently: a stolen token must not gain lasting access. */
export function assertRecentlySignedIn({ clock }: { readonly clock: Clock }, caller: Identified): void {
  if (!isPersonal(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  if (nowSecs(clock) - (caller.signedInAt ?? 0) > recentSecs)
    throw new Failure('E-AUTH-FORBIDDEN', {
      message: 'Sign in again to do this.',
      details: { reason: 'sign-in-again' },
    })
}

/** To be called in the transaction that makes what outlives the request: the session may have ended since the bearer was
 * checked, or in another process. Answers the session; a bare proxy token has none. */
export async function assertSessionLives(
  { clock }: { readonly clock: Clock },
  reader: Reader,
  { sessionId }: Pick<Identified, 'sessionId'>,
): Promise<Session | undefined> {
  if (sessionId === undefined) return undefined
  const session = await findSession(reader, sessionId)
  if (!session) throw unauthenticated('revoked')
  if ((session.expiresAt ?? Number.POSITIVE_INFINITY) <= nowSecs(clock)) throw unauthenticated('expired')
  return session
}
