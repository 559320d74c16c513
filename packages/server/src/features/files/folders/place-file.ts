import { type FileId, type IdTag, scopeAllows, type Visibility } from '@kith/protocol'
import { type Caller, hasRole, type Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertMayOpenIn } from '../access/assert-attachable.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { getFileWithin } from '../access/read-file.ts'
import { findPlace, maxDepth, measureAbove } from './file-tree-store.ts'

export interface Place {
  readonly tenant: Tenant
  readonly caller: Caller
  /** Undefined: in no folder. */
  readonly parentId: FileId | undefined
  /** What exists already and comes to be there: the file that is moved, or of which a copy is made. */
  readonly fileId?: FileId | undefined
  /** It comes out of the trash. */
  readonly isRestored?: boolean | undefined
  /** How the request calls it. */
  readonly path: string
}

/** Where a new file is to lie, and who may read it by itself. */
export interface NewPlace extends Place {
  readonly visibility: Visibility
}

/** Whose a new file is: the tenant's, or in a community the contributor's who makes it. What somebody else puts into a
 * folder that was given to them to write belongs to whom the folder belongs, so that it can be taken back. */
export async function assertMayPlace(
  reader: Reader,
  deps: { readonly clock: Clock },
  place: NewPlace,
): Promise<IdTag> {
  const { tenant, caller, visibility } = place
  const folder = await assertFolder(reader, deps, place)
  const ownTag = ownerFor(tenant, caller)
  const isNarrow = ownTag === undefined || isForSingleFiles(caller)
  // A token for single files says nothing of what lies in none of them, and neither it nor an editor publishes in the
  // owner's name.
  if (isNarrow && (!folder || visibility !== null)) throw new Failure('E-AUTH-FORBIDDEN')
  const tag = ownTag ?? folder?.ownerTag
  if (tag === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  return tag
}

/** Whose the files are that a caller makes of their own right. */
function ownerFor(tenant: Tenant, caller: Caller): IdTag | undefined {
  if (caller.kind !== 'identity') return undefined
  if (caller.isOwner) return tenant.idTag
  return tenant.type === 'community' && hasRole(caller, 'contributor') ? caller.idTag : undefined
}

/** Does the credential say something of single files alone? */
export function isForSingleFiles(caller: Caller): boolean {
  const scope = caller.kind === 'guest' ? undefined : caller.scope
  return scope?.some((item) => 'fileId' in item) === true && !scopeAllows(scope, 'write:files')
}

/** Fails unless files may be put there, and those that exist already be shown to those who read there; answers the folder,
 * if there is one. */
export async function assertFolder(
  reader: Reader,
  deps: { readonly clock: Clock },
  place: Place,
): Promise<{ readonly ownerTag: IdTag } | undefined> {
  const { parentId, path, caller, fileId, isRestored } = place
  if (parentId === undefined) return undefined
  const { file } = await getFileWithin(reader, deps, { ...place, fileId: parentId }, writeLevel)
  if (file.status === 'D') throw new Failure('E-FILE-NOTFOUND')
  if (file.fileTp !== 'FLDR') throw invalid(path, 'is not a folder')
  // It goes when its owner takes it back, and nobody but them sees what lies in theirs.
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
  if ((await measureAbove(reader, parentId)) >= maxDepth) throw tooDeep()
  if (fileId !== undefined)
    await assertMayOpenIn(reader, {
      caller,
      fileId,
      folderId: parentId,
      isRestored,
      now: nowSecs(deps.clock),
    })
  return file
}

/** Fails when a file that exists would come to lie in itself, or too deep. */
export async function assertMovable(reader: Reader, fileId: FileId, parentId: FileId): Promise<void> {
  const { isCycle, depth } = await findPlace(reader, { fileId, parentId })
  if (isCycle) throw inItself()
  if (depth > maxDepth) throw tooDeep()
}

export function inItself(): Failure {
  return new Failure('E-STATE', { message: 'A folder cannot lie in itself.' })
}

function tooDeep(): Failure {
  return new Failure('E-STATE', { message: `Folders lie at most ${maxDepth} deep in each other.` })
}
