import { Readable } from 'node:stream'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { supersededUpload } from './active-uploads.ts'
import { dropUpload } from './end-upload.ts'
import type { UploadReadDeps } from './get-upload.ts'
import { longestUploadSecs, renewReservation } from './reserve-storage.ts'
import { partialName, type ResumableUpload } from './upload.ts'
import { storeUpload, type Upload, type UploadDeps } from './upload-file.ts'
import { parseUploadMetadata } from './upload-metadata.ts'
import { moveUpload } from './upload-store.ts'

export interface FinishDeps extends UploadDeps, UploadReadDeps {}

interface ArrivedUpload {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly upload: ResumableUpload
  readonly recordedOffset: number
}

// What is the fault of the bytes or of what was said of them: sending them again would change nothing.
const finalCodes: ReadonlySet<string> = new Set(['E-VALIDATION', 'E-MEDIATYPE', 'E-FILE-NOTFOUND'])

/** Makes the file of an upload whose bytes are all here, once: the row of the file and the end of the upload are one
 * transaction. A process that dies before it leaves the upload where its last piece began or was last recorded. */
export async function finishUpload(deps: FinishDeps, arrived: ArrivedUpload): Promise<ResumableUpload> {
  const { tenant, upload } = arrived
  const { length, reservationId: id } = upload
  const name = partialName(tenant.tenantId, upload.uploadId)
  const expiresAt = nowSecs(deps.clock) + longestUploadSecs
  await renewReservation(deps, tenant.tenantId, { id, bytes: length })
  const stream = length === 0 ? Readable.from([]) : await deps.partials.read(name)
  try {
    const input = inputOf(arrived, stream, expiresAt)
    const { fileId } = await storeUpload(deps, input, { id, bytes: length, bound: 'file' })
    // What cannot be removed now is swept later: the file is made.
    await deps.partials.remove(name).catch(() => undefined)
    return { ...upload, offset: length, expiresAt, fileId }
  } catch (error) {
    if (error instanceof Failure && finalCodes.has(error.code))
      await dropUpload(deps, tenant.tenantId, upload)
    throw error
  } finally {
    stream.destroy()
  }
}

function inputOf(
  { tenant, caller, upload, recordedOffset: from }: ArrivedUpload,
  stream: Readable,
  expiresAt: number,
): Upload {
  const { uploadId, length, metadata } = upload
  return {
    tenant,
    caller,
    ...parseUploadMetadata(metadata),
    stream,
    declaredLength: length,
    atMostLength: undefined,
    // The bytes are here: a client that goes away now changes nothing.
    signal: new AbortController().signal,
    async alsoStore(tx, fileId) {
      if (!(await moveUpload(tx, { uploadId, from, to: length, expiresAt, fileId }))) throw supersededUpload()
    },
  }
}
