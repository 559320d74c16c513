import type { Readable } from 'node:stream'
import type { FileId, IdTag, UploadPreset, Visibility } from '@kith/protocol'
import type { StagedBlob } from '#infra/blobs/index.ts'
import { type Caller, hasRole, isOwner, type Tenant } from '#infra/caller/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertFileName, hasVariants, newBlobFileId, normalTags, type StoredFile } from './file.ts'
import { makeVariantsJob } from './file-jobs.ts'
import { findFile, insertFile, insertVariants } from './file-store.ts'
import { discardAll, type MadePicture, makePictures, type PictureDeps } from './make-pictures.ts'
import { cancelReservation, type Reservation, type ReserveDeps, reserveStorage } from './reserve-storage.ts'
import { countFile, deleteReservation, useBlob } from './storage-store.ts'

export interface UploadDeps extends ReserveDeps, PictureDeps {
  readonly jobs: Jobs
}

export interface Upload {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly preset: UploadPreset
  readonly fileName: string
  readonly stream: Readable
  readonly declaredType: string
  readonly declaredLength: number | undefined
  readonly tags: readonly string[]
  readonly parentId: FileId | undefined
  readonly visibility: Visibility
  /** Unix seconds, when the uploader says that the content is older. */
  readonly createdAt: number | undefined
  readonly signal: AbortSignal
}

/** What an upload has become: the file and every blob it needs, none of them kept yet. */
interface Prepared {
  readonly file: StoredFile
  readonly original: StagedBlob | undefined
  readonly pictures: readonly MadePicture[]
}

/** Stores an upload: quota first, then the bytes, then the row with its job. What fails leaves nothing behind. */
export async function uploadFile(deps: UploadDeps, upload: Upload): Promise<StoredFile> {
  const { tenant } = upload
  const draft = await draftOf(deps, upload)
  const reservation = await reserveStorage(deps, tenant.tenantId, upload.declaredLength)
  try {
    const staged = await stage(deps, upload, reservation)
    try {
      const prepared = await prepare(deps, upload, { ...draft, contentType: typeOf(staged, upload) }, staged)
      return await commit(deps, tenant, prepared, reservation)
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenant.tenantId, reservation.id)
    throw error
  }
}

type Draft = Pick<
  StoredFile,
  'ownerTag' | 'tags' | 'fileName' | 'parentId' | 'visibility' | 'preset' | 'createdAt'
>

async function draftOf(deps: UploadDeps, upload: Upload): Promise<Draft> {
  const { fileName, parentId, visibility, preset } = upload
  const ownerTag = uploaderOf(upload)
  assertFileName(fileName, '/params/fileName')
  const tags = normalTags(upload.tags, '/query/tags')
  if (parentId) await assertFolder(deps, upload.tenant, parentId)
  const createdAt = upload.createdAt ?? nowSecs(deps.clock)
  return { ownerTag, tags, fileName, parentId, visibility, preset, createdAt }
}

/** The tenant's owner, or in a community a contributor, who then owns the file. */
function uploaderOf({ tenant, caller }: Upload): IdTag {
  if (isOwner(caller)) return tenant.idTag
  const contributes = tenant.type === 'community' && hasRole(caller, 'contributor')
  if (caller.kind !== 'identity' || !contributes) throw new Failure('E-AUTH-FORBIDDEN')
  return caller.idTag
}

async function assertFolder(deps: UploadDeps, tenant: Tenant, parentId: FileId): Promise<void> {
  const parent = await findFile(deps.db.reader(tenant.tenantId), parentId)
  if (!parent || parent.status === 'D') throw new Failure('E-FILE-NOTFOUND')
  if (parent.fileTp !== 'FLDR') throw invalid('/query/parentId', 'is not a folder')
}

async function stage(deps: UploadDeps, upload: Upload, reservation: Reservation): Promise<StagedBlob> {
  const { tenant, stream, signal } = upload
  const source = stream.iterator({ destroyOnReturn: false })
  try {
    return await deps.blobs.stage(tenant.tenantId, source, { maxBytes: reservation.bytes, signal })
  } catch (error) {
    const tooLarge = error instanceof Failure && error.code === 'E-TOOLARGE'
    throw tooLarge && reservation.bound === 'quota' ? new Failure('E-QUOTA') : error
  }
}

function typeOf(staged: StagedBlob, upload: Upload): string {
  const { contentType, contradictsDeclared } = sniffType(staged.head, upload.declaredType)
  if (contradictsDeclared) throw invalid('/headers/content-type', `the bytes are no ${upload.declaredType}`)
  return contentType
}

async function prepare(
  deps: UploadDeps,
  upload: Upload,
  draft: Draft & { contentType: string },
  staged: StagedBlob,
): Promise<Prepared> {
  const { preset } = upload
  if (preset !== 'default' && preset !== 'raw')
    return await preparePicture(deps, upload, { ...draft, preset }, staged)
  const status = preset === 'default' && hasVariants(draft.contentType) ? 'M' : 'A'
  const file = { ...draft, ...blobMembers(staged), status, blobHash: staged.hash } as const
  return { file, original: staged, pictures: [] }
}

/** Presets that keep only what is made from the upload: the id must commit to that, so it is made before the answer. */
async function preparePicture(
  deps: UploadDeps,
  upload: Upload,
  draft: Draft & { contentType: string; preset: 'profile-picture' | 'cover-photo' | 'thumbnail-only' },
  staged: StagedBlob,
): Promise<Prepared> {
  if (!hasVariants(draft.contentType)) throw new Failure('E-MEDIATYPE')
  const input = { path: staged.path, preset: draft.preset, signal: upload.signal }
  const made = await makePictures(deps, upload.tenant.tenantId, input)
  if (made.kind === 'unprocessable')
    throw new Failure('E-MEDIATYPE', { message: 'The picture cannot be read.' })
  const { pictures } = made
  const orig = pictures.find(({ variant }) => variant.variant === 'orig')
  if (!orig)
    return {
      file: { ...draft, ...blobMembers(staged), status: 'A', blobHash: undefined },
      original: undefined,
      pictures,
    }
  const contentType = `image/${orig.variant.format}`
  const file = {
    ...draft,
    contentType,
    ...blobMembers(orig.blob),
    status: 'A',
    blobHash: orig.blob.hash,
  } as const
  return { file, original: undefined, pictures }
}

function blobMembers(blob: StagedBlob) {
  return { fileTp: 'BLOB', size: blob.size, processingError: undefined, ...newBlobFileId(blob.hash) } as const
}

async function commit(
  deps: UploadDeps,
  tenant: Tenant,
  { file, original, pictures }: Prepared,
  reservation: Reservation,
): Promise<StoredFile> {
  const blobs = [...(original ? [original] : []), ...pictures.map(({ blob }) => blob)]
  try {
    for (const blob of blobs) await blob.keep()
    await deps.db.transact(tenant.tenantId, async (tx) => {
      await insertFile(tx, file)
      for (const blob of blobs) await useBlob(tx, blob)
      await insertVariants(
        tx,
        file.fileId,
        pictures.map(({ variant }) => variant),
      )
      await countFile(tx, 1)
      await deleteReservation(tx, reservation.id)
      if (file.status === 'M') await deps.jobs.enqueue(tx, makeVariantsJob, { fileId: file.fileId })
    })
    return file
  } finally {
    await discardAll(pictures)
  }
}
