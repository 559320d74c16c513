import { randomBytes } from 'node:crypto'
import { type FileId, type FileType, fileIdOf, type Visibility } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { typeWithoutBytes } from '#infra/media/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { mayOpen } from './access/assert-attachable.ts'
import type { FileEmitter } from './events.ts'
import { acceptFileName, type NewFile, normalTags } from './file.ts'
import { insertFile } from './file-store.ts'
import { assertMayPlace } from './folders/place-file.ts'
import { countFiles } from './upload/storage-store.ts'
import { narrowCredentialOf } from './upload/uploader.ts'

export interface CreateDeps extends FileEmitter {
  readonly db: Database
  readonly clock: Clock
}

type MadeType = Exclude<FileType, 'BLOB'>

interface FileCreation {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly fileTp: MadeType
  readonly fileName: string | undefined
  readonly contentType: string | undefined
  readonly tags: readonly string[]
  readonly parentId: FileId | undefined
  readonly visibility: Visibility
  /** Where its content is already. */
  readonly fileId?: FileId
  /** Whose content it gets. */
  readonly copyOf?: FileId
}

const defaultTypes: Record<MadeType, string> = {
  CRDT: 'application/x-crdt',
  RTDB: 'application/x-rtdb',
  FLDR: 'inode/directory',
}

export function newFileId(fileTp: MadeType): FileId {
  return fileIdOf(fileTp, randomBytes(32).toString('base64url'))
}

/** Makes an empty document, database or folder. `fill` gives it content, in the same transaction. */
export async function createFile(
  deps: CreateDeps,
  creation: FileCreation,
  fill?: (tx: Writer, file: NewFile) => Promise<void>,
): Promise<NewFile> {
  const { tenant, caller, fileTp, parentId, visibility, copyOf } = creation
  const fileName = acceptFileName(creation.fileName ?? 'Untitled', '/fileName')
  const tags = normalTags(creation.tags, '/tags')
  const contentType =
    creation.contentType === undefined ? defaultTypes[fileTp] : typeWithoutBytes(creation.contentType)
  const now = nowSecs(deps.clock)
  const { fileId = newFileId(fileTp) } = creation
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const place = { tenant, caller, fileId: copyOf, parentId, visibility, path: '/parentId' }
    const ownerTag = await assertMayPlace(tx, deps, place)
    const file: NewFile = {
      fileId,
      fileTp,
      status: 'A',
      ownerTag,
      isCopy: false,
      preset: 'default',
      fileName,
      contentType,
      size: 0,
      content: undefined,
      parentId,
      visibility,
      tags,
      processingError: undefined,
      createdAt: now,
      modifiedAt: now,
      // A copy is for the credential to show where its original is.
      madeWith:
        copyOf === undefined || (await mayOpen(tx, { caller, fileId: copyOf }))
          ? narrowCredentialOf(caller)
          : undefined,
    }
    await insertFile(tx, file)
    await countFiles(tx, 1)
    await fill?.(tx, file)
    await deps.emit(tx, { kind: 'file.created', fileId, to: [ownerTag] })
    return file
  })
}
