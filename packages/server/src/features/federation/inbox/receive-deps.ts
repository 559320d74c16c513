import type { ActionTokenPayload, IdTag } from '@kith/protocol'
import type { ReceivedAction, ReceiveOutcome } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { TokenVerifier } from './verify-token.ts'

/** A tenant that an action concerns. A suspended one receives it when the suspension has ended. */
export type Receiver = Tenant & { readonly suspendedAt?: number }

/** What the inbox needs of other rooms. */
export interface ReceiveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly verifier: Pick<TokenVerifier, 'verify'>
  /** Is this identity or its domain blocked for the whole server? */
  readonly isBlockedHere: (idTag: IdTag) => Promise<boolean>
  /** The tenants of this server that an action concerns. */
  readonly findConcerned: (
    reader: Reader,
    payload: ActionTokenPayload,
    announced?: ActionTokenPayload,
  ) => Promise<Receiver[]>
  readonly findTenantById: (tenantId: TenantId) => Promise<Receiver | undefined>
  /** Stores an action at one tenant, with its effects there. */
  readonly receiveAction: (
    tx: Writer,
    arrival: { readonly tenant: Tenant; readonly received: ReceivedAction },
  ) => Promise<ReceiveOutcome>
}
