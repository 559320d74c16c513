import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { PartialFiles } from '#infra/partials/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ActiveUploads } from './active-uploads.ts'
import { partialName, type ResumableUpload } from './upload.ts'
import { findUpload } from './upload-store.ts'
import { uploaderOf } from './uploader.ts'

export interface UploadReadDeps {
  readonly db: Database
  readonly clock: Clock
  readonly partials: PartialFiles
}

export interface UploadQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly uploadId: string
}

/** An upload as it can be continued. */
export interface FoundUpload extends ResumableUpload {
  /** The offset of its row. The bytes may lie on the disk of another process, or be lost: then the upload goes on from
   * what is here. */
  readonly recordedOffset: number
}

/** An upload of the caller; those of others do not exist. */
export async function getUpload(deps: UploadReadDeps, question: UploadQuestion): Promise<FoundUpload> {
  const { tenant, caller, uploadId } = question
  const key = { uploadId, creator: uploaderOf(caller) ?? '', now: nowSecs(deps.clock) }
  const upload = await findUpload(deps.db.reader(tenant.tenantId), key)
  if (!upload) throw new Failure('E-NOTFOUND')
  const recordedOffset = upload.offset
  if (upload.fileId !== undefined || recordedOffset === 0) return { ...upload, recordedOffset }
  const size = await deps.partials.size(partialName(tenant.tenantId, uploadId))
  return { ...upload, recordedOffset, offset: Math.min(recordedOffset, size) }
}

/** The same for a client that comes back to go on: a request of it that still hangs is ended first, and what that has brought
 * counts. */
export async function returnToUpload(
  deps: UploadReadDeps & { readonly turns: ActiveUploads },
  question: UploadQuestion,
): Promise<FoundUpload> {
  const { tenant, uploadId } = question
  // 404 for callers without the upload, before a request of its creator is aborted.
  await getUpload(deps, question)
  using _turn = await deps.turns.take(partialName(tenant.tenantId, uploadId))
  return await getUpload(deps, question)
}
