import type { IdTag } from '@kith/protocol'

/** Who administers the server has changed; the transaction is the base tenant's. */
export interface TenantEvent {
  readonly kind: 'admin.changed'
  readonly idTag: IdTag
}
