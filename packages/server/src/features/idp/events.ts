import type { IdTag } from '@kith/protocol'

/** What the DNS says of a name has changed: of one that the tenant of the transaction gives as a provider, or of a tenant of
 * this server that is new. */
export interface ManagedNameEvent {
  readonly kind: 'managed-name.changed' | 'hosted-name.added'
  readonly idTag: IdTag
}
