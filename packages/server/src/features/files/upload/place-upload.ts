import { type FileId, type IdTag, parseFileId, type Visibility } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { assertNotTrashed, getFileWithin, isOwnFile } from '../access/read-file.ts'
import type { StoredFile } from '../file.ts'
import { assertMayPlace, isForSingleFiles } from '../folders/place-file.ts'

export interface UploadPlace {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly parentId: FileId | undefined
  readonly visibility: Visibility
  readonly tags: readonly string[]
  /** The file whose place it takes. */
  readonly replaces: FileId | undefined
  /** How the request calls the folder. */
  readonly path: string
}

interface FoundPlace {
  readonly ownerTag: IdTag
  readonly parentId: FileId | undefined
  readonly visibility: Visibility
  readonly tags: readonly string[]
}

/** Where an upload comes to lie, whose it is and who may read it: as the request says, or as it is with the file that it
 * replaces. Fails where the caller may put nothing. */
export async function placeUpload(
  reader: Reader,
  deps: { readonly clock: Clock },
  place: UploadPlace,
): Promise<FoundPlace> {
  const { parentId, visibility, tags, replaces } = place
  if (replaces === undefined)
    return { ownerTag: await assertMayPlace(reader, deps, place), parentId, visibility, tags }
  if (parentId !== undefined || visibility !== null || tags.length > 0)
    throw invalid(place.path, 'what replaces a file has its folder, tags and visibility')
  const replaced = await getReplaced(reader, deps, place, replaces)
  return {
    ownerTag: replaced.ownerTag,
    parentId: replaced.parentId,
    visibility: replaced.visibility,
    tags: replaced.tags,
  }
}

async function getReplaced(
  reader: Reader,
  deps: { readonly clock: Clock },
  { tenant, caller, path }: UploadPlace,
  fileId: FileId,
): Promise<StoredFile> {
  const { file } = await getFileWithin(reader, deps, { tenant, caller, fileId }, writeLevel)
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
  // An upload would show its bytes to all whom the owner let read others; a token for single files is an editor's.
  const isOwn = isOwnFile(tenant, caller, file) && !isForSingleFiles(caller)
  if (!isOwn && file.visibility !== null) throw new Failure('E-AUTH-FORBIDDEN')
  assertNotTrashed(file)
  if (file.fileTp !== 'BLOB') throw invalid(path, 'only the bytes of a file are replaced')
  // Who was given the file alone may put nothing into its folder.
  await assertMayPlace(reader, deps, { tenant, caller, parentId: file.parentId, visibility: null, path })
  return file
}

/** Reads `replaces`. What cannot be an id is no file that the caller may know. */
export function replacedFile(text: string | undefined): FileId | undefined {
  if (text === undefined) return undefined
  const fileId = parseFileId(text)
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  return fileId
}
