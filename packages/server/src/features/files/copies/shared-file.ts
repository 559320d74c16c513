import { type FileId, fileTypeOf, type IdTag, parseFileId, respellFileName } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { typeWithoutBytes } from '#infra/media/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { FileEmitter } from '../events.ts'
import type { NewFile } from '../file.ts'
import { fetchFileJob, fetchKeyOf } from '../file-jobs.ts'
import { findFile, insertFile } from '../file-store.ts'
import { releaseChildren } from '../folders/file-tree-store.ts'
import { dropFiles, type TrashDeps } from '../folders/trash-file.ts'
import { countFiles } from '../upload/storage-store.ts'
import { updateCopyEnd } from './copy-store.ts'

export interface SharedFileDeps extends FileEmitter {
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** A file of another server that its owner has shared with the tenant. */
interface SharedFile {
  readonly fileId: FileId
  readonly ownerTag: IdTag
  /** The owner's words, as they came. */
  readonly fileName: string | undefined
  readonly contentType: string | undefined
  /** Unix seconds; undefined: never. */
  readonly expiresAt: number | undefined
}

/** Lets a file that was shared with the tenant appear in its list; a BLOB is fetched. */
export async function addSharedFile(deps: SharedFileDeps, tx: Writer, shared: SharedFile): Promise<void> {
  const { fileId, ownerTag } = shared
  const file = describe(deps, shared)
  if (!(await insertFile(tx, file))) return await updateCopyEnd(tx, shared)
  await countFiles(tx, 1)
  await deps.emit(tx, { kind: 'file.shared', fileId, to: [] })
  if (file.fileTp !== 'BLOB') return
  const payload = { fileId, ownerTag }
  await deps.jobs.enqueue(tx, fetchFileJob, payload, {
    dedupKey: fetchKeyOf(fileId, ownerTag),
    groupKey: ownerTag,
  })
}

/** Takes a file off the tenant's list again when its owner withdraws it; files of the tenant's own stay. */
export async function removeSharedFile(
  deps: FileEmitter & Pick<TrashDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  { fileId, ownerTag }: Pick<SharedFile, 'fileId' | 'ownerTag'>,
): Promise<void> {
  const file = await findFile(tx, fileId)
  if (!file?.isCopy || file.ownerTag !== ownerTag) return
  // What lies in a copy of a folder did not come with it.
  await releaseChildren(tx, fileId)
  await deps.emit(tx, { kind: 'file.unshared', fileId, to: [] })
  await dropFiles(deps, tx, [fileId])
}

/** Whose file it is that the tenant has a copy of; undefined for its own files, and others. */
export async function findOwnerOfCopy(reader: Reader, fileId: string): Promise<IdTag | undefined> {
  const known = parseFileId(fileId)
  const file = known && (await findFile(reader, known))
  return file?.isCopy ? file.ownerTag : undefined
}

function describe({ clock }: SharedFileDeps, shared: SharedFile): NewFile {
  const { fileId, ownerTag, fileName, expiresAt } = shared
  const fileTp = fileTypeOf(fileId)
  const now = nowSecs(clock)
  const contentType = typeWithoutBytes(shared.contentType)
  return {
    fileId,
    fileTp,
    status: fileTp === 'BLOB' ? 'P' : 'A',
    ownerTag,
    isCopy: true,
    preset: 'default',
    fileName: respellFileName(fileName ?? '', fileId),
    contentType,
    size: 0,
    content: undefined,
    parentId: undefined,
    visibility: null,
    tags: [],
    processingError: undefined,
    createdAt: now,
    modifiedAt: now,
    expiresAt,
  }
}
