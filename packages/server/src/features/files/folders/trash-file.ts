import { type FileId, fileTypeOf } from '@kith/protocol'
import { findReference } from '#features/accounts/index.ts'
import { actsAsTenant } from '#features/relations/index.ts'
import { type Caller, type Identified, idTagOf, type Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { type FileQuestion, getFileWithin, isOwnFile } from '../access/read-file.ts'
import type { Discarder, StoredFile } from '../file.ts'
import { findFile } from '../file-store.ts'
import { assertMayMove } from './change-file.ts'
import {
  beginChange,
  continueChange,
  type FolderDeps,
  finishTrashing,
  portionOf,
  removeAll,
  removeOwned,
} from './change-folder.ts'
import { listLeaves, listTrashRoots, listTree } from './file-removal-store.ts'
import { discardRoots, type ListedChild, trashRoot } from './file-tree-store.ts'
import { type FolderChange, putFolderChange } from './folder-change-store.ts'
import { assertFolder, assertMovable, inItself, isForSingleFiles } from './place-file.ts'

export type TrashDeps = FolderDeps

/** Puts a file into the trash, a folder with all that is in it. */
export async function trashFile(deps: TrashDeps, question: FileQuestion): Promise<void> {
  const { tenantId } = question.tenant
  const isDone = await deps.db.transact(tenantId, async (tx) => {
    const { file } = await getFileWithin(tx, deps, question, writeLevel)
    if (file.status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash already.' })
    await trashRoot(tx, file.fileId, nowSecs(deps.clock))
    const isDone = await trashContents(deps, tx, file.fileId)
    await deps.emit(tx, { kind: 'file.deleted', fileId: file.fileId, to: [file.ownerTag] })
    return isDone
  })
  if (!isDone) await continueChange(deps, tenantId, question.fileId)
}

async function trashContents(deps: TrashDeps, tx: Writer, folderId: FileId): Promise<boolean> {
  if (fileTypeOf(folderId) !== 'FLDR') return true
  return await beginChange(deps, tx, { kind: 'trashing', folderId, parentId: undefined })
}

interface Restoring extends FileQuestion {
  /** Null: into no folder; undefined: to where it was. */
  readonly parentId: FileId | null | undefined
}

/** Takes a file out of the trash into a folder; into none when it is to go back to where it was and that is gone. */
export async function restoreFile(
  deps: TrashDeps,
  restoring: Restoring,
): Promise<{ readonly parentId: FileId | undefined; readonly restoredAt: number }> {
  const { tenant, fileId } = restoring
  const { tenantId } = tenant
  await finishTrashing(deps, tenantId, fileId)
  const isDone = await deps.db.transact(tenantId, async (tx) => {
    const { file } = await getFileWithin(tx, deps, restoring, writeLevel)
    if (file.status !== 'D') throw notInTrash()
    const parentId = await findTarget(tx, deps, { restoring, file })
    return await beginChange(deps, tx, { kind: 'restoring', folderId: fileId, parentId })
  })
  if (!isDone) await continueChange(deps, tenantId, fileId)
  const restored = await findFile(deps.db.reader(tenantId), fileId)
  // Somebody has emptied the trash meanwhile.
  if (!restored) throw new Failure('E-FILE-NOTFOUND')
  return { parentId: restored.parentId, restoredAt: nowSecs(deps.clock) }
}

async function findTarget(
  tx: Writer,
  deps: TrashDeps,
  { restoring, file }: { readonly restoring: Restoring; readonly file: StoredFile },
): Promise<FileId | undefined> {
  const { fileId } = restoring
  const former = file.originalParentId ?? file.parentId
  const parentId = restoring.parentId === undefined ? former : (restoring.parentId ?? undefined)
  const { tenant, caller } = restoring
  const isOwn = isOwnFile(tenant, caller, file) && !isForSingleFiles(caller)
  await assertMayMove(tx, deps, { tenant, caller, isOwn, from: former, to: parentId })
  if (parentId === undefined) return undefined
  if (parentId === fileId) throw inItself()
  try {
    await assertFolder(tx, deps, { ...restoring, parentId, isRestored: true, path: '/parentId' })
  } catch (error) {
    const isGone = error instanceof Failure && error.code === 'E-FILE-NOTFOUND'
    if (isGone && parentId === former) return undefined
    throw error
  }
  await assertMovable(tx, fileId, parentId)
  return parentId
}

/** Removes a file that is in the trash for ever, with all that is in it: at once for readers. What somebody removes whose
 * it is not stays in its owner's trash, and in nobody else's. */
export async function removeFile(deps: TrashDeps, question: FileQuestion): Promise<void> {
  const { tenant, caller, fileId } = question
  const isDone = await deps.db.transact(tenant.tenantId, async (tx) => {
    const { file } = await getFileWithin(tx, deps, question, writeLevel)
    if (file.status !== 'D') throw notInTrash()
    if (mayRemove(tenant, caller, file)) return await beginRemoval(deps, tx, fileId)
    // Who acts for the tenant sees what was discarded already, whose time goes on.
    if (file.discarded) return true
    await discardRoots(tx, [fileId], { ...(await discarderOf(tx, caller)), now: nowSecs(deps.clock) })
    return await trashContents(deps, tx, fileId)
  })
  if (!isDone) await continueChange(deps, tenant.tenantId, fileId)
}

/** May the caller remove it for ever at once? */
function mayRemove(tenant: Tenant, caller: Caller, { isCopy, ownerTag }: StoredFile): boolean {
  const { owners, withCopies } = removable(tenant, caller)
  return isCopy ? withCopies : owners.includes(ownerTag)
}

/** Everybody removes what is theirs; who acts for the tenant what is its own, and copies. */
function removable(tenant: Tenant, caller: Caller) {
  const idTag = idTagOf(caller)
  const withCopies = actsAsTenant(caller, tenant)
  return { owners: [...(idTag ? [idTag] : []), ...(withCopies ? [tenant.idTag] : [])], withCopies }
}

async function discarderOf(reader: Reader, caller: Caller): Promise<Discarder> {
  if (caller.kind !== 'reference') return { by: idTagOf(caller), isByLink: false }
  return { by: (await findReference(reader, caller.refId))?.createdBy, isByLink: true }
}

/** Answers whether nothing is left to do; else `continueChange` goes on. */
export async function beginRemoval(deps: TrashDeps, tx: Writer, fileId: FileId): Promise<boolean> {
  return await beginChange(deps, tx, removalOf(fileId))
}

function removalOf(folderId: FileId): FolderChange {
  return { kind: 'removing', folderId, parentId: undefined }
}

function notInTrash(): Failure {
  return new Failure('E-STATE', { message: 'This file is not in the trash.' })
}

/** Removes for ever what the caller has in the trash. */
export async function emptyTrash(
  deps: TrashDeps,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Identified },
): Promise<number> {
  const { owners, withCopies } = removable(tenant, caller)
  const removal = { owners, discarder: { by: caller.idTag, isByLink: false } }
  const limit = portionOf(deps)
  let removed = 0
  for (let after = ''; ; ) {
    const portion = await deps.db.transact(tenant.tenantId, async (tx) => {
      const roots = await listTrashRoots(tx, { owners, withCopies, after, limit })
      return await emptyPortion(deps, tx, roots, removal)
    })
    if (!portion) return removed
    removed += portion.removed
    after = portion.last
    if (!portion.isDone) removed += await removeRest(deps, tenant, portion.last)
  }
}

interface Portion {
  readonly removed: number
  /** The root that was removed last. */
  readonly last: FileId
  /** What is left of that one, nobody sees any more. */
  readonly isDone: boolean
}

/** Removes whole trees, as many as fit into a portion; of one that is larger the beginning. */
async function emptyPortion(
  deps: TrashDeps,
  tx: Writer,
  roots: readonly ListedChild[],
  removal: Parameters<typeof removeOwned>[3],
): Promise<Portion | undefined> {
  const limit = portionOf(deps)
  const fileIds: FileId[] = []
  let last: FileId | undefined
  for (const root of roots) {
    const tree = await listTree(tx, root, limit - fileIds.length)
    if (!tree && last === undefined) {
      await putFolderChange(tx, removalOf(root.fileId), nowSecs(deps.clock))
      return { removed: 0, last: root.fileId, isDone: false }
    }
    if (!tree) break
    fileIds.push(...tree)
    last = root.fileId
  }
  if (last === undefined) return undefined
  return { removed: await removeOwned(deps, tx, fileIds, removal), last, isDone: true }
}

/** Counts what goes, which `continueChange` does not. */
async function removeRest(deps: TrashDeps, { tenantId }: Tenant, rootId: FileId): Promise<number> {
  let removed = 0
  const beforeRemoval: TrashDeps['beforeRemoval'] = async (tx, fileIds) => {
    tx.afterCommit(() => {
      removed += fileIds.length
    })
    await deps.beforeRemoval(tx, fileIds)
  }
  await continueChange({ ...deps, beforeRemoval }, tenantId, rootId)
  return removed
}

/** Takes files away for ever, in the trash or not, whoever asks: for what is replaced, such as a profile picture. */
export async function dropFiles(
  deps: Pick<TrashDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  fileIds: readonly FileId[],
): Promise<void> {
  while ((await removeAll(deps, tx, await listLeaves(tx, fileIds, portionOf({})))) > 0);
}
