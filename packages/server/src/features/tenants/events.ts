import type { IdTag } from '@kith/protocol'

/** Who administers the server has changed; the transaction is the base tenant's. Or whether the server answers for a tenant has:
 * it was suspended, resumed or removed. */
export interface TenantEvent {
  readonly kind: 'admin.changed' | 'hosted-name.changed'
  readonly idTag: IdTag
}
