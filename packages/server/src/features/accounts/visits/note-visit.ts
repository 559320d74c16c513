import type { IdTag } from '@kith/protocol'
import { findRelation } from '#features/relations/index.ts'
import { isOpenFor } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { newSessionId } from '../sessions/session.ts'
import { type QueueLogoutDeps, queueForSessions } from './log-out-elsewhere.ts'
import { countVisits, findVisit, insertVisit, takeOldestVisits } from './visited-host-store.ts'

export interface NoteVisitDeps extends QueueLogoutDeps {
  readonly db: Database
}

// Of a tenant. Beyond them the oldest ends, whose client shows itself anew, under another name, if it is still there.
const maxVisits = 1000

/** Notes that the owner shows a session at the host of another identity, which is told when it ends. Answers the name of the
 * session there, which no other host knows. Fails when the session has ended, the tenant is suspended, or it blocks the identity. */
export async function noteVisit(
  deps: NoteVisitDeps,
  { tenant, caller, target, sid }: { tenant: Tenant; caller: Identified; target: IdTag; sid: string },
): Promise<string> {
  const key = { target, sid }
  const known = await findVisit(deps.db.reader(tenant.tenantId), key)
  if (known) return known.name
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const session = await assertSessionLives(deps, tx, caller)
    if (!(await isOpenFor(tx, undefined))) throw unauthenticated('revoked')
    await assertNotBlocked(tx, target)
    const surplus = (await countVisits(tx)) + 1 - maxVisits
    if (surplus > 0) await queueForSessions(deps, tx, await takeOldestVisits(tx, surplus))
    const visit = { ...key, name: newSessionId() }
    await insertVisit(tx, visit, { at: nowSecs(deps.clock), endsAt: session?.expiresAt })
    // Another request may have come first.
    return (await findVisit(tx, key))?.name ?? visit.name
  })
}

/** Nobody is shown to whom they block. */
export async function assertNotBlocked(reader: Reader, target: IdTag): Promise<void> {
  if ((await findRelation(reader, target))?.isBlocked)
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This identity is blocked.' })
}
