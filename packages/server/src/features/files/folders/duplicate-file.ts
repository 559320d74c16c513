import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type FileQuestion, getFile } from '../access/read-file.ts'
import { type CreateDeps, createFile } from '../create-file.ts'
import type { NewFile, StoredFile } from '../file.ts'

export interface DuplicateDeps extends CreateDeps {
  /** Gives a new document or database the content of another one of the tenant. */
  readonly copyContent: (tx: Writer, from: StoredFile, to: NewFile) => Promise<void>
}

interface Duplication extends FileQuestion {
  readonly fileName: string | undefined
  readonly parentId: FileId | undefined
}

/** Makes a new document or database of what another contains now. It is as private as one that is made empty. */
export async function duplicateFile(deps: DuplicateDeps, duplication: Duplication): Promise<NewFile> {
  const { tenant, caller, fileName, parentId } = duplication
  const { file } = await getFile(deps, duplication)
  if (file.fileTp !== 'CRDT' && file.fileTp !== 'RTDB')
    throw invalid('/params/fileId', 'only documents and databases can be duplicated')
  // What another server keeps has no content here.
  if (file.status === 'D' || file.isCopy) throw new Failure('E-STATE')
  const { fileTp, contentType, tags } = file
  const described = { fileTp, contentType, tags, parentId, visibility: null }
  const creation = { tenant, caller, copyOf: file.fileId, ...described }
  return await createFile(deps, { ...creation, fileName: fileName ?? file.fileName }, (tx, made) =>
    deps.copyContent(tx, file, made),
  )
}
