import type { AdminTenant, IdTag } from '@kith/protocol'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { type ByAdmin, type ChangeIdentityDeps, changeIdentity } from './change-identity.ts'
import { adminViews } from './list-tenants.ts'

type TenantChange = ByAdmin & { readonly idTag: IdTag }

/** Ends the sessions of a tenant of this server; all requests to it are refused until it is resumed. */
export function suspendTenant(deps: ChangeIdentityDeps, request: TenantChange): Promise<HostedTenant> {
  return setStatus(deps, request, 'Suspended')
}

/** Ends the suspension or the ban of a tenant. `E-STATE` while it is being removed. */
export function resumeTenant(deps: ChangeIdentityDeps, request: TenantChange): Promise<HostedTenant> {
  return setStatus(deps, request, 'Active')
}

/** The same as the status of a profile, but only for who lives here. */
async function setStatus(
  deps: ChangeIdentityDeps,
  request: TenantChange,
  status: 'Suspended' | 'Active',
): Promise<HostedTenant> {
  await getHosted(deps, request.idTag)
  await changeIdentity(deps, { ...request, change: { status } })
  return await getHosted(deps, request.idTag)
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
