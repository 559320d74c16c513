import type { IdTag } from '@kith/protocol'

/** `admin.changed`: who administers the server; the transaction is the base tenant's. `hosted-name.changed`: whether the server
 * answers for a tenant; it was suspended, resumed or removed. `tenant.suspended`: the tenant of the transaction. */
export interface TenantEvent {
  readonly kind: 'admin.changed' | 'hosted-name.changed' | 'tenant.suspended'
  readonly idTag: IdTag
}
