import { type CommunityRole, type Me, type Profile, rolesUpTo, toIso } from '@kith/protocol'
import {
  connectionState,
  type Relation,
  relationshipOf,
  statusOf,
  withServerStatus,
} from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { StoredProfile } from './profile.ts'

/** What the server tells of itself. */
export interface ServerInfo {
  readonly version: string
  readonly commit?: string | undefined
  readonly features: readonly string[]
}

/** The public view of the tenant of a host. */
export function publicMeView(profile: StoredProfile, publicKey: string, serverInfo: ServerInfo): Me {
  return {
    idTag: profile.idTag,
    name: profile.name,
    type: profile.type,
    publicKey,
    serverInfo: serverInfoView(serverInfo),
    ...pictures(profile),
  }
}

function serverInfoView({ version, commit, features }: ServerInfo): Me['serverInfo'] {
  return { version, ...(commit === undefined ? {} : { commit }), features: [...features] }
}

/** What the owner, or a leader of the community, gets besides. */
export function ownerMeView(profile: StoredProfile, tenant: Tenant, owner: Identified) {
  return {
    tnId: tenant.tenantId,
    status: 'Active' as const,
    roles: [
      ...(owner.isOwner ? ['user'] : []),
      ...(owner.isAdmin ? ['SADM'] : []),
      ...communityRolesOf(tenant, owner),
    ],
    createdAt: toIso(profile.createdAt),
    ...(profile.x === undefined ? {} : { x: profile.x }),
  }
}

function communityRolesOf(tenant: Tenant, owner: Identified): string[] {
  return tenant.type === 'community' ? rolesUpTo(owner.role) : []
}

/** What is shown of a profile besides itself. `relation` is given only to callers who act for the tenant: others
 * do not learn which identities it follows or blocks. */
interface ProfileContext {
  /** Of tenants of this server. */
  readonly tenantId?: TenantId
  readonly isSuspended?: boolean
  /** What has been decided about it for the whole server. */
  readonly server?: Relation | undefined
  readonly relation?: Relation
  /** For an administrator of the server: what the server has decided is explained. */
  readonly isForAdmin?: boolean
  /** In this community, for its members. */
  readonly role?: CommunityRole | undefined
}

/** A profile for a caller. */
export function profileView(profile: StoredProfile, context: ProfileContext): Profile {
  const { tenantId, relation, role = relation?.role } = context
  return {
    idTag: profile.idTag,
    name: profile.name,
    type: profile.type,
    status: statusIn(context),
    roles: role ? rolesUpTo(role) : [],
    createdAt: toIso(profile.createdAt),
    updatedAt: toIso(Math.max(profile.updatedAt, relation?.updatedAt ?? 0)),
    ...(tenantId === undefined ? {} : { tnId: tenantId }),
    ...pictures(profile),
    ...(profile.x === undefined ? {} : { x: profile.x }),
    ...(role === undefined ? {} : { role }),
    ...(relation ? relationView(relation) : {}),
    ...banView((context.isForAdmin && context.server) || relation),
  }
}

/** That the server trusts or has suspended an identity is public; that it or the tenant blocks or mutes one is not. */
function statusIn({ relation, server, isSuspended }: ProfileContext): Profile['status'] {
  if (relation) return statusOf(withServerStatus(relation, server))
  return server?.standing ?? (isSuspended ? 'Suspended' : 'Active')
}

/** When a suspension or a ban ends, and why it is. */
export function banView({ standingUntil, standingReason }: Partial<Relation> = {}) {
  return {
    ...(standingUntil === undefined ? {} : { banExpiresAt: toIso(standingUntil) }),
    ...(standingReason === undefined ? {} : { banReason: standingReason }),
  }
}

function relationView(relation: Relation) {
  return {
    following: relation.isFollowing,
    follower: relation.isFollower,
    connected: connectionState(relation),
    relationship: relationshipOf(relation),
  }
}

/** What holds with an identity, as the change of it answers. */
export function relationshipView(relation: Relation, now: number) {
  const { idTag, updatedAt = now } = relation
  return { idTag: idTag, relationship: relationshipOf(relation), updatedAt: toIso(updatedAt) }
}

function pictures({ profilePic, coverPic }: StoredProfile) {
  return {
    ...(profilePic === undefined ? {} : { profilePic }),
    ...(coverPic === undefined ? {} : { coverPic }),
  }
}
