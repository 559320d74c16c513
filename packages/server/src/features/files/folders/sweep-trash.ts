import type { FileId } from '@kith/protocol'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { findFile } from '../file-store.ts'
import { continueChange } from './change-folder.ts'
import { listDiscarded } from './file-removal-store.ts'
import { listFolderChanges } from './folder-change-store.ts'
import { beginRemoval, type TrashDeps } from './trash-file.ts'

const keptSecs = 30 * 86_400
// Its request goes on with a change meanwhile, if its process lives.
const abandonedSecs = 60
const filesPerBatch = 50

/** Goes on with what was being done to folders when a process died, and removes what others than its owner deleted for
 * good thirty days ago. */
export async function sweepTrash(deps: TrashDeps): Promise<void> {
  const reader = deps.db.reader(serverTenant)
  const now = nowSecs(deps.clock)
  const abandoned = { startedUpTo: now - abandonedSecs, limit: filesPerBatch }
  for (const { tenantId, folderId } of await listFolderChanges(reader, abandoned))
    await continueChange(deps, tenantId, folderId)
  const ended = { upTo: now - keptSecs, limit: filesPerBatch }
  for (let count = filesPerBatch; count === filesPerBatch; ) {
    const discarded = await listDiscarded(reader, ended)
    for (const { tenantId, fileId } of discarded) await removeDiscarded(deps, tenantId, fileId)
    count = discarded.length
  }
}

async function removeDiscarded(deps: TrashDeps, tenantId: TenantId, fileId: FileId): Promise<void> {
  const isDone = await deps.db.transact(tenantId, async (tx) => {
    // Again, since its owner may have taken it out of the trash.
    const isStill = (await findFile(tx, fileId))?.discarded !== undefined
    return !isStill || (await beginRemoval(deps, tx, fileId))
  })
  if (!isDone) await continueChange(deps, tenantId, fileId)
}
