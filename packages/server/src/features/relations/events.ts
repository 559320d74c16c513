import type { IdTag } from '@kith/protocol'

/** What restricted an identity at the tenant of a transaction is over, as its time was. */
export interface RelationEvent {
  readonly kind: 'standing.ended'
  readonly idTag: IdTag
}
