import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import { findHardLock } from './lock-store.ts'

interface Writing {
  readonly fileId: FileId
  /** Of documents, and of collections in which documents are created. */
  readonly paths: readonly string[]
  readonly holder: string
}

// Bound values of one statement.
const pathsAtOnce = 500

/** Throws 423 when another holder has a hard lock on one of these paths. */
export async function assertUnlocked(
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  tx: Writer,
  { fileId, paths, holder }: Writing,
): Promise<void> {
  const now = nowSecs(clock)
  const all = [...new Set(paths.flatMap(withCollection))]
  for (let from = 0; from < all.length; from += pathsAtOnce) {
    const lock = await findHardLock(tx, fileId, { paths: all.slice(from, from + pathsAtOnce), holder, now })
    if (lock)
      throw new RtdbFailure(423, `${lock.path} is locked by ${lock.holder}`, {
        path: lock.path,
        holder: lock.holder,
      })
  }
}

/** The path of a document, and of the collection that it is in. */
function withCollection(path: string): string[] {
  const isDocument = path.split('/').length % 2 === 0
  return isDocument ? [path, path.slice(0, path.lastIndexOf('/'))] : [path]
}
