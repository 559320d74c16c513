import type { IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { RelationEvent } from './events.ts'
import type { Relation } from './relation.ts'
import { changeRelation } from './relation-store.ts'

/** What code needs that changes relations. */
export interface RelationEmitter {
  readonly emit: Emit<RelationEvent>
}

/** Changes members of a relation, keeps the others, emits the change, and answers the new relation. */
export async function setRelation(
  { emit }: RelationEmitter,
  tx: Writer,
  idTag: IdTag,
  change: Parameters<typeof changeRelation>[2],
): Promise<Relation> {
  const relation = await changeRelation(tx, idTag, change)
  await emit(tx, { kind: 'relation.changed', idTag })
  return relation
}
