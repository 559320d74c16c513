import {
  type CommunityRole,
  type connectionStates,
  type IdTag,
  type ProfileStatus,
  type relationships,
  roleLevel,
} from '@kith/protocol'

/** The state of a connection between two identities. Who asked decides who may accept. */
export type Connection = 'disconnected' | 'requested' | 'asked' | 'connected'

/** An administrator's decision on an identity, beyond blocking and muting it. */
export type ServerStatus = Extract<ProfileStatus, 'Trusted' | 'Suspended' | 'Banned'>

/** The relation between a tenant and another identity; at the server's own tenant, the server's decision for all
 * tenants. */
export interface Relation {
  readonly idTag: IdTag
  /** The tenant follows it. */
  readonly isFollowing: boolean
  /** It follows the tenant. */
  readonly isFollower: boolean
  readonly connection: Connection
  readonly isBlocked: boolean
  readonly isMuted: boolean
  /** The role it was given in this community. */
  readonly role: CommunityRole | undefined
  /** Suspended and banned identities are blocked and muted as well. */
  readonly standing: ServerStatus | undefined
  /** When a suspension or a ban ends by itself, Unix seconds; undefined when it lasts until somebody ends it. */
  readonly standingUntil: number | undefined
  readonly standingReason: string | undefined
  /** Unix seconds; undefined where there never was a relation. */
  readonly updatedAt: number | undefined
}

/** The relation before anything has happened. */
export function noRelation(idTag: IdTag): Relation {
  return {
    idTag,
    isFollowing: false,
    isFollower: false,
    connection: 'disconnected',
    isBlocked: false,
    isMuted: false,
    role: undefined,
    standing: undefined,
    standingUntil: undefined,
    standingReason: undefined,
    updatedAt: undefined,
  }
}

/** The connection as the wire shows it, without who asked. */
export function connectionState({
  connection,
}: Pick<Relation, 'connection'>): (typeof connectionStates)[number] {
  return connection === 'requested' || connection === 'asked' ? 'pending' : connection
}

/** The relation in one word: a block or a mute comes before a connection or a follow. */
export function relationshipOf(relation: Relation): (typeof relationships)[number] {
  if (relation.isBlocked) return 'blocked'
  if (relation.isMuted) return 'muted'
  const connected = connectionState(relation)
  if (connected !== 'disconnected') return connected
  return relation.isFollowing ? 'following' : 'none'
}

/** The role of an identity in a community (docs/protocol/profiles.md). Blocked identities are `public`. */
export function roleOf(relation: Relation): CommunityRole {
  return relation.isBlocked ? 'public' : rankOf(relation)
}

/** The same without regard to blocks: the role that it was given, else the one that follows from its connection or
 * follow. */
export function rankOf(relation: Relation): CommunityRole {
  if (relation.role !== undefined) return relation.role
  if (relation.connection === 'connected') return 'contributor'
  return relation.isFollower ? 'follower' : 'public'
}

/** Is the identity a stranger to a tenant of this type? A person knows the identities that it follows or is connected
 * with, a community its contributors and higher roles. */
export function isStranger(type: 'person' | 'community', relation: Relation | undefined): boolean {
  if (!relation) return true
  if (type === 'community') return roleLevel(roleOf(relation)) < roleLevel('contributor')
  return !relation.isFollowing && relation.connection !== 'connected'
}

/** Is it suspended or banned? */
export function isSuspendedOrBanned({ standing }: Pick<Relation, 'standing'>): boolean {
  return standing === 'Suspended' || standing === 'Banned'
}

/** The status of an identity in one word (docs/protocol/profiles.md, Status). */
export function statusOf(relation: Relation): ProfileStatus {
  if (relation.standing !== undefined && isSuspendedOrBanned(relation)) return relation.standing
  if (relation.isBlocked) return 'Blocked'
  return relation.isMuted ? 'Muted' : (relation.standing ?? 'Active')
}

/** The members of a relation that follow from a status. */
export function withStatus(
  status: ProfileStatus,
): Pick<Relation, 'isBlocked' | 'isMuted' | 'standing' | 'standingUntil' | 'standingReason'> {
  const isBar = status === 'Suspended' || status === 'Banned'
  return {
    isBlocked: isBar || status === 'Blocked',
    isMuted: isBar || status === 'Muted',
    standing: isBar || status === 'Trusted' ? status : undefined,
    standingUntil: undefined,
    standingReason: undefined,
  }
}

/** The effective relation: the identity is blocked or muted if the tenant or the server blocks or mutes it. */
export function withServerStatus(own: Relation, server: Relation | undefined): Relation {
  if (!server) return own
  return {
    ...own,
    isBlocked: own.isBlocked || server.isBlocked,
    isMuted: own.isMuted || server.isMuted,
    ...(isSuspendedOrBanned(server) || own.standing === undefined
      ? {
          standing: server.standing,
          standingUntil: server.standingUntil,
          standingReason: server.standingReason,
        }
      : {}),
  }
}
