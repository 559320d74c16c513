import type { CommunityRole, IdTag } from '@kith/protocol'
import type { Connection, Relation, ServerStatus } from './relation.ts'

/** A row of the table `relations`. */
export interface RelationRow {
  tenant_id: number
  id_tag: string
  following: number
  follower: number
  connection: string
  blocked: number
  muted: number
  role: string | null
  standing: string | null
  standing_until: number | null
  standing_reason: string | null
  reached: number
  updated_at: number
  in_circle: number
  is_source: number
  is_blocked_or_muted: number
  claimed_role: string | null
}

/** The columns of the relation itself; the others serve look-ups. */
export type RelationColumns = Pick<
  RelationRow,
  | 'id_tag'
  | 'following'
  | 'follower'
  | 'connection'
  | 'blocked'
  | 'muted'
  | 'role'
  | 'standing'
  | 'standing_until'
  | 'standing_reason'
  | 'updated_at'
>

export function relationOf(row: RelationColumns): Relation {
  return {
    idTag: row.id_tag as IdTag,
    isFollowing: row.following === 1,
    isFollower: row.follower === 1,
    connection: row.connection as Connection,
    isBlocked: row.blocked === 1,
    isMuted: row.muted === 1,
    role: (row.role ?? undefined) as CommunityRole | undefined,
    standing: (row.standing ?? undefined) as ServerStatus | undefined,
    standingUntil: row.standing_until ?? undefined,
    standingReason: row.standing_reason ?? undefined,
    updatedAt: row.updated_at,
  }
}
