import type { ActionId, AppCapability, FileId, IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'

/** An app as its publisher's APKG action offers it. */
export interface AppOffer {
  readonly publisherId: TenantId
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
