import { type CommunityRole, communityRoles, parseIdTag, roleLevel } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import {
  numberIn,
  optionalNumberIn,
  optionalTextIn,
  type TenantRow,
  textIn,
  type Writer,
} from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { invalid } from '#lib/failure.ts'
import { endServerStatusJob } from './change-status.ts'
import type { Connection, Relation, ServerStatus } from './relation.ts'
import { changeRelation, listStandingEnds, setClaims } from './relation-store.ts'

/** Stores a relation of an archive for the tenant of `tx`. What the tenant decided comes along; that the two are
 * connected the other must say again, and so must who has more than a follower's role in a community. Where the other's
 * request of then came along (`hasRequest`), the tenant asks for it anew once that is verified (`confirmAction`). */
export async function putMovedRelation(
  tx: Writer,
  {
    tenant,
    row,
    hasRequest,
  }: { readonly tenant: Tenant; readonly row: TenantRow; readonly hasRequest: boolean },
): Promise<void> {
  const { idTag, updatedAt, connection, role, ...decided } = readRelation(tenant, row)
  const isPending = connection === 'requested' || (connection === 'connected' && hasRequest)
  const isClaimed = roleLevel(role ?? 'public') >= roleLevel('contributor')
  await changeRelation(tx, idTag, {
    ...decided,
    connection: isPending ? 'requested' : 'disconnected',
    role: isClaimed ? undefined : role,
    at: updatedAt,
  })
  const claimed = isClaimed ? role : oneOf(row, 'claimed_role', communityRoles)
  await setClaims(tx, idTag, { role: claimed, wasReached: row.reached === 1 })
}

/** Queues the ends of the restrictions that the tenant of `tx` has brought along. */
export async function queueStandingEnds(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueueAll'> },
  tx: Writer,
): Promise<void> {
  const ends = await listStandingEnds(tx)
  await jobs.enqueueAll(
    tx,
    endServerStatusJob,
    ends.map((end) => ({ payload: end, options: { runAtMs: end.until * 1000 } })),
  )
}

type MovedRelation = Relation & { readonly updatedAt: number }

function readRelation(tenant: Tenant, row: TenantRow): MovedRelation {
  const idTag = parseIdTag(textIn(row, 'id_tag'))
  if (!idTag) throw invalid('/id_tag', 'is no identity')
  const role = oneOf(row, 'role', communityRoles)
  return {
    idTag,
    isFollowing: row.following === 1,
    isFollower: row.follower === 1,
    connection:
      oneOf<Connection>(row, 'connection', ['disconnected', 'requested', 'asked', 'connected']) ??
      'disconnected',
    isBlocked: row.blocked === 1,
    isMuted: row.muted === 1,
    role: tenant.type === 'community' ? (role as CommunityRole | undefined) : undefined,
    standing: oneOf<ServerStatus>(row, 'standing', ['Trusted', 'Suspended', 'Banned']),
    standingUntil: optionalNumberIn(row, 'standing_until'),
    standingReason: optionalTextIn(row, 'standing_reason'),
    updatedAt: numberIn(row, 'updated_at'),
  }
}

function oneOf<Word extends string>(
  row: TenantRow,
  column: string,
  words: readonly Word[],
): Word | undefined {
  const text = optionalTextIn(row, column)
  if (text === undefined) return undefined
  const word = words.find((one) => one === text)
  if (!word) throw invalid(`/${column}`, 'is none of its words')
  return word
}
