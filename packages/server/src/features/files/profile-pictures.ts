import type { Readable } from 'node:stream'
import type { FileId, UploadPreset } from '@kith/protocol'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertAttachable } from './access/assert-attachable.ts'
import { getFile } from './access/read-file.ts'
import { findFile } from './file-store.ts'
import { listChangesAbove } from './folders/folder-change-store.ts'
import { dropFiles, type TrashDeps } from './folders/trash-file.ts'
import { type UploadDeps, uploadFile } from './upload/upload-file.ts'

/** The bytes of a picture, as they arrive. */
interface ArrivingPicture {
  readonly stream: Readable
  readonly contentType: string
  readonly declaredLength: number | undefined
  readonly atMostLength: number | undefined
}

interface StorePicture {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly preset: UploadPreset
  readonly bytes: ArrivingPicture
  readonly signal: AbortSignal
  /** Runs in the transaction that makes its row. */
  readonly alsoStore: (tx: Writer, fileId: FileId) => Promise<void>
}

const mayBePicture = /^(?:image\/.+|application\/octet-stream)$/i

type ProfilePictureDeps = UploadDeps & Pick<TrashDeps, 'clock' | 'beforeRemoval'>

/** Keeps the pictures of profiles, which everybody may read. */
export function profilePictures(deps: ProfilePictureDeps) {
  return {
    storePicture: (picture: StorePicture) => storePicture(deps, picture),
    dropPicture: (tx: Writer, fileId: FileId) => dropFiles(deps, tx, [fileId]),
    async assertPicture(tenant: Tenant, caller: Identified, fileId: FileId): Promise<void> {
      await findPicture(deps, { tenant, caller, fileId })
    },
    /** The bytes of a picture that the caller may read. */
    async openPicture(tenant: Tenant, caller: Identified, fileId: FileId): Promise<ArrivingPicture> {
      const { hash, contentType } = await findPicture(deps, { tenant, caller, fileId })
      const stream = await deps.blobs.open(tenant.tenantId, hash)
      if (!stream) throw new Failure('E-FILE-NOTFOUND')
      return { stream, contentType, declaredLength: undefined, atMostLength: undefined }
    },
  }
}

async function storePicture(deps: ProfilePictureDeps, picture: StorePicture): Promise<FileId> {
  const { tenant, caller, preset, bytes, signal, alsoStore } = picture
  const { stream, contentType: declaredType, declaredLength, atMostLength } = bytes
  if (!mayBePicture.test(declaredType)) throw new Failure('E-MEDIATYPE')
  const arriving = { stream, declaredType, declaredLength, atMostLength, signal }
  const described = { fileName: preset, tags: [], parentId: undefined, createdAt: undefined }
  const upload = { tenant, caller, preset, visibility: 'P' as const, ...described, ...arriving, alsoStore }
  return (await uploadFile(deps, upload)).fileId
}

/** Is the file removed, or in the trash, or about to be with a folder above it? */
export async function isPictureLost(reader: Reader, fileId: FileId): Promise<boolean> {
  const file = await findFile(reader, fileId)
  if (!file || file.status === 'D') return true
  return (await listChangesAbove(reader, fileId)).some(({ kind }) => kind !== 'restoring')
}

async function findPicture(
  { db, clock }: ProfilePictureDeps,
  {
    tenant,
    caller,
    fileId,
  }: { readonly tenant: Tenant; readonly caller: Identified; readonly fileId: FileId },
) {
  const { file, isPublic } = await getFile({ db, clock }, { tenant, caller, fileId })
  // A picture of a profile is for everybody, as one that is attached to a public action.
  const given = { tenant, caller, attachments: [fileId], now: nowSecs(clock) }
  if (!isPublic) await assertAttachable(db.reader(tenant.tenantId), given)
  const content = file.status === 'D' || !file.contentType.startsWith('image/') ? undefined : file.content
  if (!content) throw new Failure('E-FILE-NOTFOUND')
  return { ...content, contentType: file.contentType }
}
