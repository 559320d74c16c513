import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'

/** A tenant of this server, with what only the server needs to know of it. */
export interface HostedTenant extends Tenant {
  /** A second host name under which the tenant's apps answer. */
  readonly appDomain?: string
  /** Who asked for a community; what they may do there comes from their role, not from this. */
  readonly ownerTag?: IdTag
  /** The tenant whose owner administers the server; there is one. */
  readonly isBase: boolean
  /** Unix seconds; a suspended tenant answers nobody. */
  readonly suspendedAt?: number
  readonly createdAt: number
}
