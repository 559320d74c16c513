import {
  type AdminProfile,
  type IdTag,
  rolesUpTo,
  sendPasswordReset as sendResetContract,
  updateAdminProfile,
  updateMember,
} from '@kith/protocol'
import { type ChangeMemberDeps, changeMember, type MemberChange } from '#features/communities/index.ts'
import { banView, changeOwnProfile, type FindProfileDeps, findProfile } from '#features/profiles/index.ts'
import { findRelation, noRelation, type Relation, rankOf, statusOf } from '#features/relations/index.ts'
import { assertNotRemoved, isAppointedAdmin, type Tenants } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertCanAdminister, type ChangeIdentityDeps, changeIdentity } from './change-identity.ts'
import { type PasswordResetDeps, sendPasswordReset } from './send-password-reset.ts'

export interface AdminEndpointDeps
  extends Omit<ChangeMemberDeps, 'revokeSessions' | 'emit'>,
    Omit<ChangeIdentityDeps, 'revokeSessions'>,
    Omit<FindProfileDeps, 'emit'>,
    PasswordResetDeps {
  readonly jobs: FindProfileDeps['jobs']
  readonly tenants: Pick<Tenants, 'find' | 'forget'>
  readonly revokeSessions: ChangeIdentityDeps['revokeSessions'] & ChangeMemberDeps['revokeSessions']
}

interface Request {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly idTag: IdTag
  readonly change: MemberChange & { readonly name?: string | undefined }
  readonly ip: string
}

export function adminEndpoints(deps: AdminEndpointDeps): Endpoint[] {
  return [
    bind(updateAdminProfile, async ({ tenant, caller, params: { idTag }, body: change, ip }) => {
      const request = { tenant, caller, idTag, change, ip }
      // An API key, which programs keep in files, must not change rights.
      if (caller.tokenUse === 'apikey') throw new Failure('E-AUTH-FORBIDDEN')
      if (tenant.type === 'community') return changeInCommunity(deps, request)
      if (!caller.isAdmin) throw new Failure('E-AUTH-FORBIDDEN')
      return changeOnServer(deps, request)
    }),
    bind(updateMember, async ({ tenant, caller, params: { idTag }, body: { role, ...status }, ip }) => {
      if (tenant.type !== 'community' || caller.tokenUse === 'apikey') throw new Failure('E-AUTH-FORBIDDEN')
      const change = { ...status, ...(role === undefined ? {} : { roles: [role] }) }
      return changeInCommunity(deps, { tenant, caller, idTag, change, ip })
    }),
    bind(sendResetContract, async ({ tenant, caller, params: { idTag }, ip }) => ({
      sent: await sendPasswordReset(deps, { tenant, caller, idTag, ip }),
    })),
  ]
}

async function changeInCommunity(deps: AdminEndpointDeps, request: Request): Promise<AdminProfile> {
  const { tenant, idTag } = request
  if (idTag === tenant.idTag) return renameCommunity(deps, request)
  if (request.change.name !== undefined) throw new Failure('E-AUTH-FORBIDDEN')
  const name = await findName(deps, idTag, tenant)
  const relation = await changeMember(deps, request)
  return { ...viewOf(relation, name), roles: rolesUpTo(rankOf(relation)) }
}

async function renameCommunity(deps: AdminEndpointDeps, request: Request): Promise<AdminProfile> {
  const { tenant, caller, change } = request
  const { name, ...rest } = change
  const [other] = Object.entries(rest).filter(([, value]) => value !== undefined)
  if (caller.role !== 'leader') throw new Failure('E-AUTH-FORBIDDEN')
  if (other) throw invalid(`/${other[0]}`, 'is not for the community itself')
  if (name !== undefined)
    await deps.db.transact(tenant.tenantId, (tx) => changeOwnProfile(deps, tx, { idTag: tenant.idTag, name }))
  return { ...viewOf(noRelation(tenant.idTag), await findName(deps, tenant.idTag, tenant)), roles: [] }
}

async function changeOnServer(deps: AdminEndpointDeps, request: Request): Promise<AdminProfile> {
  const { tenant, idTag, change } = request
  const hosted = await deps.tenants.find(idTag)
  // Its profile may be gone already.
  if (hosted) assertNotRemoved(hosted)
  const known = await find(deps, idTag, tenant)
  if (change.roles?.includes('SADM')) assertCanAdminister(known)
  await changeIdentity(deps, request)
  const relation = (await findRelation(deps.db.reader(serverTenant), idTag)) ?? noRelation(idTag)
  const isAdmin = idTag === tenant.idTag || (await isAppointedAdmin(deps.db.reader(tenant.tenantId), idTag))
  const isHosted = (await deps.tenants.find(idTag)) !== undefined
  const roles = [...(isHosted ? ['user'] : []), ...(isAdmin ? ['SADM'] : [])]
  return { ...viewOf(relation, await findName(deps, idTag, tenant)), roles }
}

/** The name of an identity; its tag, where its server does not answer now. */
async function findName(deps: AdminEndpointDeps, idTag: IdTag, tenant: Tenant): Promise<string> {
  return (await find(deps, idTag, tenant))?.name ?? idTag
}

async function find(deps: AdminEndpointDeps, idTag: IdTag, tenant: Tenant) {
  const found = await findProfile(deps, idTag, { cause: 'owner', key: tenant.idTag })
  if (found.kind === 'unknown') throw new Failure('E-PROFILE-NOTFOUND')
  return found.kind === 'found' ? found.profile : undefined
}

function viewOf(relation: Relation, name: string) {
  return { idTag: relation.idTag, name, status: statusOf(relation), ...banView(relation) }
}
