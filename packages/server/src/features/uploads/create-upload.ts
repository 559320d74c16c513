import { randomBytes } from 'node:crypto'
import {
  assertMayPlace,
  cancelReservation,
  reserveUpload,
  uploaderOf,
  visitorOf,
} from '#features/files/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type FinishDeps, finishUpload } from './finish-upload.ts'
import type { ResumableUpload } from './upload.ts'
import { metadataPath, parseUploadMetadata } from './upload-metadata.ts'
import { countUnfinished, insertUpload } from './upload-store.ts'

export interface NewUpload {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly length: number
  readonly metadata: string
}

// Their bytes are bounded by the quota; this bounds what they cost besides.
const maxUnfinished = 1000
const maxOfVisitor = 20
// Before its first byte has come.
const longestIdleSecs = 3_600

/** Begins an upload: whatever can be refused before the first byte is, and storage is set aside for all of it. */
export async function createUpload(deps: FinishDeps, input: NewUpload): Promise<ResumableUpload> {
  const { tenant, caller, length, metadata } = input
  const { tenantId } = tenant
  const { parentId, visibility } = parseUploadMetadata(metadata)
  const place = { tenant, caller, parentId, visibility, path: metadataPath }
  const creator = uploaderOf(caller)
  await assertMayPlace(deps.db.reader(tenantId), deps, place)
  if (creator === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  await deps.partials.assertRoom(length)
  const visitor = visitorOf(tenant, caller)
  const claim = { bytes: length, by: visitor, lifeSecs: longestIdleSecs }
  const reservation = await reserveUpload(deps, tenantId, claim)
  const now = nowSecs(deps.clock)
  const upload: ResumableUpload = {
    uploadId: randomBytes(16).toString('base64url'),
    creator,
    length,
    metadata,
    reservationId: reservation.id,
    offset: 0,
    expiresAt: now + longestIdleSecs,
    fileId: undefined,
  }
  try {
    await deps.db.transact(tenantId, async (tx) => {
      const isTooMany =
        (await countUnfinished(tx, { now })) >= maxUnfinished ||
        (visitor !== undefined && (await countUnfinished(tx, { now, by: visitor })) >= maxOfVisitor)
      if (isTooMany) throw new Failure('E-QUOTA', { message: 'Too many uploads are not finished.' })
      await insertUpload(tx, upload)
    })
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
  return length === 0 ? await finishUpload(deps, { tenant, caller, upload, recordedOffset: 0 }) : upload
}
