import { randomBytes } from 'node:crypto'
import { assertMayPlace, cancelReservation, longestUploadSecs, reserveUpload } from '#features/files/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type FinishDeps, finishUpload } from './finish-upload.ts'
import type { ResumableUpload } from './upload.ts'
import { metadataPath, parseUploadMetadata } from './upload-metadata.ts'
import { countUnfinished, insertUpload } from './upload-store.ts'

export interface NewUpload {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly length: number
  readonly metadata: string
}

// Their bytes are bounded by the quota; this bounds what they cost besides.
const maxUnfinished = 1000

/** Begins an upload: whatever can be refused before the first byte is, and storage is set aside for all of it. */
export async function createUpload(deps: FinishDeps, input: NewUpload): Promise<ResumableUpload> {
  const { tenant, caller, length, metadata } = input
  const { tenantId } = tenant
  const { parentId } = parseUploadMetadata(metadata)
  const place = { tenant, caller, parentId, path: metadataPath }
  await assertMayPlace(deps.db.reader(tenantId), deps, place)
  const reservation = await reserveUpload(deps, tenantId, { bytes: length })
  const upload: ResumableUpload = {
    uploadId: randomBytes(16).toString('base64url'),
    creatorTag: caller.idTag,
    length,
    metadata,
    reservationId: reservation.id,
    offset: 0,
    expiresAt: nowSecs(deps.clock) + longestUploadSecs,
    fileId: undefined,
  }
  try {
    await deps.db.transact(tenantId, async (tx) => {
      if ((await countUnfinished(tx)) >= maxUnfinished)
        throw new Failure('E-QUOTA', { message: 'Too many uploads are not finished.' })
      await insertUpload(tx, upload)
    })
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
  return length === 0 ? await finishUpload(deps, { tenant, caller, upload, recordedOffset: 0 }) : upload
}
