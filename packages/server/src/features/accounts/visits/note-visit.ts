import type { IdTag } from '@kith/protocol'
import { isOpenFor } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { type QueueLogoutDeps, queueForSessions } from './log-out-elsewhere.ts'
import { countVisits, hasVisited, insertVisit, takeOldestVisits } from './visited-host-store.ts'

export interface NoteVisitDeps extends QueueLogoutDeps {
  readonly db: Database
}

// Of a tenant. Beyond them the oldest ends, whose client shows itself anew if it is still there.
const maxVisits = 1000

/** Notes that the owner shows a session at the host of another identity, which is told when it ends. Fails when the session
 * has ended, or the tenant is suspended. */
export async function noteVisit(
  deps: NoteVisitDeps,
  { tenant, caller, target, sid }: { tenant: Tenant; caller: Identified; target: IdTag; sid: string },
): Promise<void> {
  const visit = { target, sid }
  if (await hasVisited(deps.db.reader(tenant.tenantId), visit)) return
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const session = await assertSessionLives(deps, tx, caller)
    if (!(await isOpenFor(tx, undefined))) throw new Failure('E-AUTH-UNAUTH')
    const surplus = (await countVisits(tx)) + 1 - maxVisits
    if (surplus > 0) await queueForSessions(deps, tx, await takeOldestVisits(tx, surplus))
    await insertVisit(tx, visit, { at: nowSecs(deps.clock), endsAt: session?.expiresAt })
  })
}
