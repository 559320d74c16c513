import { type Database, serverTenant } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { listEndedCopies, listTenantsWithEnded } from './copy-store.ts'
import { removeSharedFile } from './shared-file.ts'
import type { TrashDeps } from './trash-file.ts'

const copiesPerBatch = 50

/** Takes copies away whose share has ended: nobody could read them any more. Does the work of `sweepCopiesJob`. */
export async function sweepCopies(
  deps: Pick<TrashDeps, 'clock' | 'beforeRemoval'> & { readonly db: Database },
): Promise<void> {
  const now = nowSecs(deps.clock)
  for (const tenantId of await listTenantsWithEnded(deps.db.reader(serverTenant), now)) {
    let count = copiesPerBatch
    while (count === copiesPerBatch)
      count = await deps.db.transact(tenantId, async (tx) => {
        const ended = await listEndedCopies(tx, now, copiesPerBatch)
        for (const copy of ended) await removeSharedFile(deps, tx, copy)
        return ended.length
      })
  }
}
