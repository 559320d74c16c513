import type { FileId } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'

/** A file on its way, in as many pieces as its connection takes. */
export interface ResumableUpload {
  readonly uploadId: string
  /** Who began it, an identity or a reference: to everybody else it does not exist. */
  readonly creator: string
  /** Bytes of the whole file. */
  readonly length: number
  /** As it was sent; parsed again when the file is made. */
  readonly metadata: string
  readonly reservationId: string
  /** Bytes that would survive a loss of power. It is the length exactly when there is a file. */
  readonly offset: number
  /** Unix seconds; every piece puts it off. */
  readonly expiresAt: number
  readonly fileId: FileId | undefined
}

/** The name of its bytes while they arrive. */
export function partialName(tenantId: TenantId, uploadId: string): string {
  return `${tenantId}-${uploadId}`
}
