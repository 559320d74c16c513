import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteExpiredBrowserSessions } from '../browser-sessions/browser-session-store.ts'
import { deleteExpiredSessions, deleteRevokedSessions } from './session-sweep-store.ts'
import { keptAfterEndSecs } from './start-session.ts'

const tenMinutesMs = 10 * 60_000

/** Removes sessions of all tenants that ended a day ago, and cookies of browsers that have ended. */
export function addSessionSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  const upTo = () => nowSecs(clock) - keptAfterEndSecs - 1
  addSweep(
    deps,
    { name: 'sessions.sweep', everyMs: tenMinutesMs },
    (tx, limit) => deleteExpiredSessions(tx, { upTo: upTo(), limit }),
    (tx, limit) => deleteRevokedSessions(tx, { upTo: upTo(), limit }),
    (tx, limit) => deleteExpiredBrowserSessions(tx, { upTo: nowSecs(clock), limit }),
  )
}
