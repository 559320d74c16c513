import type { IdTag } from '@kith/protocol'

/** `relation.changed`: another thing holds between the tenant of a transaction and an identity, and with it perhaps another
 * role; at the server's own tenant, for all tenants. `standing.ended`: what restricted the identity there is over, as its
 * time was. */
export interface RelationEvent {
  readonly kind: 'relation.changed' | 'standing.ended'
  readonly idTag: IdTag
}
