import type { Readable } from 'node:stream'
import type { FileId, UploadPreset, Visibility } from '@kith/protocol'
import type { StagedBlob } from '#infra/blobs/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { sniffType } from '#infra/media/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { FileEmitter } from '../events.ts'
import { acceptFileName, commitTo, hasVariants, type NewFile, normalTags } from '../file.ts'
import { makeVariantsJob } from '../file-jobs.ts'
import { insertFile, insertVariants } from '../file-store.ts'
import { trashRoot } from '../folders/file-tree-store.ts'
import { discardAll, type MadePicture, makePictures, type PictureDeps } from '../variants/make-pictures.ts'
import { blobOf } from '../variants/make-variants.ts'
import { placeUpload, type UploadPlace } from './place-upload.ts'
import {
  cancelReservation,
  keepBlobs,
  type Reservation,
  type ReserveDeps,
  reserveUpload,
  type UploadReservation,
} from './reserve-storage.ts'
import { kindOfBytes } from './storage-kind.ts'
import { countFiles, useBlobs } from './storage-store.ts'
import { narrowCredentialOf, visitorOf } from './uploader.ts'

export interface UploadDeps extends ReserveDeps, PictureDeps, FileEmitter {
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
  /** The file whose place it takes; that one goes to the trash. */
  readonly replaces?: FileId | undefined
  /** Unix seconds, when the uploader says that the content is older. */
  readonly createdAt: number | undefined
  readonly signal: AbortSignal
  /** What is written with the file, in the same transaction. */
  readonly alsoStore?: (tx: Writer, fileId: FileId) => Promise<void>
}

/** What an upload has become: the file and every blob it needs, none of them kept yet. */
interface Prepared {
  readonly file: NewFile
  /** Undefined where the preset keeps only what it makes. */
  readonly original: StagedBlob | undefined
  readonly pictures: readonly MadePicture[]
}

/** Stores an upload: quota first, then the bytes, then the row with its job. What fails leaves nothing behind. */
export async function uploadFile(deps: UploadDeps, upload: Upload): Promise<NewFile> {
  const { tenantId } = upload.tenant
  const draft = await draftOf(deps, upload)
  const { declaredLength, atMostLength } = upload
  const length = {
    bytes: declaredLength,
    atMostBytes: atMostLength,
    by: visitorOf(upload.tenant, upload.caller),
  }
  using _lease = deps.leases.hold()
  const reservation = await reserveUpload(deps, tenantId, length)
  try {
    return await storeDraft(deps, upload, draft, reservation)
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}

/** Stores an upload for which storage is set aside already, and stays so when it fails. */
export async function storeUpload(
  deps: UploadDeps,
  upload: Upload,
  reservation: UploadReservation,
): Promise<NewFile> {
  return await storeDraft(deps, upload, await draftOf(deps, upload), reservation)
}

async function storeDraft(
  deps: UploadDeps,
  upload: Upload,
  draft: Draft,
  reservation: UploadReservation,
): Promise<NewFile> {
  const staged = await stage(deps, upload, reservation)
  try {
    return await storeStaged(deps, upload, { draft, staged, reservation })
  } finally {
    await staged.discard()
  }
}

type Draft = Omit<NewFile, 'fileId' | 'content' | 'size' | 'contentType' | 'status'>
type TypedDraft = Draft & Pick<NewFile, 'contentType'>

async function draftOf(deps: UploadDeps, upload: Upload): Promise<Draft> {
  const { tenant, caller, preset, createdAt } = upload
  const fileName = acceptFileName(upload.fileName, '/params/fileName')
  const place = await placeUpload(deps.db.reader(tenant.tenantId), deps, placeOf(upload))
  const now = nowSecs(deps.clock)
  const unsaid = { isCopy: false, processingError: undefined, modifiedAt: now } as const
  const made = { fileTp: 'BLOB', madeWith: narrowCredentialOf(caller), ...unsaid } as const
  return { ...made, ...place, fileName, preset, createdAt: createdAt ?? now }
}

function placeOf({ tenant, caller, parentId, visibility, tags, replaces }: Upload): UploadPlace {
  const path = replaces === undefined ? '/query/parentId' : '/query/replaces'
  return { tenant, caller, parentId, visibility, replaces, tags: normalTags(tags, '/query/tags'), path }
}

async function stage(
  deps: UploadDeps,
  { tenant, stream, signal, declaredLength: expectedBytes }: Upload,
  { bytes, bound }: UploadReservation,
): Promise<StagedBlob> {
  const source = stream.iterator({ destroyOnReturn: false })
  try {
    return await deps.blobs.stage(tenant.tenantId, source, { maxBytes: bytes, expectedBytes, signal })
  } catch (error) {
    const isTooLarge = error instanceof Failure && error.code === 'E-TOOLARGE'
    throw isTooLarge && bound === 'quota' ? new Failure('E-QUOTA') : error
  }
}

async function storeStaged(
  deps: UploadDeps,
  upload: Upload,
  arrived: { readonly draft: Draft; readonly staged: StagedBlob; readonly reservation: Reservation },
): Promise<NewFile> {
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

async function typeOf(staged: StagedBlob, { declaredType, fileName }: Upload): Promise<string> {
  const { contentType, contradictsDeclared } = await sniffType(staged.head, declaredType)
  if (contradictsDeclared) throw invalid('/headers/content-type', 'the bytes are something else')
  // A request with a JSON body is refused, so that JSON comes without a type of its own.
  const isUntold = contentType === 'application/octet-stream' && staged.isUtf8
  return isUntold && /\.json$/i.test(fileName) ? 'application/json' : contentType
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
  const { size, isUtf8 } = staged
  const file = { ...draft, status, size, isUtf8, ...commitTo(staged.hash) } as const
  return { file, original: staged, pictures: [] }
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
  const { pictures, thumbhash } = made
  const kept = draft.preset === 'thumbnail-only' ? 'tn' : 'orig'
  const main = pictures.find(({ variant }) => variant.variant === kept)
  if (!main) throw new Error(`the preset ${draft.preset} made no ${kept}`)
  const { blob, variant } = main
  const { width, height, format } = variant
  const contentType = `image/${format}`
  const picture = { width, height, thumbhash }
  const file = {
    ...draft,
    contentType,
    picture,
    status: 'A',
    size: blob.size,
    ...commitTo(blob.hash),
  } as const
  return { file, original: undefined, pictures }
}

async function commit(
  deps: UploadDeps,
  upload: Upload,
  { file, original, pictures }: Prepared,
  reservation: Reservation,
): Promise<void> {
  const { fileId, content, size } = file
  const blobs = [...(original ? [original] : []), ...pictures.map(({ blob }) => blob)]
  const variants = pictures.map(({ variant }) => variant)
  await keepBlobs(deps, upload.tenant.tenantId, { reservation, blobs }, async (tx) => {
    // Again: the folder may have gone while the bytes arrived, or the right to write there.
    const place = await placeUpload(tx, deps, placeOf(upload))
    if (upload.replaces) await trashReplaced(deps, tx, { fileId: upload.replaces, ownerTag: place.ownerTag })
    await insertFile(tx, { ...file, ...place })
    await insertVariants(tx, fileId, variants)
    const kind = kindOfBytes(file.contentType)
    await useBlobs(tx, [...(content ? [{ hash: content.hash, size, kind }] : []), ...variants.map(blobOf)])
    await countFiles(tx, 1)
    await upload.alsoStore?.(tx, fileId)
    await deps.emit(tx, { kind: 'file.created', fileId, to: [file.ownerTag] })
    if (file.status === 'M') await deps.jobs.enqueue(tx, makeVariantsJob, { fileId }, { subject: fileId })
  })
}

async function trashReplaced(
  { clock, emit }: UploadDeps,
  tx: Writer,
  { fileId, ownerTag }: Pick<NewFile, 'fileId' | 'ownerTag'>,
): Promise<void> {
  await trashRoot(tx, fileId, nowSecs(clock))
  await emit(tx, { kind: 'file.deleted', fileId, to: [ownerTag] })
}
