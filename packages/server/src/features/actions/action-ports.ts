import type { ActionId, IdTag } from '@kith/protocol'
import type { RelationEvent } from '#features/relations/index.ts'
import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { Audience } from './audience.ts'
import type { ActionEvent } from './events.ts'
import type { Attachments, FileShares } from './file-ports.ts'

/** For what only reads. */
export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

/** For what leaves its work to a job. */
export interface QueueDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** For code that emits events. */
interface EmitDeps {
  readonly emit: Emit<ActionEvent | RelationEvent>
}

/** For what counts an action at its target. */
export interface CountDeps extends QueueDeps, EmitDeps {
  readonly clock: Clock
}

/** For what a server signs by itself. */
export interface TokenDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
}

/** For what sends tokens. */
export interface SendDeps {
  /** Queues an action's token for its recipients, in the transaction; for many of them it goes on in portions. */
  deliver(
    tx: Writer,
    outgoing: {
      readonly actionId: ActionId
      readonly issuerTag: IdTag
      readonly audience: Audience
      /** Who has it already. */
      readonly leftOut?: readonly IdTag[]
      /** Where it is the word on the counts of an action. */
      readonly countsOf?: ActionId
      /** Unix seconds; at once when absent. */
      readonly notBefore?: number
      /** The word that something has ended waits for nothing else of its issuer. */
      readonly isEnding?: boolean
    },
  ): Promise<void>
}

/** For what the server tells others by itself. */
export interface TellDeps extends TokenDeps, SendDeps, QueueDeps {
  readonly db: Database
}

/** For rules about what an identity is. */
export interface KnownTypeDeps {
  /** What kind of identity it is, as far as is known here. */
  findKnownType(tx: Writer, idTag: IdTag): Promise<Tenant['type'] | undefined>
}

/** For rules about what a tenant has chosen, and about strangers. */
export interface SettingDeps {
  readonly settings: Pick<Settings, 'findWith'>
}

/** What the type of an action may need where it is stored, changed or ended. */
export interface HookDeps extends QueueDeps, EmitDeps, KnownTypeDeps, SettingDeps {
  readonly fileShares: FileShares
}

/** For rules about the identities that an action names. */
export interface IdentityDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'find'>
  /** Is there such an identity, here or elsewhere, and what does its server say it is? Not every server says it. A look-up
   * that comes to nothing is charged to the asker. */
  askIdentity(
    idTag: IdTag,
    asker: IdTag,
  ): Promise<
    | { readonly kind: 'found'; readonly type?: Tenant['type'] | undefined }
    | { readonly kind: 'unknown' | 'unreachable' }
  >
}

/** What the type of an action may need before it is signed. */
export interface PrepareHookDeps extends IdentityDeps {
  readonly fileShares: FileShares
}

/** For what completes an action before it is signed. */
export interface PrepareDeps extends ReadDeps, PrepareHookDeps, SettingDeps {
  readonly attachments: Pick<Attachments, 'assertAttachable'>
}

/** For what stores, changes or ends actions in a transaction. */
export interface StoreDeps extends CountDeps, SendDeps, HookDeps {}

/** For what takes actions in from elsewhere. */
export interface ReceiveDeps extends StoreDeps {
  readonly attachments: Pick<Attachments, 'queueFetches'>
}

/** For what makes and signs actions. */
export interface MakeDeps extends PrepareDeps, TokenDeps {}

/** For what makes actions and stores them. */
export interface CreateDeps extends MakeDeps, StoreDeps {}

/** For what deletes actions and tells of it. */
export interface DeleteDeps extends ReadDeps, TokenDeps, StoreDeps, IdentityDeps {}

/** Everything that actions need of other features: for those who wire them. */
export interface ActionPorts extends CreateDeps, ReceiveDeps, DeleteDeps {
  readonly attachments: Attachments
}
