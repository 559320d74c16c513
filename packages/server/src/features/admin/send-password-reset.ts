import type { IdTag } from '@kith/protocol'
import { assertQueued, type MakeReferenceDeps, mailReference } from '#features/accounts/index.ts'
import { auditActor, auditAtBase } from '#features/audit/index.ts'
import { assertWhole, findTenantByIdTag, type Tenants } from '#features/tenants/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import type { ByAdmin } from './change-identity.ts'

export interface PasswordResetDeps extends MakeReferenceDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly tenants: Pick<Tenants, 'find'>
}

const validSecs = 24 * 3600

/** Mails a tenant's owner a link with which to set a new password; false when the tenant has no owner with an address.
 * `E-STATE` when it is being removed or imported,
 * `E-RATELIMIT` when the mailbox has had too many mails, and it was never proved to be the owner's. */
export async function sendPasswordReset(
  deps: PasswordResetDeps,
  request: ByAdmin & { readonly idTag: IdTag },
): Promise<boolean> {
  const { idTag } = request
  const tenant = await deps.tenants.find(idTag)
  if (!tenant) throw new Failure('E-PROFILE-NOTFOUND')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    // What is in memory may be older than its removal.
    assertWhole((await findTenantByIdTag(tx, idTag)) ?? tenant)
    const queued = await mailReference(deps, tx, { type: 'password-reset', validSecs })
    assertQueued(deps, queued)
    if (!queued.isQueued) return false
    const event = 'password.reset-requested'
    await auditActor(deps, tx, { actor: request, event, details: { by: 'administrator' } })
    if ('ip' in request)
      await auditAtBase(deps, tx, { event, actorTag: request.caller.idTag, ip: request.ip })
    return true
  })
}
