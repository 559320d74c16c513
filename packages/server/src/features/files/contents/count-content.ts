import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { findFree, type StorageLimits } from '../upload/reserve-storage.ts'
import { kindOfContent } from '../upload/storage-kind.ts'
import { countBytes } from '../upload/storage-store.ts'
import { addToSize } from './file-size-store.ts'

interface CountedContent {
  readonly fileId: FileId
  /** More than before, or less. */
  readonly bytes: number
  readonly limits: StorageLimits
  /** Unix seconds. */
  readonly now: number
}

/** Adds to the size of a document or a database, and to what its tenant uses. Throws `E-QUOTA` when that would be more
 * than it may; less is always fine. Of a file that is gone nothing is counted. */
export async function countContent(
  tx: Writer,
  { fileId, bytes, limits, now }: CountedContent,
): Promise<void> {
  if (bytes > 0 && bytes > (await findFree(tx, now, limits))) throw new Failure('E-QUOTA')
  const counted = await addToSize(tx, fileId, bytes)
  if (counted && counted.change !== 0) await countBytes(tx, counted.change, kindOfContent(counted.fileTp))
}
