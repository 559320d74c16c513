import type { Identified } from '#infra/caller/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

const recentSecs = 15 * 60

/** The owner in person: with a token that came from a sign-in. An API key, or whoever else, may not touch what signing
 * in rests on. */
export function assertPersonal(caller: Identified): void {
  if (!caller.isOwner || caller.signedInAt === undefined) throw new Failure('E-AUTH-FORBIDDEN')
}

/** The owner in person who proved so lately: a stolen token must not be able to dig itself in. */
export function assertRecentlySignedIn({ clock }: { readonly clock: Clock }, caller: Identified): void {
  assertPersonal(caller)
  if (nowSecs(clock) - (caller.signedInAt ?? 0) > recentSecs)
    throw new Failure('E-AUTH-FORBIDDEN', {
      message: 'Sign in again to do this.',
      details: { reason: 'sign-in-again' },
    })
}
