import type { ActionId, AppManifest, FileId, IdTag } from '@kith/protocol'
import type { BlobHash } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'

/** An app that a tenant has installed. */
export interface InstalledApp {
  readonly publisherTag: IdTag
  /** The publisher on this server; undefined where it has another one, or the app came with its tenant from there. */
  readonly publisherId: TenantId | undefined
  readonly manifest: AppManifest
  readonly actionId: ActionId
  readonly fileId: FileId
  readonly hash: BlobHash
  readonly autoUpdate: boolean
  /** When the publisher took the offer back, or it expired. Unix seconds. */
  readonly withdrawnAt: number | undefined
  /** Unix seconds. */
  readonly installedAt: number
  readonly updatedAt: number
}
