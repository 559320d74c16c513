import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { qrLifeSecs } from '../qr/qr-session.ts'
import { deleteEmptyBuckets, deleteEndedChallenges, deleteEndedQrSessions } from './sign-in-sweep-store.ts'

const tenMinutesMs = 10 * 60_000

/** Removes what is left of sign-ins at all tenants: attempts that count no more, QR sessions, challenges. */
export function addSignInSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(
    deps,
    { name: 'sign-in.sweep', everyMs: tenMinutesMs },
    (tx, limit) => deleteEmptyBuckets(tx, { upTo: clock.now() - 1, limit }),
    // Ended sessions are kept for as long again, so that a late poll is told that they have expired.
    (tx, limit) => deleteEndedQrSessions(tx, { upTo: nowSecs(clock) - qrLifeSecs - 1, limit }),
    (tx, limit) => deleteEndedChallenges(tx, { upTo: nowSecs(clock), limit }),
  )
}
