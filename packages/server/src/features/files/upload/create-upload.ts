import { randomBytes } from 'node:crypto'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type FinishDeps, finishUpload } from './finish-upload.ts'
import { placeUpload } from './place-upload.ts'
import { type Reservation, reserveUpload } from './reserve-storage.ts'
import type { ResumableUpload } from './upload.ts'
import { metadataPath, parseUploadMetadata } from './upload-metadata.ts'
import { countUnfinished, insertUpload } from './upload-store.ts'
import { uploaderOf, visitorOf } from './uploader.ts'

interface NewUpload {
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
  const { parentId, visibility, tags, replaces } = parseUploadMetadata(metadata)
  const place = { tenant, caller, parentId, visibility, tags, replaces, path: metadataPath }
  const creator = uploaderOf(caller)
  await placeUpload(deps.db.reader(tenantId), deps, place)
  if (creator === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  await deps.partials.assertFreeSpace(length)
  const visitor = visitorOf(tenant, caller)
  const now = nowSecs(deps.clock)
  const begun = {
    uploadId: randomBytes(16).toString('base64url'),
    creator,
    length,
    metadata,
    offset: 0,
    expiresAt: now + longestIdleSecs,
    fileId: undefined,
  }
  const write = async (tx: Writer, { id }: Reservation) => {
    const isTooMany =
      (await countUnfinished(tx, { now })) >= maxUnfinished ||
      (visitor !== undefined && (await countUnfinished(tx, { now, by: visitor })) >= maxOfVisitor)
    if (isTooMany) throw new Failure('E-QUOTA', { message: 'Too many uploads are not finished.' })
    await insertUpload(tx, { ...begun, reservationId: id })
  }
  const lasting = { lifeSecs: longestIdleSecs, write }
  const { id: reservationId } = await reserveUpload(deps, tenantId, { bytes: length, by: visitor, lasting })
  const upload: ResumableUpload = { ...begun, reservationId }
  return length === 0 ? await finishUpload(deps, { tenant, caller, upload, recordedOffset: 0 }) : upload
}
