import type { Readable } from 'node:stream'
import type { FileId, IdTag, UploadPreset, Visibility } from '@kith/protocol'
import type { StagedBlob } from '#infra/blobs/index.ts'
import { type Caller, hasRole, isOwner, type Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertFileName, commitTo, hasVariants, normalTags, type StoredFile } from './file.ts'
import { makeVariantsJob } from './file-jobs.ts'
import { findFile, insertFile, insertVariants } from './file-store.ts'
import { discardAll, type MadePicture, makePictures, type PictureDeps } from './make-pictures.ts'
import { blobOf } from './make-variants.ts'
import {
  cancelReservation,
  keepBlobs,
  type Reservation,
  type ReserveDeps,
  reserveUpload,
  type UploadReservation,
} from './reserve-storage.ts'
import { countFiles, useBlobs } from './storage-store.ts'

export interface UploadDeps extends ReserveDeps, PictureDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

export interface Upload {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly preset: UploadPreset
  readonly fileName: string
  readonly stream: Readable
  readonly declaredType: string
  readonly declaredLength: number | undefined
  /** For a length that is not declared. */
  readonly atMostLength: number | undefined
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
  /** Undefined where the preset keeps only what it makes. */
  readonly upload: StagedBlob | undefined
  readonly pictures: readonly MadePicture[]
}

/** Stores an upload: quota first, then the bytes, then the row with its job. What fails leaves nothing behind. */
export async function uploadFile(deps: UploadDeps, upload: Upload): Promise<StoredFile> {
  const { tenantId } = upload.tenant
  const draft = draftOf(deps, upload)
  await assertFolder(deps.db.reader(tenantId), upload)
  const { declaredLength, atMostLength } = upload
  const length = { bytes: declaredLength, atMostBytes: atMostLength }
  const reservation = await reserveUpload(deps, tenantId, length)
  try {
    const staged = await stage(deps, upload, reservation)
    try {
      return await storeStaged(deps, upload, { draft, staged, reservation })
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}

type Draft = Omit<StoredFile, 'fileId' | 'content' | 'size' | 'contentType' | 'status'>
type TypedDraft = Draft & Pick<StoredFile, 'contentType'>

function draftOf({ clock }: UploadDeps, upload: Upload): Draft {
  const { fileName, parentId, visibility, preset, createdAt } = upload
  const ownerTag = uploaderOf(upload)
  assertFileName(fileName, '/params/fileName')
  const tags = normalTags(upload.tags, '/query/tags')
  const now = nowSecs(clock)
  const made = { fileTp: 'BLOB', isCopy: false, processingError: undefined, modifiedAt: now } as const
  return { ...made, ownerTag, tags, fileName, parentId, visibility, preset, createdAt: createdAt ?? now }
}

/** The tenant's owner, or in a community a contributor, who then owns the file. */
function uploaderOf({ tenant, caller }: Upload): IdTag {
  if (isOwner(caller)) return tenant.idTag
  const contributes = tenant.type === 'community' && hasRole(caller, 'contributor')
  if (caller.kind !== 'identity' || !contributes) throw new Failure('E-AUTH-FORBIDDEN')
  return caller.idTag
}

async function assertFolder(reader: Reader, { parentId }: Pick<Upload, 'parentId'>): Promise<void> {
  if (parentId === undefined) return
  const parent = await findFile(reader, parentId)
  if (!parent || parent.status === 'D') throw new Failure('E-FILE-NOTFOUND')
  if (parent.fileTp !== 'FLDR') throw invalid('/query/parentId', 'is not a folder')
}

async function stage(
  deps: UploadDeps,
  { tenant, stream, signal }: Upload,
  { bytes, bound }: UploadReservation,
): Promise<StagedBlob> {
  const source = stream.iterator({ destroyOnReturn: false })
  try {
    return await deps.blobs.stage(tenant.tenantId, source, { maxBytes: bytes, signal })
  } catch (error) {
    const isTooLarge = error instanceof Failure && error.code === 'E-TOOLARGE'
    throw isTooLarge && bound === 'quota' ? new Failure('E-QUOTA') : error
  }
}

async function storeStaged(
  deps: UploadDeps,
  upload: Upload,
  arrived: { readonly draft: Draft; readonly staged: StagedBlob; readonly reservation: Reservation },
): Promise<StoredFile> {
  const { draft, staged, reservation } = arrived
  const typed = { ...draft, contentType: await typeOf(staged, upload) }
  const prepared = await prepare(deps, upload, typed, staged)
  try {
    await commit(deps, upload, prepared, reservation)
    return prepared.file
  } finally {
    await discardAll(prepared.pictures)
  }
}

async function typeOf(staged: StagedBlob, { declaredType }: Upload): Promise<string> {
  const { contentType, contradictsDeclared } = await sniffType(staged.head, declaredType)
  if (contradictsDeclared) throw invalid('/headers/content-type', 'the bytes are something else')
  return contentType
}

async function prepare(
  deps: UploadDeps,
  upload: Upload,
  draft: TypedDraft,
  staged: StagedBlob,
): Promise<Prepared> {
  const { preset } = upload
  if (preset !== 'default' && preset !== 'raw')
    return await preparePictures(deps, upload, { ...draft, preset }, staged)
  const status = preset === 'default' && hasVariants(draft.contentType) ? 'M' : 'A'
  const file = { ...draft, status, size: staged.size, ...commitTo(staged.hash) } as const
  return { file, upload: staged, pictures: [] }
}

type PicturePreset = 'profile-picture' | 'cover-photo' | 'thumbnail-only'

/** Presets that keep only what they make of an upload: the id commits to that, so it is made before the answer. */
async function preparePictures(
  deps: UploadDeps,
  { tenant, signal }: Upload,
  draft: TypedDraft & { readonly preset: PicturePreset },
  staged: StagedBlob,
): Promise<Prepared> {
  if (!hasVariants(draft.contentType)) throw new Failure('E-MEDIATYPE')
  const input = { path: staged.path, preset: draft.preset, signal }
  const made = await makePictures(deps, tenant.tenantId, input)
  if (made.kind === 'unprocessable')
    throw new Failure('E-MEDIATYPE', { message: 'This picture cannot be processed.' })
  const { pictures } = made
  const kept = draft.preset === 'thumbnail-only' ? 'tn' : 'orig'
  const main = pictures.find(({ variant }) => variant.variant === kept)
  if (!main) throw new Error(`the preset ${draft.preset} made no ${kept}`)
  const { blob, variant } = main
  const contentType = `image/${variant.format}`
  const file = { ...draft, contentType, status: 'A', size: blob.size, ...commitTo(blob.hash) } as const
  return { file, upload: undefined, pictures }
}

async function commit(
  deps: UploadDeps,
  { tenant }: Upload,
  { file, upload, pictures }: Prepared,
  reservation: Reservation,
): Promise<void> {
  const { fileId, content, size } = file
  const blobs = [...(upload ? [upload] : []), ...pictures.map(({ blob }) => blob)]
  const variants = pictures.map(({ variant }) => variant)
  await keepBlobs(deps, tenant.tenantId, { reservation, blobs }, async (tx) => {
    // Again: it may have gone while the bytes arrived.
    await assertFolder(tx, file)
    await insertFile(tx, file)
    await insertVariants(tx, fileId, variants)
    await useBlobs(tx, [...(content ? [{ hash: content.hash, size }] : []), ...variants.map(blobOf)])
    await countFiles(tx, 1)
    if (file.status === 'M') await deps.jobs.enqueue(tx, makeVariantsJob, { fileId }, { subject: fileId })
  })
}
