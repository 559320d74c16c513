import type { CommunityRole, connectionStates, IdTag, relationships } from '@kith/protocol'

/** How far two identities are on the way to a connection; who asked decides who may accept. */
export type Connection = 'disconnected' | 'requested' | 'asked' | 'connected'

/** What holds between a tenant and another identity. */
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

/** Where an identity stands on the ladder of a community (DECISIONS part 7): by the role it was given, else by what
 * binds it. A blocked one stands outside. */
export function roleOf(relation: Relation): CommunityRole {
  if (relation.isBlocked) return 'public'
  if (relation.role !== undefined) return relation.role
  if (relation.connection === 'connected') return 'contributor'
  return relation.isFollower ? 'follower' : 'public'
}
