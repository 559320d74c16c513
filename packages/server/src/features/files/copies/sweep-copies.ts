import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { findFile } from '../file-store.ts'
import type { TrashDeps } from '../folders/trash-file.ts'
import { type EndedCopy, listEndedCopies } from './copy-store.ts'
import { removeSharedFile } from './shared-file.ts'

const copiesPerBatch = 50

/** Takes copies away whose share has ended: nobody could read them any more. */
export async function sweepCopies(
  deps: Pick<TrashDeps, 'clock' | 'beforeRemoval' | 'emit'> & { readonly db: Database },
): Promise<void> {
  const now = nowSecs(deps.clock)
  // What a batch leaves standing would be the next one again.
  let [count, removed] = [copiesPerBatch, 1]
  while (count === copiesPerBatch && removed > 0) {
    const ended = await listEndedCopies(deps.db.reader(serverTenant), now, copiesPerBatch)
    removed = 0
    for (const [tenantId, copies] of Map.groupBy(ended, (copy) => copy.tenantId))
      await deps.db.transact(tenantId, async (tx) => {
        for (const copy of copies) {
          if (!(await hasEnded(tx, copy, now))) continue
          await removeSharedFile(deps, tx, copy)
          removed += 1
        }
      })
    count = ended.length
  }
}

/** Again, since its owner may have shared it for longer meanwhile. */
async function hasEnded(tx: Writer, { fileId }: EndedCopy, now: number): Promise<boolean> {
  const { expiresAt } = (await findFile(tx, fileId)) ?? {}
  return expiresAt !== undefined && expiresAt <= now
}
