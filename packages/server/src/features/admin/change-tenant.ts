import type { AdminTenant, IdTag } from '@kith/protocol'
import { findRelation, isSuspendedOrBanned } from '#features/relations/index.ts'
import {
  findTenantByIdTag,
  type HostedTenant,
  resumeTenant as resume,
  type Tenants,
} from '#features/tenants/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import {
  assertMayChange,
  type ByAdmin,
  type ChangeIdentityDeps,
  changeIdentity,
  noteChange,
} from './change-identity.ts'
import { adminViews } from './list-tenants.ts'
import { assertNotPurged } from './purge-job.ts'

type TenantChange = ByAdmin & { readonly idTag: IdTag }

/** Ends the sessions of a tenant of this server; all requests to it are refused until it is resumed. The same as the status
 * of a profile, but only for who lives here. */
export async function suspendTenant(deps: ChangeIdentityDeps, request: TenantChange): Promise<HostedTenant> {
  await getHosted(deps, request.idTag)
  await changeIdentity(deps, { ...request, change: { status: 'Suspended' } })
  return await getHosted(deps, request.idTag)
}

/** Ends the suspension or the ban of a tenant; for one that has neither nothing changes, whatever else is decided about it.
 * `E-STATE` while it is being removed or imported. */
export async function resumeTenant(deps: ChangeIdentityDeps, request: TenantChange): Promise<HostedTenant> {
  const { tenant, idTag } = request
  const change = { ...request, change: { status: 'Active' as const } }
  await assertMayChange(deps, change, await getHosted(deps, idTag))
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const now = await findTenantByIdTag(tx, idTag)
    if (!now) throw new Failure('E-PROFILE-NOTFOUND')
    await assertNotPurged(tx.as(serverTenant), now)
    const decided = await findRelation(tx.as(serverTenant), idTag)
    const isOut = now.suspendedAt !== undefined || (decided !== undefined && isSuspendedOrBanned(decided))
    if (!isOut) return
    await resume(deps, tx.as(now.tenantId))
    await noteChange(deps, tx, change)
  })
  return await getHosted(deps, idTag)
}

/** A tenant as administrators see it. */
export async function adminView({ db }: Pick<ChangeIdentityDeps, 'db'>, tenant: HostedTenant) {
  const [view] = await adminViews(db.reader(serverTenant), [tenant])
  return view as AdminTenant
}

async function getHosted({ tenants }: { readonly tenants: Pick<Tenants, 'find'> }, idTag: IdTag) {
  const found = await tenants.find(idTag)
  if (!found) throw new Failure('E-PROFILE-NOTFOUND')
  return found
}
