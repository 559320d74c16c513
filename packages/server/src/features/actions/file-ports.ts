import type { FileId, FileType, IdTag } from '@kith/protocol'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'

/** What a file share says of its file, so that it can be shown before it is accepted. */
interface FileDescription {
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

/** The files that actions bring along. */
export interface Attachments {
  /** Fails with `E-FILE-NOTFOUND` or `E-AUTH-FORBIDDEN` unless the caller may attach all these files. `now`: Unix seconds. */
  assertAttachable(
    reader: Reader,
    input: {
      readonly tenant: Tenant
      readonly caller: Caller
      readonly attachments: readonly FileId[]
      readonly now: number
    },
  ): Promise<void>
  /** Queues the attachments of an action from elsewhere to be fetched, from its issuer or from whoever passed it on; answers
   * those that the tenant does not hold yet. What becomes of each is told to `settleAttachment`. */
  queueFetches(
    tx: Writer,
    received: {
      readonly issuerTag: IdTag
      readonly attachments: readonly FileId[]
      readonly sourceTag: IdTag
    },
  ): Promise<readonly FileId[]>
}
