import type { IdTag } from '@kith/protocol'
import { type RelationEmitter, setRelation } from '#features/relations/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'

/** Gives a new community its first leader and connects the two. A leader on another server must accept the connection
 * first. */
export async function foundCommunity(
  deps: RelationEmitter & { readonly clock: Clock },
  tx: Writer,
  founding: {
    readonly community: HostedTenant
    readonly leaderTag: IdTag
    /** The leader, when it is a tenant of this server. */
    readonly leader: HostedTenant | undefined
  },
): Promise<void> {
  const { community, leaderTag, leader } = founding
  const at = nowSecs(deps.clock)
  const connection = leader ? 'connected' : 'disconnected'
  await setRelation(deps, tx.as(community.tenantId), leaderTag, { role: 'leader', connection, at })
  if (leader) await setRelation(deps, tx.as(leader.tenantId), community.idTag, { connection, at })
}
