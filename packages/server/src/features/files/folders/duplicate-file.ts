import type { FileId } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type FileQuestion, getFile } from '../access/read-file.ts'
import { countContent } from '../contents/count-content.ts'
import { type ContentsByType, contentsOf } from '../contents/file-contents.ts'
import { type CreateDeps, createFile } from '../create-file.ts'
import type { NewFile } from '../file.ts'
import type { StorageLimits } from '../upload/reserve-storage.ts'

export interface DuplicateDeps extends CreateDeps {
  readonly contents: ContentsByType
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
}

interface Duplication extends FileQuestion {
  readonly fileName: string | undefined
  readonly parentId: FileId | undefined
}

// Some 100 ms of the only writer of SQLite. In portions the copy would be of no one moment.
const maxCopiedBytes = 16 * 1024 ** 2

/** Makes a new document or database of what another contains now. It is as private as one that is made empty. */
export async function duplicateFile(deps: DuplicateDeps, duplication: Duplication): Promise<NewFile> {
  const { tenant, caller, fileName, parentId } = duplication
  const { file } = await getFile(deps, duplication)
  const contents = contentsOf(deps.contents, file.fileTp)
  if (!contents) throw invalid('/params/fileId', 'only documents and databases can be duplicated')
  // What another server keeps has no content here.
  if (file.status === 'D' || file.isCopy) throw new Failure('E-STATE')
  if (file.size > maxCopiedBytes)
    throw new Failure('E-TOOLARGE', { message: 'Only up to 16 MiB can be duplicated.' })
  const { contentType, tags } = file
  const fileTp = file.fileTp as 'CRDT' | 'RTDB'
  const limits = await deps.limitsOf(tenant.tenantId)
  const described = { fileTp, contentType, tags, parentId, visibility: null }
  const creation = { tenant, caller, copyOf: file.fileId, ...described }
  return await createFile(deps, { ...creation, fileName: fileName ?? file.fileName }, async (tx, made) => {
    const bytes = await contents.copy(tx, file.fileId, made.fileId)
    await countContent(tx, { fileId: made.fileId, bytes, limits, now: nowSecs(deps.clock) })
  })
}
