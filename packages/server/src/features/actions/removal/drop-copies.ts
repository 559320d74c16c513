import { type FileId, type IdTag, parseFileId } from '@kith/protocol'
import type { Static } from 'typebox'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import type { HookDeps, QueueDeps, ReadDeps } from '../action-ports.ts'
import { detachFiles, listUnshown } from '../attachment-store.ts'
import { dropCopiesJob } from '../job-kinds.ts'

/** Queues removing the copies of an ended action's attachments. Each is removed in a transaction of its own, because
 * this one may end many actions. */
export async function dropCopiesLater(
  { jobs }: QueueDeps,
  tx: Writer,
  { actionId, issuerTag, attachments }: StoredAction,
): Promise<void> {
  const fileIds = attachments.map(parseFileId).filter((fileId) => fileId !== undefined)
  if (fileIds.length === 0) return
  await detachFiles(tx, { actionId, fileIds })
  await jobs.enqueue(tx, dropCopiesJob, { issuerTag, fileIds })
}

/** Does the work of `dropCopiesJob`: removes the copies of files that their owner no longer shows to the tenant. */
export async function dropCopies(
  ports: Pick<ReadDeps & HookDeps, 'db' | 'fileShares'>,
  tenantId: TenantId,
  payload: Static<(typeof dropCopiesJob)['payload']>,
): Promise<void> {
  const issuerTag = payload.issuerTag as IdTag
  for (const fileId of payload.fileIds as FileId[])
    await ports.db.transact(tenantId, async (tx) => {
      for (const subject of await listUnshown(tx, { issuerTag, fileIds: [fileId] }))
        await ports.fileShares.drop(tx, { subject, issuerTag })
    })
}
