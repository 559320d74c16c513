import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { TextCheck } from '#lib/text-check.ts'
import type { StoredFile } from '../file.ts'
import { noteText } from './served-type-store.ts'

export interface ServedTypeDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'open'>
}

// A page of this origin could load them as its own, whatever the answer says of its disposition.
const scriptOrStyle = /(?:java|ecma|j|live)script|^text\/css/i
const textWithoutCharset = /^text\/(?!.*;\s*charset=)/i
// Of files that were uploaded before `isUtf8` was stored the bytes are read at the first answer, up to this size.
const mostOldBytes = 64 * 1024 ** 2

/** The type of a file as it is sent (docs/protocol/file-life.md, Serving). */
export async function servedType(
  deps: ServedTypeDeps,
  tenantId: TenantId,
  file: StoredFile,
): Promise<string> {
  const { contentType } = file
  if (scriptOrStyle.test(contentType)) return 'application/octet-stream'
  if (!textWithoutCharset.test(contentType)) return contentType
  return (file.isUtf8 ?? (await lookAt(deps, tenantId, file))) ? `${contentType}; charset=utf-8` : contentType
}

async function lookAt(
  { db, blobs }: ServedTypeDeps,
  tenantId: TenantId,
  { fileId, content, size }: StoredFile,
): Promise<boolean> {
  if (!content || size > mostOldBytes) return false
  const isUtf8 = await isTextOf(blobs, tenantId, content.hash)
  if (isUtf8 === undefined) return false
  // Where nothing can be written it is looked at again: files are read also while the disk is full.
  await db.transact(tenantId, (tx) => noteText(tx, fileId, isUtf8)).catch(() => undefined)
  return isUtf8
}

async function isTextOf(
  blobs: ServedTypeDeps['blobs'],
  tenantId: TenantId,
  hash: BlobHash,
): Promise<boolean | undefined> {
  const bytes = await blobs.open(tenantId, hash)
  if (!bytes) return undefined
  const check = new TextCheck()
  for await (const piece of bytes) check.take(piece as Uint8Array)
  return check.isText()
}
