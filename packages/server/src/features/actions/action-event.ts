import type { ActionId, FileId, IdTag, Visibility } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { StoredAction } from './action.ts'

/** What happened to an action at one tenant. */
export interface ActionEvent {
  readonly kind: 'created' | 'received' | 'deleted'
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** What the actions need of other features. */
export interface ActionPorts {
  readonly db: Database
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
  /** Queues an action's token for its recipients, in the transaction. */
  deliver(
    tx: Writer,
    outgoing: {
      readonly actionId: ActionId
      readonly issuerTag: IdTag
      readonly recipients: readonly IdTag[]
    },
  ): Promise<void>
  /** Whoever reacts to actions (files to fetch, bus, push) writes what it has to do, in the transaction. */
  onStored(tx: Writer, event: ActionEvent): Promise<void>
  /** Is there such an identity, here or elsewhere? */
  findIdentity(idTag: IdTag): Promise<'found' | 'unknown' | 'unreachable'>
  /** The tenant's own choice for what it publishes without a word on visibility. */
  findDefaultVisibility(reader: Reader): Promise<Visibility | undefined>
  /** Fails with `E-FILE-NOTFOUND` or `E-AUTH-FORBIDDEN` unless the caller may attach all these files. */
  assertAttachable(reader: Reader, fileIds: readonly FileId[], caller: Caller): Promise<void>
}
