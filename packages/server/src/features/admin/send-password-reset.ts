import type { IdTag } from '@kith/protocol'
import { assertQueued, type MakeReferenceDeps, mailReference } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Identified } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'

export interface PasswordResetDeps extends MakeReferenceDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly tenants: Pick<Tenants, 'find'>
}

const validSecs = 24 * 3600

/** Mails a tenant's owner a link with which to set a new password; false when the tenant has no owner with an address.
 * `E-RATELIMIT` when the mailbox has had too many mails, and it was never proved to be the owner's. */
export async function sendPasswordReset(
  deps: PasswordResetDeps,
  { caller, idTag, ip }: { readonly caller: Identified; readonly idTag: IdTag; readonly ip: string },
): Promise<boolean> {
  const tenant = await deps.tenants.find(idTag)
  if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const queued = await mailReference(deps, tx, { type: 'password-reset', validSecs })
    assertQueued(deps, queued)
    if (!queued.isQueued) return false
    const details = { by: 'administrator' }
    await audit(deps, tx, { event: 'password.reset-requested', actorTag: caller.idTag, ip, details })
    return true
  })
}
