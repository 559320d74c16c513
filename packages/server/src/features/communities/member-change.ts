import { type CommunityRole, communityRoles, type IdTag, type ProfileStatus, roleLevel } from '@kith/protocol'
import { type Relation, rankOf } from '#features/relations/index.ts'
import { Failure, invalid } from '#lib/failure.ts'

/** A change of a community's member; absent members stay as they are. */
export interface MemberChange {
  readonly status?: ProfileStatus | undefined
  readonly roles?: readonly string[] | undefined
  /** Unix seconds. */
  readonly banExpiresAt?: number | undefined
  readonly banReason?: string | undefined
}

interface MemberQuestion {
  readonly actorTag: IdTag
  /** The actor's current role. */
  readonly actorRole: CommunityRole
  readonly target: Relation
  readonly change: MemberChange
}

/** Fails unless the actor may make this change (docs/protocol/profiles.md): leaders make every change, moderators that
 * of the status of members below them, and nobody that of their own status. */
export function assertMayChange({ actorTag, actorRole, target, change }: MemberQuestion): void {
  const isLeader = actorRole === 'leader'
  if (roleLevel(actorRole) < roleLevel('moderator')) throw new Failure('E-AUTH-FORBIDDEN')
  if (change.roles !== undefined && !isLeader) throw new Failure('E-AUTH-FORBIDDEN')
  if (!changesStatus(change)) return
  if (!isLeader && roleLevel(rankOf(target)) >= roleLevel(actorRole)) throw new Failure('E-AUTH-FORBIDDEN')
  if (target.idTag === actorTag) throw invalid('/status', 'cannot be changed by oneself')
}

export function changesStatus({ status, banExpiresAt, banReason }: MemberChange): boolean {
  return status !== undefined || banExpiresAt !== undefined || banReason !== undefined
}

/** The highest of these roles; `public` when there is none. */
export function roleIn(roles: readonly string[]): CommunityRole {
  const known = roles.map((role) => {
    const found = communityRoles.find((name) => name === role)
    // `user` is in every token and no role of a community.
    if (!found && role !== 'user') throw invalid('/roles', `${role} is not a role of a community`)
    return found ?? 'public'
  })
  return known.reduce<CommunityRole>(
    (highest, role) => (roleLevel(role) > roleLevel(highest) ? role : highest),
    'public',
  )
}

/** Fails with `E-STATE` unless the relation allows the role, because nobody becomes a member without having asked. */
export function assertBound(target: Relation, role: CommunityRole): void {
  const isConnected = target.connection === 'connected'
  const needsConnection = roleLevel(role) >= roleLevel('contributor')
  if (isConnected || (target.isFollower && !needsConnection)) return
  const message = needsConnection
    ? 'Only identities that are connected with the community can have this role.'
    : 'Only identities that follow the community or are connected with it can have this role.'
  throw new Failure('E-STATE', { message })
}
