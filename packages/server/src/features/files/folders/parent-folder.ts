import { type FileId, parseFileId } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'

// What lists and scripts call the place of files that are in no folder.
const rootNames: ReadonlySet<string> = new Set(['', '__root__', 'null'])

/** The folder that a request names as a parent; undefined for none. Text without the form of an id is an unknown one. */
export function parentFolder(text: string | null | undefined): FileId | undefined {
  if (text === undefined || text === null || rootNames.has(text)) return undefined
  const folderId = parseFileId(text)
  if (!folderId) throw new Failure('E-FILE-NOTFOUND')
  return folderId
}
