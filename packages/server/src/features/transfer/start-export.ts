import { randomBytes } from 'node:crypto'
import type { ExportTicket } from '@kith/protocol'
import { assertRecentlySignedIn, assertSessionLives, secretHash } from '#features/accounts/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { isRunning, secsToNext, ticketSecs } from './account-export.ts'
import { findExport, putTicket } from './export-store.ts'

interface StartDeps {
  readonly db: Database
  readonly clock: Clock
}

const ticketBytes = 32

/** Gives the owner, who has proven lately who they are, a ticket for one download. It takes the place of one that was not used. */
export async function startExport(
  deps: StartDeps,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Identified },
): Promise<ExportTicket> {
  assertRecentlySignedIn(deps, caller)
  const ticket = randomBytes(ticketBytes).toString('base64url')
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const session = await assertSessionLives(deps, tx, caller)
    if (!session) throw new Failure('E-AUTH-FORBIDDEN')
    const now = nowSecs(deps.clock)
    const present = await findExport(tx)
    if (present && isRunning(present, now))
      throw new Failure('E-STATE', { message: 'An export of this account is being downloaded.' })
    const retryAfterSecs = present ? secsToNext(present, now) : 0
    if (retryAfterSecs > 0)
      throw new Failure('E-RATELIMIT', {
        message: 'This account was exported too often today.',
        retryAfterSecs,
      })
    const expiresAt = now + ticketSecs
    await putTicket(tx, { hash: secretHash(ticket), sessionId: session.sid, until: expiresAt })
    return { ticket, expiresAt }
  })
}
