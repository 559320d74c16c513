import type { FileId, IdTag } from '@kith/protocol'
import { type Caller, hasRole, isOwner, type Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { findPlace, maxDepth, measureAbove } from './file-tree-store.ts'
import { writeLevel } from './file-viewer.ts'
import { getFileWithin } from './read-file.ts'

export interface Place {
  readonly tenant: Tenant
  readonly caller: Caller
  /** Undefined: in no folder. */
  readonly parentId: FileId | undefined
  /** How the request calls it. */
  readonly path: string
}

/** Whose a new file is: the tenant's, or in a community the contributor's who makes it. What somebody else puts into a
 * folder that was given to them to write belongs to whom the folder belongs, so that it can be taken back. */
export async function assertMayPlace(
  reader: Reader,
  deps: { readonly clock: Clock },
  place: Place,
): Promise<IdTag> {
  const { tenant, caller } = place
  const folder = await assertFolder(reader, deps, place)
  if (isOwner(caller)) return tenant.idTag
  if (caller.kind !== 'identity') throw new Failure('E-AUTH-FORBIDDEN')
  if (tenant.type === 'community' && hasRole(caller, 'contributor')) return caller.idTag
  if (!folder) throw new Failure('E-AUTH-FORBIDDEN')
  return folder.ownerTag
}

/** Fails unless files may be put there; answers the folder, if there is one. */
export async function assertFolder(
  reader: Reader,
  deps: { readonly clock: Clock },
  place: Place,
): Promise<{ readonly ownerTag: IdTag } | undefined> {
  const { parentId, path } = place
  if (parentId === undefined) return undefined
  const { file } = await getFileWithin(reader, deps, { ...place, fileId: parentId }, writeLevel)
  if (file.status === 'D') throw new Failure('E-FILE-NOTFOUND')
  if (file.fileTp !== 'FLDR') throw invalid(path, 'is not a folder')
  // It goes when its owner takes it back, and nobody but them sees what lies in theirs.
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
  if ((await measureAbove(reader, parentId)) >= maxDepth) throw tooDeep()
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
