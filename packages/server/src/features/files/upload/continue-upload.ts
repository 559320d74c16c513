import type { Readable } from 'node:stream'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type ActiveUploads, supersededUpload } from './active-uploads.ts'
import { type FinishDeps, finishUpload } from './finish-upload.ts'
import { type FoundUpload, getUpload, type UploadQuestion } from './get-upload.ts'
import { longestUploadSecs, renewReservation } from './reserve-storage.ts'
import { partialName, type ResumableUpload } from './upload.ts'
import { moveUpload } from './upload-store.ts'

export interface ContinueDeps extends FinishDeps {
  readonly turns: ActiveUploads
}

interface UploadPiece extends UploadQuestion {
  /** Where the client believes the upload to be. */
  readonly offset: number
  readonly stream: Readable
  readonly declaredLength: number | undefined
  readonly signal: AbortSignal
}

/** Takes the next bytes of an upload, and makes the file when they are the last. What has arrived when it fails stays. */
export async function continueUpload(deps: ContinueDeps, piece: UploadPiece): Promise<ResumableUpload> {
  const { tenant, caller, uploadId } = piece
  // 404 for callers without the upload, before a request of its creator is aborted.
  await getUpload(deps, piece)
  using turn = await deps.turns.take(partialName(tenant.tenantId, uploadId))
  const upload = await getUpload(deps, piece)
  assertFits(upload, piece)
  if (upload.fileId !== undefined) return upload
  const signal = AbortSignal.any([piece.signal, turn.signal])
  await renewReservation(deps, tenant.tenantId, { id: upload.reservationId, bytes: upload.length })
  const received = await receive(deps, { ...piece, signal }, upload)
  if (received.offset < upload.length) return { ...upload, ...received }
  return await finishUpload(deps, { tenant, caller, upload, recordedOffset: received.recordedOffset })
}

function assertFits(upload: FoundUpload, { offset, declaredLength = 0 }: UploadPiece): void {
  if (offset !== upload.offset)
    throw new Failure('E-STATE', {
      message: 'The upload is at another offset.',
      details: { offset: upload.offset },
    })
  if (declaredLength > upload.length - offset) throw new Failure('E-TOOLARGE')
}

interface Received {
  readonly offset: number
  readonly recordedOffset: number
  readonly expiresAt: number
}

async function receive(
  { db, clock, partials }: ContinueDeps,
  { tenant, stream, signal, uploadId }: UploadPiece,
  { offset, length, recordedOffset, expiresAt }: FoundUpload,
): Promise<Received> {
  const { tenantId } = tenant
  let recorded = { recordedOffset, expiresAt }
  const record = async (to: number) => {
    // The last byte is acknowledged by the file: whoever sees the whole length finds it made.
    if (to === length) return
    // One that has no byte yet lapses as it would have.
    if (to === 0 && recorded.recordedOffset === 0) return
    const from = recorded.recordedOffset
    const expiresAt = nowSecs(clock) + longestUploadSecs
    if (!(await db.transact(tenantId, (tx) => moveUpload(tx, { uploadId, from, to, expiresAt }))))
      throw supersededUpload()
    recorded = { recordedOffset: to, expiresAt }
  }
  await record(offset)
  const source = stream.iterator({ destroyOnReturn: false })
  const arriving = { offset, source, maxBytes: length, signal, onDurable: record }
  const reached = await partials.append(partialName(tenantId, uploadId), arriving)
  return { ...recorded, offset: reached }
}
