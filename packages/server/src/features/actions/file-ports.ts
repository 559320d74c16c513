import type { ActionId, AppManifest, AttachedFile, FileId, FileType, IdTag } from '@kith/protocol'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'

/** The members of a file share that describe its file, so that it can be shown before the share is accepted. */
interface FileDescription {
  readonly fileName: string
  readonly contentType: string
  readonly fileTp: FileType
}

/** What FSHR actions do to files. Every call may be repeated. */
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
  /** At the file's server: gives the audience access, or takes it away. */
  grant(tx: Writer, tenant: Tenant, share: StoredAction): Promise<void>
  withdraw(tx: Writer, tenant: Tenant, share: Pick<StoredAction, 'subject' | 'audienceTag'>): Promise<void>
  /** At the file's server: the audience has refused the file. */
  decline(tx: Writer, tenant: Tenant, refusal: Pick<StoredAction, 'subject' | 'issuerTag'>): Promise<void>
  /** At the audience: adds the file to its own for as long as the share holds, updates that, or removes it. */
  accept(tx: Writer, share: StoredAction): Promise<void>
  renew(tx: Writer, share: StoredAction): Promise<void>
  drop(tx: Writer, share: Pick<StoredAction, 'subject' | 'issuerTag'>): Promise<void>
}

/** The members of an offer that its package says. */
export type DescribedPackage = Pick<AppManifest, 'titles' | 'descriptions' | 'fileTypes'> &
  Required<Pick<AppManifest, 'capabilities'>>

/** The packages that APKG actions offer. */
export interface AppPackages {
  /** Checks the package, and answers what it says of itself. Fails with `E-FILE-NOTFOUND` unless the caller may read
   * it, and with `E-VALIDATION` when it is no package, or another one than the offer says. */
  describe(
    reader: Reader,
    offer: {
      readonly tenant: Tenant
      readonly caller: Identified | undefined
      readonly fileId: FileId
      readonly name: string
      readonly version: string
    },
  ): Promise<DescribedPackage>
}

/** The attachments of actions. */
export interface Attachments {
  /** The files that these actions show to their readers, by one query. Who may read the actions was asked before. `now`:
   * Unix seconds. */
  listShown(
    reader: Reader,
    query: { readonly tenant: Tenant; readonly actionIds: readonly ActionId[]; readonly now: number },
  ): Promise<readonly { readonly actionId: ActionId; readonly file: AttachedFile }[]>
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
  /** Queues fetching the attachments of an action from elsewhere, from its issuer or from whoever passed it on. Answers
   * those that the tenant does not hold yet; `settleAttachment` is told the outcome of each. */
  queueFetches(
    tx: Writer,
    received: {
      readonly issuerTag: IdTag
      readonly attachments: readonly FileId[]
      readonly sourceTag: IdTag
    },
  ): Promise<readonly FileId[]>
}
