import type { ActionId, AppCapability, AppManifest, FileId, IdTag } from '@kith/protocol'

/** An app as an APKG action that the tenant holds offers it. */
export interface AppOffer extends Pick<AppManifest, 'titles' | 'descriptions' | 'fileTypes'> {
  readonly publisherTag: IdTag
  readonly actionId: ActionId
  readonly name: string
  readonly version: string
  readonly fileId: FileId
  readonly capabilities: readonly AppCapability[]
  readonly description: string | undefined
  readonly tags: readonly string[]
  /** Unix seconds. */
  readonly createdAt: number
}
