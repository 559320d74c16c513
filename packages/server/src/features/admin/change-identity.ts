import type { IdTag, ProfileStatus } from '@kith/protocol'
import { type Actor, auditActor } from '#features/audit/index.ts'
import { changesStatus, type MemberChange } from '#features/communities/index.ts'
import { changeOwnProfile, type ProfileEvent } from '#features/profiles/index.ts'
import { changeStatus, type RelationEvent } from '#features/relations/index.ts'
import {
  appointAdmin,
  assertNotImported,
  assertOthersLead,
  dismissAdmin,
  findTenantByIdTag,
  type HostedTenant,
  isAppointedAdmin,
  resumeTenant,
  suspendTenant,
  type TenantEvent,
  type Tenants,
} from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertNotPurged } from './purge-job.ts'

export interface ChangeIdentityDeps {
  readonly emit: Emit<ProfileEvent | RelationEvent | TenantEvent>
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly tenants: Pick<Tenants, 'find' | 'forget'>
  /** Ends the sign-ins of the tenant of `tx`. */
  revokeSessions(tx: Writer): Promise<void>
}

/** Who decides for the whole server; `tenant` is the base tenant. */
export type ByAdmin = Actor & { readonly tenant: Tenant }

type ChangeIdentity = ByAdmin & {
  readonly idTag: IdTag
  readonly change: MemberChange & { readonly name?: string | undefined }
}

/** Decides about an identity for the whole server: its status, its name when it lives here, and whether it administers. */
export async function changeIdentity(deps: ChangeIdentityDeps, request: ChangeIdentity): Promise<void> {
  const { tenant, idTag, change } = request
  const hosted = await deps.tenants.find(idTag)
  await assertMayChange(deps, request, hosted)
  const isAdmin = change.roles && adminIn(change.roles)
  if (isAdmin) assertCanAdminister(hosted)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    // What is in memory may be older than a decision of another process.
    const now = await findTenantByIdTag(tx, idTag)
    if (now) await assertNotPurged(tx.as(serverTenant), now)
    if (now && !bars(change.status)) assertNotImported(now)
    if (change.name !== undefined && hosted)
      await changeOwnProfile(deps, tx.as(hosted.tenantId), { idTag, name: change.name })
    if (isAdmin === true) await appointAdmin(deps, tx, idTag)
    if (isAdmin === false) await dismissAdmin(deps, tx, idTag)
    await setStatus(deps, tx, request, now)
    await noteChange(deps, tx, request)
  })
}

/** Fails for what the caller may not change about this identity. */
export async function assertMayChange(
  { db }: Pick<ChangeIdentityDeps, 'db'>,
  request: Pick<ChangeIdentity, 'tenant' | 'caller' | 'idTag' | 'change'>,
  hosted: HostedTenant | undefined,
): Promise<void> {
  const { tenant, caller, idTag } = request
  assertKind(request, hosted)
  // Only the base tenant's owner may change appointed administrators.
  if (!caller.isOwner && (await isAppointedAdmin(db.reader(tenant.tenantId), idTag)))
    throw new Failure('E-AUTH-FORBIDDEN')
}

/** A community has no sign-in of its own with which it could. */
export function assertCanAdminister(identity: { readonly type: string } | undefined): void {
  if (identity?.type === 'community') throw invalid('/roles', 'A community does not administer the server.')
}

function assertKind(
  { tenant, caller, idTag, change }: Pick<ChangeIdentity, 'tenant' | 'caller' | 'idTag' | 'change'>,
  hosted: HostedTenant | undefined,
) {
  const { name, roles } = change
  if (name !== undefined && !hosted) throw new Failure('E-AUTH-FORBIDDEN')
  if (roles !== undefined && !caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
  if (idTag === tenant.idTag && !caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
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

/** Does the status keep a tenant from being served? */
function bars(status: ProfileStatus | undefined): boolean {
  return status === 'Suspended' || status === 'Banned'
}

async function setStatus(
  deps: ChangeIdentityDeps,
  tx: Writer,
  { idTag, change }: ChangeIdentity,
  hosted: HostedTenant | undefined,
): Promise<void> {
  if (!changesStatus(change)) return
  const { status, banExpiresAt: until, banReason: reason } = change
  const isBar = bars(status)
  if (isBar || status === 'Blocked') await assertOthersLead(tx, idTag)
  const own = hosted && tx.as(hosted.tenantId)
  if (own && status !== undefined && !isBar && hosted.suspendedAt !== undefined) await resumeTenant(deps, own)
  if (own && isBar) await suspendTenant(deps, own)
  await changeStatus(deps, tx.as(serverTenant), idTag, { status, until, reason })
}

/** Writes the decision into the trail of the base tenant, whose handle `tx` is. */
export async function noteChange(
  deps: Pick<ChangeIdentityDeps, 'clock'>,
  tx: Writer,
  request: ChangeIdentity,
): Promise<void> {
  const { idTag, change } = request
  const details = { idTag, ...change }
  await auditActor(deps, tx, { actor: request, event: 'profile.changed-by-admin', details })
}
