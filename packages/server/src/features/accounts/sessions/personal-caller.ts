import { type Identified, isPersonal } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Session } from './session.ts'
import { findSession } from './session-store.ts'

const recentSecs = 15 * 60

/** The owner in person who proved so lately: a stolen token must not be able to dig itself in. */
export function assertRecentlySignedIn({ clock }: { readonly clock: Clock }, caller: Identified): void {
  if (!isPersonal(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  if (nowSecs(clock) - (caller.signedInAt ?? 0) > recentSecs)
    throw new Failure('E-AUTH-FORBIDDEN', {
      message: 'Sign in again to do this.',
      details: { reason: 'sign-in-again' },
    })
}

/** For what outlives the request, in the transaction that makes it: the session may have ended since the bearer was
 * checked, or in another process. Answers the session; a bare proxy token has none. */
export async function assertSessionLives(
  { clock }: { readonly clock: Clock },
  reader: Reader,
  { sessionId }: Pick<Identified, 'sessionId'>,
): Promise<Session | undefined> {
  if (sessionId === undefined) return undefined
  const session = await findSession(reader, sessionId)
  if (!session || (session.expiresAt ?? Number.POSITIVE_INFINITY) <= nowSecs(clock))
    throw new Failure('E-AUTH-UNAUTH')
  return session
}
