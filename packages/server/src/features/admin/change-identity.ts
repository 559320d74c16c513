import type { IdTag } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { changesStatus, type MemberChange } from '#features/communities/index.ts'
import { changeOwnProfile, type ProfileEvent } from '#features/profiles/index.ts'
import { changeStatus, type RelationEvent } from '#features/relations/index.ts'
import {
  appointAdmin,
  assertOthersLead,
  dismissAdmin,
  type HostedTenant,
  isAppointedAdmin,
  resumeTenant,
  suspendTenant,
  type TenantEvent,
  type Tenants,
} from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'

export interface ChangeIdentityDeps {
  readonly emit: Emit<ProfileEvent | RelationEvent | TenantEvent>
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly tenants: Pick<Tenants, 'find' | 'forget'>
  /** Ends the sign-ins of the tenant of `tx`. */
  revokeSessions(tx: Writer): Promise<void>
}

interface ChangeIdentity {
  /** The base tenant. */
  readonly tenant: Tenant
  readonly caller: Identified
  readonly idTag: IdTag
  readonly change: MemberChange & { readonly name?: string | undefined }
  readonly ip: string
}

/** Decides about an identity for the whole server: its status, its name when it lives here, and whether it administers. */
export async function changeIdentity(deps: ChangeIdentityDeps, request: ChangeIdentity): Promise<void> {
  const { tenant, caller, idTag, change } = request
  const hosted = await deps.tenants.find(idTag)
  assertKind(request, hosted)
  const isTargetAdmin = await isAppointedAdmin(deps.db.reader(tenant.tenantId), idTag)
  // Only the base tenant's owner may change appointed administrators.
  if (isTargetAdmin && !caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
  const isAdmin = change.roles && adminIn(change.roles)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    if (change.name !== undefined && hosted)
      await changeOwnProfile(deps, tx.as(hosted.tenantId), { idTag, name: change.name })
    if (isAdmin === true) await appointAdmin(deps, tx, idTag)
    if (isAdmin === false) await dismissAdmin(deps, tx, idTag)
    await setStatus(deps, tx, request, hosted)
    await noteChange(deps, tx, request)
  })
}

function assertKind({ tenant, caller, idTag, change }: ChangeIdentity, hosted: HostedTenant | undefined) {
  const { name, roles } = change
  if (name !== undefined && !hosted) throw new Failure('E-AUTH-FORBIDDEN')
  if (roles !== undefined && !caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
  if (idTag === tenant.idTag && (roles !== undefined || changesStatus(change)))
    throw new Failure('E-STATE', { message: 'The base tenant administers the server and stays.' })
  if (idTag === caller.idTag && changesStatus(change))
    throw invalid('/status', 'cannot be changed by oneself')
}

/** Whether a list of roles makes an administrator. */
function adminIn(roles: readonly string[]): boolean {
  const other = roles.find((role) => role !== 'user' && role !== 'SADM')
  if (other !== undefined) throw invalid('/roles', `${other} is not a role on the server`)
  return roles.includes('SADM')
}

async function setStatus(
  deps: ChangeIdentityDeps,
  tx: Writer,
  { idTag, change }: ChangeIdentity,
  hosted: HostedTenant | undefined,
): Promise<void> {
  if (!changesStatus(change)) return
  const { status, banExpiresAt: until, banReason: reason } = change
  const bars = status === 'Suspended' || status === 'Banned'
  if (bars || status === 'Blocked') await assertOthersLead(tx, idTag)
  const own = hosted && tx.as(hosted.tenantId)
  if (own && status !== undefined && !bars && hosted.suspendedAt !== undefined) await resumeTenant(deps, own)
  if (own && bars) await suspendTenant(deps, own)
  await changeStatus(deps, tx.as(serverTenant), idTag, { status, until, reason })
}

async function noteChange(
  deps: ChangeIdentityDeps,
  tx: Writer,
  { caller, idTag, change, ip }: ChangeIdentity,
): Promise<void> {
  await audit(deps, tx, {
    event: 'profile.changed-by-admin',
    actorTag: caller.idTag,
    ip,
    details: { idTag, ...change },
  })
}
