import type { IdTag, RelationshipChange } from '@kith/protocol'
import {
  findRelation,
  isLastLeader,
  isSuspendedOrBanned,
  lastLeader,
  noRelation,
  type Relation,
  type RelationEvent,
  setRelation,
  withStatus,
} from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { ProfileEvent } from './events.ts'
import { type FindProfileDeps, findProfile } from './find-profile.ts'

export interface SetRelationshipDeps extends FindProfileDeps {
  /** Makes an action of the tenant, which tells the other identity. */
  createAction(request: {
    readonly tenant: Tenant
    readonly caller: Identified
    readonly input: { readonly type: 'FLLW' | 'CONN'; readonly audienceTag: IdTag; readonly subType?: 'DEL' }
  }): Promise<unknown>
  readonly emit: Emit<ProfileEvent | RelationEvent>
}

interface SetRelationship {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly idTag: IdTag
  readonly change: RelationshipChange
}

/** Changes the relation between the tenant and an identity. Answers the new relation; without a difference nothing is
 * written. */
export async function setRelationship(
  deps: SetRelationshipDeps,
  request: SetRelationship,
): Promise<Relation> {
  const { tenant, idTag } = request
  if (idTag === tenant.idTag) throw invalid('/idTag', 'is yourself')
  // An identity whose server cannot be reached may still be blocked; the rest is delivered later.
  if ((await findProfile(deps, idTag, { cause: 'owner', key: tenant.idTag })).kind === 'unknown')
    throw new Failure('E-PROFILE-NOTFOUND')
  const reader = deps.db.reader(tenant.tenantId)
  const relation = (await findRelation(reader, idTag)) ?? noRelation(idTag)
  await makeHold(deps, request, relation)
  return (await findRelation(reader, idTag)) ?? { ...relation, updatedAt: nowSecs(deps.clock) }
}

async function makeHold(
  deps: SetRelationshipDeps,
  { tenant, caller, idTag, change }: SetRelationship,
  relation: Relation,
): Promise<void> {
  const tell = (type: 'FLLW' | 'CONN', subType?: 'DEL') =>
    deps.createAction({
      tenant,
      caller,
      input: { type, audienceTag: idTag, ...(subType ? { subType } : {}) },
    })
  const keep = (kept: Partial<Relation>, assertMay?: (tx: Writer) => Promise<void>) =>
    deps.db.transact(tenant.tenantId, async (tx) => {
      await assertMay?.(tx)
      await setRelation(deps, tx, idTag, { ...kept, at: nowSecs(deps.clock) })
    })
  const { isFollowing, connection } = relation
  // A suspension or a ban is a block and more.
  const endsBan = isSuspendedOrBanned(relation)
  const isAsking = connection === 'requested' || connection === 'connected'
  const steps: Record<RelationshipChange, () => Promise<unknown>> = {
    follow: async () => !isFollowing && (await tell('FLLW')),
    unfollow: async () => isFollowing && (await tell('FLLW', 'DEL')),
    connect: async () => !isAsking && (await tell('CONN')),
    disconnect: async () => connection !== 'disconnected' && (await tell('CONN', 'DEL')),
    block: () => keep({ isBlocked: true }, (tx) => assertLedWithout(tx, idTag)),
    unblock: () => keep(endsBan ? withStatus('Active') : { isBlocked: false }),
    mute: () => keep({ isMuted: true }),
    unmute: () => keep({ isMuted: false }),
  }
  await steps[change]()
}

async function assertLedWithout(tx: Writer, idTag: IdTag): Promise<void> {
  if (await isLastLeader(tx, idTag)) throw lastLeader()
}
