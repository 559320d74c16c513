import type { Writer } from '#infra/db/index.ts'
import { addSweep, type Jobs, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteExpiredBrowserSessions } from '../browser-sessions/browser-session-store.ts'
import { queueForSessions } from '../visits/log-out-elsewhere.ts'
import { listEndedVisits, takeVisits } from '../visits/visited-host-store.ts'
import { deleteOldLogouts } from '../visits/visitor-logout-store.ts'
import { deleteExpiredSessions, deleteRevokedSessions } from './session-sweep-store.ts'
import { keptAfterEndSecs } from './start-session.ts'

const tenMinutesMs = 10 * 60_000

interface SessionSweepDeps extends SweepDeps {
  readonly clock: Clock
  readonly jobs: SweepDeps['jobs'] & Pick<Jobs, 'enqueueAll'>
}

/** Removes sessions of all tenants that ended a day ago, and cookies of browsers that have ended; tells other hosts of sessions
 * that have ended by their time. */
export function addSessionSweep(deps: SessionSweepDeps): void {
  const { clock } = deps
  const upTo = () => nowSecs(clock) - keptAfterEndSecs - 1
  addSweep(
    deps,
    { name: 'sessions.sweep', everyMs: tenMinutesMs },
    (tx, limit) => endVisits(deps, tx, limit),
    (tx, limit) => deleteExpiredSessions(tx, { upTo: upTo(), limit }),
    (tx, limit) => deleteRevokedSessions(tx, { upTo: upTo(), limit }),
    (tx, limit) => deleteExpiredBrowserSessions(tx, { upTo: nowSecs(clock), limit }),
    (tx, limit) => deleteOldLogouts(tx, { upTo: nowSecs(clock), limit }),
  )
}

async function endVisits(deps: SessionSweepDeps, tx: Writer, limit: number): Promise<number> {
  const ended = await listEndedVisits(tx, { upTo: nowSecs(deps.clock), limit })
  for (const { tenantId, target, sid } of ended) {
    const own = tx.as(tenantId)
    await queueForSessions(deps, own, await takeVisits(own, { target, sid }))
  }
  return ended.length
}
