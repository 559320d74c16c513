import type { TenantId } from '#infra/db/index.ts'
import type { BlobHash } from './blob-store.ts'

const hashForm = /^[0-9a-f]{64}$/

/** Whether a text from elsewhere (a row, a path) has the form of a blob's name. */
export function isBlobHash(text: string): text is BlobHash {
  return hashForm.test(text)
}

/** Throws on anything but a whole number and a hash: no text of a caller ever becomes a path or a key. */
export function assertBlobName(tenantId: TenantId, hash: BlobHash): void {
  assertBlobTenant(tenantId)
  if (!isBlobHash(hash)) throw new TypeError('A blob is named by 64 lower-case hexadecimal digits')
}

/** Throws on anything but a whole number. */
export function assertBlobTenant(tenantId: TenantId): void {
  if (!Number.isSafeInteger(tenantId) || tenantId < 0)
    throw new TypeError('A tenant is named by a whole number')
}
