import { type Me, type Profile, rolesUpTo, toIso } from '@kith/protocol'
import { connectionState, type Relation, relationshipOf } from '#features/relations/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { StoredProfile } from './profile.ts'

/** What the server tells of itself. */
export interface ServerInfo {
  readonly version: string
  readonly features: readonly string[]
}

/** The form that anybody gets of the tenant of a host. */
export function publicMeView(profile: StoredProfile, publicKey: string, serverInfo: ServerInfo): Me {
  return {
    idTag: profile.idTag,
    name: profile.name,
    type: profile.type,
    publicKey,
    serverInfo: { version: serverInfo.version, features: [...serverInfo.features] },
    ...pictures(profile),
  }
}

/** What the owner gets besides. */
export function ownerMeView(profile: StoredProfile, tenant: Tenant, owner: Identified) {
  return {
    tnId: tenant.tenantId as number,
    status: 'Active' as const,
    roles: ['user', ...(owner.isAdmin ? ['SADM'] : []), ...communityRolesOf(tenant, owner)],
    createdAt: toIso(profile.createdAt),
    ...(profile.x === undefined ? {} : { x: profile.x }),
  }
}

function communityRolesOf(tenant: Tenant, owner: Identified): string[] {
  return tenant.type === 'community' ? rolesUpTo(owner.role) : []
}

/** A profile for a caller. `relation` is given only to whoever acts for the tenant: nobody else learns whom it follows or
 * blocks. */
export function profileView(
  profile: StoredProfile,
  { hosted, relation }: { readonly hosted?: HostedTenant; readonly relation?: Relation },
): Profile {
  return {
    idTag: profile.idTag,
    name: profile.name,
    type: profile.type,
    status: statusOf(hosted, relation),
    roles: relation?.role ? rolesUpTo(relation.role) : [],
    createdAt: toIso(profile.createdAt),
    updatedAt: toIso(Math.max(profile.updatedAt, relation?.updatedAt ?? 0)),
    ...(hosted ? { tnId: hosted.tenantId as number } : {}),
    ...pictures(profile),
    ...(profile.x === undefined ? {} : { x: profile.x }),
    ...(relation ? relationView(relation) : {}),
  }
}

function statusOf(hosted: HostedTenant | undefined, relation: Relation | undefined): Profile['status'] {
  if (relation?.isBlocked) return 'Blocked'
  if (relation?.isMuted) return 'Muted'
  return hosted?.suspendedAt === undefined ? 'Active' : 'Suspended'
}

function relationView(relation: Relation) {
  return {
    following: relation.isFollowing,
    follower: relation.isFollower,
    connected: connectionState(relation),
    relationship: relationshipOf(relation),
    ...(relation.role === undefined ? {} : { role: relation.role }),
  }
}

function pictures({ profilePic, coverPic }: StoredProfile) {
  return {
    ...(profilePic === undefined ? {} : { profilePic }),
    ...(coverPic === undefined ? {} : { coverPic }),
  }
}
