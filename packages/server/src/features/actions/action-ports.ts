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
import type { AppPackages, Attachments, FileShares } from './file-ports.ts'

/** For use cases that only read. */
export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

/** For use cases that queue jobs. */
export interface QueueDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** For code that shows actions with their files. */
export interface ShowDeps extends ReadDeps {
  readonly attachments: Pick<Attachments, 'listShown'>
}

/** For code that emits events. */
interface EmitDeps {
  readonly emit: Emit<ActionEvent | RelationEvent>
}

/** For code that counts actions at their targets. */
export interface CountDeps extends QueueDeps, EmitDeps {
  readonly clock: Clock
}

/** For tokens that the server signs by itself. */
export interface TokenDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
}

/** For code that sends tokens. */
export interface SendDeps {
  /** Queues an action's token for its recipients, in the transaction. Many recipients are handed out in portions. */
  deliver(
    tx: Writer,
    outgoing: {
      readonly actionId: ActionId
      readonly issuerTag: IdTag
      readonly audience: Audience
      /** Identities that have the token already. */
      readonly leftOut?: readonly IdTag[]
      /** The action whose counts the token tells. */
      readonly countsOf?: ActionId
      /** Unix seconds; at once when absent. */
      readonly notBefore?: number
      /** An ending is delivered even while the issuer is suspended. */
      readonly isEnding?: boolean
    },
  ): Promise<void>
}

/** For what a server tells others without a caller. */
export interface TellDeps extends TokenDeps, SendDeps, QueueDeps {
  readonly db: Database
}

/** For rules about an identity's type. */
export interface KnownTypeDeps {
  /** The type of an identity, as far as it is known here. */
  findKnownType(tx: Writer, idTag: IdTag): Promise<Tenant['type'] | undefined>
}

/** For rules about strangers and about settings of a tenant. */
export interface SettingDeps {
  readonly settings: Pick<Settings, 'findWith'>
}

/** What the hooks of a type may need when an action is stored, changed or ended. */
export interface HookDeps extends QueueDeps, EmitDeps, KnownTypeDeps, SettingDeps {
  readonly fileShares: FileShares
}

/** For rules about the identities that an action names. */
export interface IdentityDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'find'>
  /** Does this identity exist, here or elsewhere, and which type does its server say it has? Not every server says it.
   * A failed look-up counts against the asker. */
  askIdentity(
    idTag: IdTag,
    asker: IdTag,
  ): Promise<
    | { readonly kind: 'found'; readonly type?: Tenant['type'] | undefined }
    | { readonly kind: 'unknown' | 'unreachable' }
  >
}

/** What the hooks of a type may need before an action is signed. */
export interface PrepareHookDeps extends IdentityDeps {
  readonly fileShares: FileShares
  readonly appPackages: AppPackages
}

/** For code that completes an action before it is signed. */
export interface PrepareDeps extends ReadDeps, PrepareHookDeps, SettingDeps {
  readonly attachments: Pick<Attachments, 'assertAttachable'>
}

/** For code that stores, changes or ends actions in a transaction. */
export interface StoreDeps extends CountDeps, SendDeps, HookDeps {}

/** For code that receives actions from elsewhere. */
export interface ReceiveDeps extends StoreDeps {
  readonly attachments: Pick<Attachments, 'queueFetches'>
}

/** For code that makes and signs actions. */
export interface MakeDeps extends PrepareDeps, TokenDeps {}

/** For code that makes and stores actions. */
export interface CreateDeps extends MakeDeps, StoreDeps {}

/** For code that deletes actions and tells their holders. */
export interface DeleteDeps extends ReadDeps, TokenDeps, StoreDeps, IdentityDeps {}

/** Everything that actions need of other features, for the room that wires them. */
export interface ActionPorts extends CreateDeps, ReceiveDeps, DeleteDeps {
  readonly attachments: Attachments
}
