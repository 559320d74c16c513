import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'

/** A tenant of this server, with what only the server needs to know of it. */
export interface HostedTenant extends Tenant {
  /** A second host name under which the tenant's apps answer. */
  readonly appDomain?: string
  /** The identity that made a community; its rights there come from its role, not from this. */
  readonly ownerTag?: IdTag
  /** The tenant whose owner administers the server; there is one. */
  readonly isBase: boolean
  /** Unix seconds; a suspended tenant answers no requests. */
  readonly suspendedAt?: number
  readonly underWay?: UnderWay
  readonly createdAt: number
}

/** What a suspended tenant is in the middle of, and so is not whole: nothing resumes it. */
export type UnderWay = 'import' | 'removal'

declare const epochBrand: unique symbol
/** Counts how often a tenant has ended all its sign-ins. A sign-in checked in one epoch opens no session in the next. */
export type SignInEpoch = number & { readonly [epochBrand]: true }
