import type { IdTag } from '@kith/protocol'

/** `relation.changed`: the relation between the tenant of a transaction and an identity has changed, and perhaps the
 * role with it; at the server's own tenant, for all tenants. `standing.ended`: a restriction of the identity has ended
 * at its time. */
export interface RelationEvent {
  readonly kind: 'relation.changed' | 'standing.ended'
  readonly idTag: IdTag
}
