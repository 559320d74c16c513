import {
  type CommunityRole,
  type connectionStates,
  type IdTag,
  type ProfileStatus,
  type relationships,
  roleLevel,
} from '@kith/protocol'

/** How far two identities are on the way to a connection; who asked decides who may accept. */
export type Connection = 'disconnected' | 'requested' | 'asked' | 'connected'

/** What an administrator has made of an identity, beyond blocking and muting it. */
export type ServerStatus = Extract<ProfileStatus, 'Trusted' | 'Suspended' | 'Banned'>

/** What holds between a tenant and another identity; for the server's own tenant what it has decided for all. */
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
  /** When a suspension or a ban ends by itself, Unix seconds; undefined: when somebody ends it. */
  readonly standingUntil: number | undefined
  readonly standingReason: string | undefined
  /** Unix seconds; undefined where nothing ever held. */
  readonly updatedAt: number | undefined
}

/** What holds before anything has happened. */
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

/** The connection as the wire knows it, which does not tell who asked. */
export function connectionState({
  connection,
}: Pick<Relation, 'connection'>): (typeof connectionStates)[number] {
  return connection === 'requested' || connection === 'asked' ? 'pending' : connection
}

/** The one word for what holds: what keeps apart comes before what binds. */
export function relationshipOf(relation: Relation): (typeof relationships)[number] {
  if (relation.isBlocked) return 'blocked'
  if (relation.isMuted) return 'muted'
  const connected = connectionState(relation)
  if (connected !== 'disconnected') return connected
  return relation.isFollowing ? 'following' : 'none'
}

/** Where an identity stands on the ladder of a community (docs/protocol/profiles.md). A blocked one stands outside. */
export function roleOf(relation: Relation): CommunityRole {
  return relation.isBlocked ? 'public' : rankOf(relation)
}

/** The same, whether or not it is blocked: by the role it was given, else by what binds it. */
export function rankOf(relation: Relation): CommunityRole {
  if (relation.role !== undefined) return relation.role
  if (relation.connection === 'connected') return 'contributor'
  return relation.isFollower ? 'follower' : 'public'
}

/** Is it nobody whom a tenant of this type knows? A person knows whom it follows or is connected with, a community who
 * contributes to it. */
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

/** What a relation becomes when its identity is given a status. */
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

/** What holds, where the server has a word on the identity as well: who is blocked or muted by either is blocked or muted. */
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
