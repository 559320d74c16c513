import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { removeItems } from './collections/collection-store.ts'
import { queueRemoval } from './contents/remove-contents.ts'
import { type EndDeps, endSharesOfFiles } from './sharing/end-shares.ts'

/** Lets go of files that are about to go for ever: their shares end, they leave the collections, and
 * what documents and databases contain follows them. */
export function fileReleaser(deps: EndDeps & Parameters<typeof queueRemoval>[0]) {
  return async (tx: Writer, fileIds: readonly FileId[]): Promise<void> => {
    await endSharesOfFiles(deps, tx, fileIds)
    await removeItems(tx, fileIds)
    await queueRemoval(deps, tx, fileIds)
  }
}
