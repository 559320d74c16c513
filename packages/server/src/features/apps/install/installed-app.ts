import type { ActionId, AppManifest, FileId, IdTag } from '@kith/protocol'
import type { BlobHash } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'

/** An app that a tenant has installed. */
export interface InstalledApp {
  readonly publisherTag: IdTag
  /** The publisher on this server; undefined where the app came with its tenant from another one. */
  readonly publisherId: TenantId | undefined
  readonly manifest: AppManifest
  readonly actionId: ActionId
  readonly fileId: FileId
  readonly hash: BlobHash
  readonly autoUpdate: boolean
  /** Unix seconds. */
  readonly installedAt: number
  readonly updatedAt: number
}
