import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { removeItems } from './collections/collection-store.ts'
import { type EndDeps, endSharesOfFiles } from './sharing/end-shares.ts'

/** Lets go of files that are about to go for ever: their shares end, and they leave the collections. */
export function fileReleaser(deps: EndDeps) {
  return async (tx: Writer, fileIds: readonly FileId[]): Promise<void> => {
    await endSharesOfFiles(deps, tx, fileIds)
    await removeItems(tx, fileIds)
  }
}
