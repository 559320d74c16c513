import { type FileId, fileTypeOf, type IdTag, parseFileId } from '@kith/protocol'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { readLevel } from '../access/file-viewer.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import type { FileQuestion } from '../access/read-file.ts'
import type { StoredFile } from '../file.ts'
import { fetchFileJob, fetchKeyOf } from '../file-jobs.ts'
import { listKnown } from '../file-store.ts'
import { findUnfetched } from './unfetched-file-store.ts'

/** Queues the attachments of a received action to be fetched from its issuer's server, or from that of who passed it on;
 * answers those that the tenant does not have yet. Folders, documents and databases stay where they are. */
export async function queueFetches(
  deps: { readonly jobs: Pick<Jobs, 'enqueueAll'> },
  tx: Writer,
  received: {
    readonly issuerTag: IdTag
    readonly attachments: readonly string[]
    readonly sourceTag: IdTag
  },
): Promise<FileId[]> {
  const { issuerTag, sourceTag } = received
  const source = sourceTag === issuerTag ? {} : { sourceTag }
  const attached = received.attachments.map(parseFileId).filter((fileId) => fileId !== undefined)
  const blobs = [...new Set(attached.filter((fileId) => fileTypeOf(fileId) === 'BLOB'))]
  const held = new Set(await listKnown(tx, blobs))
  const missing = blobs.filter((fileId) => !held.has(fileId))
  await deps.jobs.enqueueAll(
    tx,
    fetchFileJob,
    missing.map((fileId) => ({
      payload: { fileId, ownerTag: issuerTag, ...source },
      options: { dedupKey: fetchKeyOf(fileId, issuerTag), groupKey: sourceTag },
    })),
  )
  return missing
}

/** Fetches a file that nobody has asked for yet: what came with an action that the caller may read is `E-UNAVAILABLE` until
 * it is here. Nothing happens where there is none. */
export async function askForAttachment(
  deps: { readonly db: Database; readonly clock: Clock; readonly jobs: Pick<Jobs, 'enqueue'> },
  { tenant, caller, fileId }: FileQuestion,
): Promise<void> {
  if (fileTypeOf(fileId) !== 'BLOB') return
  const now = nowSecs(deps.clock)
  const reader = deps.db.reader(tenant.tenantId)
  const { viewer, limits } = await findFileViewer(reader, { tenant, caller, now })
  if (limits && limits.everywhere < readLevel) return
  const ownerTag = await findUnfetched(reader, viewer, { fileId, now })
  if (ownerTag) await askForContent(deps, tenant.tenantId, { fileId, ownerTag })
}

/** Fetches a file that is only known of, because somebody wants to read it; until then it is `E-UNAVAILABLE`. */
export async function askForContent(
  deps: { readonly db: Database; readonly jobs: Pick<Jobs, 'enqueue'> },
  tenantId: TenantId,
  { fileId, ownerTag }: Pick<StoredFile, 'fileId' | 'ownerTag'>,
): Promise<never> {
  const payload = { fileId, ownerTag, isOnDemand: true }
  const options = { dedupKey: `${fileId} asked`, groupKey: ownerTag }
  await deps.db.transact(tenantId, (tx) => deps.jobs.enqueue(tx, fetchFileJob, payload, options))
  throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 })
}
