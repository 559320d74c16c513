import type { FileId } from '@kith/protocol'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { LowDiskFailure } from '#infra/disk/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { FileEmitter } from '../events.ts'
import type { Commitment, PictureDetails, StoredFile, StoredVariant } from '../file.ts'
import { makeVariantsJob } from '../file-jobs.ts'
import { changeStatus, findFile, insertVariants } from '../file-store.ts'
import { keepBlobs, type ReserveDeps } from '../upload/reserve-storage.ts'
import { type UsedBlob, useBlobs } from '../upload/storage-store.ts'
import { discardAll, makePictures, type PictureDeps, type Pictures } from './make-pictures.ts'

export interface VariantDeps extends PictureDeps, ReserveDeps, FileEmitter {
  readonly db: Database
}

type Original = StoredFile & { readonly content: Commitment }
type Made = Extract<Pictures, { kind: 'made' }>

/** Makes the variants of a picture and sets its file to `A`; a picture that cannot be processed stays as uploaded. */
export async function makeVariants(
  deps: VariantDeps,
  { fileId }: { readonly fileId: string },
  context: JobContext,
): Promise<void> {
  const { tenantId } = context
  const file = await startProcessing(deps, tenantId, fileId as FileId)
  if (!file) return
  try {
    const made = await process(deps, tenantId, file, context.signal)
    if (made.kind === 'made') await storeVariants(deps, tenantId, file, made)
    else await giveUp(deps, tenantId, file, made.reason)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-QUOTA' && !(error instanceof LowDiskFailure))
      await giveUp(deps, tenantId, file, 'the storage is used up')
    else {
      if (context.attempt >= makeVariantsJob.retry.maxAttempts)
        await giveUp(deps, tenantId, file, 'it could not be processed')
      throw error
    }
  }
}

async function startProcessing(
  deps: VariantDeps,
  tenantId: TenantId,
  fileId: FileId,
): Promise<Original | undefined> {
  return await deps.db.transact(tenantId, async (tx) => {
    // `P` is where a worker that died left it.
    await changeStatus(tx, fileId, { from: ['M', 'P'], to: 'P' })
    const file = await findFile(tx, fileId)
    return file?.status === 'P' && file.content ? { ...file, content: file.content } : undefined
  })
}

async function process(
  deps: VariantDeps,
  tenantId: TenantId,
  file: Original,
  signal: AbortSignal,
): Promise<Pictures> {
  await using local = await deps.blobs.openLocal(tenantId, file.content.hash)
  if (!local) return { kind: 'unprocessable', reason: 'the original is missing' }
  return await makePictures(deps, tenantId, { path: local.path, preset: 'default', signal })
}

async function storeVariants(
  deps: VariantDeps,
  tenantId: TenantId,
  file: Original,
  { pictures, original, thumbhash }: Made,
): Promise<void> {
  try {
    const kept = { reservation: undefined, blobs: pictures.map(({ blob }) => blob) }
    await keepBlobs(deps, tenantId, kept, async (tx) => {
      // A file that was deleted meanwhile takes no variants; their bytes are swept.
      const picture = { ...detailsOf(original, nowSecs(deps.clock)), thumbhash }
      if (!(await changeStatus(tx, file.fileId, { from: ['P'], to: 'A', picture }))) return
      const variants = [...pictures.map(({ variant }) => variant), originalVariant(file, original)]
      await useBlobs(tx, variants.map(blobOf))
      await insertVariants(tx, file.fileId, variants)
      await tellDone(deps, tx, file)
    })
  } finally {
    await discardAll(pictures)
  }
}

async function giveUp(deps: VariantDeps, tenantId: TenantId, file: Original, reason: string): Promise<void> {
  const change = { from: ['P'], to: 'A', processingError: reason } as const
  await deps.db.transact(tenantId, async (tx) => {
    if (await changeStatus(tx, file.fileId, change)) await tellDone(deps, tx, file)
  })
}

async function tellDone({ emit }: FileEmitter, tx: Writer, { fileId, ownerTag }: Original): Promise<void> {
  await emit(tx, { kind: 'file.updated', fileId, to: [ownerTag] })
}

const daySecs = 86_400

/** A clock that was never set may be far ahead; a zone that was not noted makes less than a day. */
function detailsOf({ width, height, takenAt }: Made['original'], now: number): PictureDetails {
  return { width, height, takenAt: takenAt !== undefined && takenAt <= now + daySecs ? takenAt : undefined }
}

function originalVariant(
  { content, size }: Original,
  { width, height, format }: Made['original'],
): StoredVariant {
  return { variant: 'orig', blobHash: content.hash, width, height, size, format }
}

/** What a variant's row counts as a use of. */
export function blobOf({ blobHash, size }: StoredVariant): UsedBlob {
  // The original is counted as what it is when its file is stored.
  return { hash: blobHash, size, kind: 'previews' }
}
