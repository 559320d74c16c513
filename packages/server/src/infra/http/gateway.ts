import type { Contract, IdTag } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Answer, Call } from './endpoint.ts'

/** The owner of a tenant who calls another identity's host. */
export interface GatewayVisit {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly target: IdTag
}

/** Where the target lives: at this server, whose own endpoints answer the bearer, or at another one, which is asked. */
export type GatewayPassage =
  | { readonly kind: 'here'; readonly bearer: string }
  | { readonly kind: 'elsewhere'; ask(contract: Contract, call: Call<Contract>): Promise<Answer<Contract>> }

/** Calls other identities' hosts for the owners of tenants (docs/protocol/gateway.md). */
export interface Gateway {
  /** Throws a `Failure` where the target may not be called. */
  enter(visit: GatewayVisit): Promise<GatewayPassage>
  /** The bearer of a passage is not good any more. */
  forget(visit: GatewayVisit): void
}
