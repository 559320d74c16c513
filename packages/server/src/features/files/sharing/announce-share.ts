import type { FileId, FileType, IdTag } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'

/** What an identity is told by an FSHR action (docs/protocol/sharing.md, Shares). */
export interface ShareNotice {
  readonly tenant: Tenant
  /** Who shares it or takes it back; undefined when it ended by itself. The action is the tenant's in any case. */
  readonly caller: Caller | undefined
  readonly audienceTag: IdTag
  readonly fileId: FileId
  readonly grant:
    | 'withdrawn'
    | {
        readonly permission: 'READ' | 'WRITE'
        readonly expiresAt: number | undefined
        readonly fileName: string
        readonly contentType: string
        readonly fileTp: FileType
      }
}

export interface AnnounceDeps {
  /** Makes and signs the FSHR action; the function that it answers stores it in the share's own transaction, which
   * may run more than once. */
  readonly prepareFileShare: (notice: ShareNotice) => Promise<(tx: Writer) => Promise<void>>
}
