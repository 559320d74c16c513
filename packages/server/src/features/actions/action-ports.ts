import type {
  ActionId,
  CommunityRole,
  FileId,
  FileType,
  IdTag,
  StrangerSetting,
  Visibility,
} from '@kith/protocol'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { StoredAction } from './action.ts'
import type { Audience } from './audience.ts'
import type { ActionEvent } from './events.ts'

/** What a file share says of its file, so that it can be shown before it is accepted. */
export interface FileDescription {
  readonly fileName: string
  readonly contentType: string
  readonly fileTp: FileType
}

/** What FSHR actions do to files. Each may be told the same twice. */
export interface FileShares {
  /** Fails with `E-FILE-NOTFOUND` or `E-AUTH-FORBIDDEN` unless the caller may give this access to the file. */
  describe(
    reader: Reader,
    share: {
      readonly tenant: Tenant
      readonly caller: Identified | undefined
      readonly audienceTag: IdTag | undefined
      readonly fileId: FileId
      readonly permission: 'READ' | 'WRITE'
      /** Unix seconds. */
      readonly expiresAt: number | undefined
    },
  ): Promise<FileDescription & { readonly expiresAt?: number }>
  /** At the file's server: the audience has access now, or no longer. */
  grant(tx: Writer, tenant: Tenant, share: StoredAction): Promise<void>
  withdraw(tx: Writer, tenant: Tenant, share: Pick<StoredAction, 'subject' | 'audienceTag'>): Promise<void>
  /** There too: the audience does not want it. */
  decline(tx: Writer, tenant: Tenant, refusal: Pick<StoredAction, 'subject' | 'issuerTag'>): Promise<void>
  /** At the audience's: the file is among its own, as long as the share says, or no longer. */
  accept(tx: Writer, share: StoredAction): Promise<void>
  renew(tx: Writer, share: StoredAction): Promise<void>
  drop(tx: Writer, share: Pick<StoredAction, 'subject' | 'issuerTag'>): Promise<void>
}

/** For what only reads. */
export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

/** For what leaves its work to a job. */
export interface QueueDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** For what counts an action at its target. */
export interface CountDeps extends QueueDeps {
  readonly clock: Clock
  readonly emit: Emit<ActionEvent>
}

/** For what a server signs by itself. */
export interface TokenDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
}

/** For what people issue. */
export interface SignDeps extends TokenDeps {
  /** Has an administrator blocked, suspended or banned this tenant? */
  isSilenced(tenant: Tenant): Promise<boolean>
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

/** For rules about strangers. */
export interface StrangerDeps {
  /** Does the tenant of the reader take from strangers what this setting is about? */
  isOpenToStrangers(reader: Reader, setting: StrangerSetting): Promise<boolean>
}

/** What the type of an action may need where it is stored, changed or ended. */
export interface HookDeps extends QueueDeps, KnownTypeDeps, StrangerDeps {
  readonly fileShares: FileShares
  /** The role of somebody in a community of this server; undefined when the community is none of them. */
  findRoleHere(tx: Writer, communityTag: IdTag, idTag: IdTag): Promise<CommunityRole | undefined>
}

/** For rules about the identities that an action names. */
export interface IdentityDeps {
  /** Would a community of this server be without a leader if this one left? */
  leadsAlone(leaderTag: IdTag, communityTag: IdTag): Promise<boolean>
  /** Is there such an identity, here or elsewhere? A look-up that comes to nothing is charged to the asker. */
  findIdentity(idTag: IdTag, asker: IdTag): Promise<'found' | 'unknown' | 'unreachable'>
  /** What its server says it is, here or elsewhere; not every server says it. */
  askType(idTag: IdTag, asker: IdTag): Promise<Tenant['type'] | undefined>
}

/** What the type of an action may need before it is signed. */
export interface PrepareHookDeps extends IdentityDeps {
  readonly fileShares: FileShares
}

/** For what completes an action before it is signed. */
export interface PrepareDeps extends ReadDeps, PrepareHookDeps, StrangerDeps {
  /** The tenant's own choice for what it publishes without a word on visibility. */
  findDefaultVisibility(reader: Reader): Promise<Visibility | undefined>
  /** A tenant of this server that takes part. */
  findHosted(idTag: IdTag): Promise<Tenant | undefined>
  /** Fails with `E-FILE-NOTFOUND` or `E-AUTH-FORBIDDEN` unless the caller may attach all these files. */
  assertAttachable(reader: Reader, fileIds: readonly FileId[], caller: Caller): Promise<void>
}

/** For what stores, changes or ends actions in a transaction. */
export interface StoreDeps extends CountDeps, SendDeps, HookDeps {}

/** For what takes actions in from elsewhere. */
export interface ReceiveDeps extends StoreDeps {
  /** Queues the attachments of an action from elsewhere to be fetched, from its issuer or from whoever passed it on; those
   * that the tenant does not hold yet. What becomes of each is told to `settleAttachment`. */
  fetchAttachments(
    tx: Writer,
    received: {
      readonly issuerTag: IdTag
      readonly attachments: readonly FileId[]
      readonly sourceTag: IdTag
    },
  ): Promise<readonly FileId[]>
}

/** For what makes and signs actions. */
export interface MakeDeps extends PrepareDeps, SignDeps {}

/** For what makes actions and stores them. */
export interface CreateDeps extends MakeDeps, StoreDeps {}

/** For what deletes actions and tells of it. */
export interface DeleteDeps extends ReadDeps, TokenDeps, StoreDeps, IdentityDeps {}

/** Everything that actions need of other features: for those who wire them. */
export interface ActionPorts extends CreateDeps, ReceiveDeps, DeleteDeps {}
