import { type IdTag, parseFileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { fetchFileJob } from './file-jobs.ts'

/** Queues the attachments of a received action to be fetched from its issuer's server. */
export async function queueFetches(
  deps: { readonly jobs: Jobs },
  tx: Writer,
  received: { readonly issuerTag: IdTag; readonly attachments: readonly string[] },
): Promise<void> {
  const { issuerTag } = received
  const fileIds = received.attachments.map(parseFileId).filter((fileId) => fileId !== undefined)
  await deps.jobs.enqueueAll(
    tx,
    fetchFileJob,
    fileIds.map((fileId) => ({
      payload: { fileId, ownerTag: issuerTag },
      options: { dedupKey: fileId, groupKey: issuerTag },
    })),
  )
}
