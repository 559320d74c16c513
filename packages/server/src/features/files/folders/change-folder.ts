import type { FileId, IdTag } from '@kith/protocol'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { FileEmitter } from '../events.ts'
import type { Discarder } from '../file.ts'
import { makeVariantsJob } from '../file-jobs.ts'
import { findFile } from '../file-store.ts'
import { listLeaves, listOfOthers, removeFiles } from './file-removal-store.ts'
import {
  discardRoots,
  maxDepth,
  measureAbove,
  type Restored,
  restoreLeaves,
  restoreRoot,
  trashLeaves,
} from './file-tree-store.ts'
import {
  deleteFolderChanges,
  type FolderChange,
  findFolderChange,
  listChangesAbove,
  putFolderChange,
} from './folder-change-store.ts'

export interface FolderDeps extends FileEmitter {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueueAll'>
  /** Told of files that are about to go for ever: what else is known of them goes too. */
  readonly beforeRemoval: (tx: Writer, fileIds: readonly FileId[]) => Promise<void>
  /** How many files one transaction changes. */
  readonly filesPerPortion?: number
}

// Some 15 ms of the only writer of SQLite; a photo that goes takes its variants, tags and bytes along.
const manyFiles = 250

export function portionOf({ filesPerPortion = manyFiles }: Pick<FolderDeps, 'filesPerPortion'>): number {
  return filesPerPortion
}

/** Begins a change of all that is in a folder. Answers whether it is done already, as with most folders; else
 * `continueChange` goes on with it. */
export async function beginChange(deps: FolderDeps, tx: Writer, change: FolderChange): Promise<boolean> {
  await putFolderChange(tx, change, nowSecs(deps.clock))
  return await changePortion(deps, tx, change.folderId)
}

/** Goes on with what is being done to a folder until nothing is left to do; others take turns with it. Whoever finds a
 * change that nobody is at may do the same: each portion begins with what there is. */
export async function continueChange(deps: FolderDeps, tenantId: TenantId, folderId: FileId): Promise<void> {
  const portion = (tx: Writer) => changePortion(deps, tx, folderId)
  while (!(await deps.db.transact(tenantId, portion, { isBackground: true })));
}

/** Brings to its end what puts a file into the trash with a folder above it, so that it does not meet what is done to
 * the file by itself. */
export async function finishTrashing(deps: FolderDeps, tenantId: TenantId, fileId: FileId): Promise<void> {
  for (const { kind, folderId } of await listChangesAbove(deps.db.reader(tenantId), fileId))
    if (kind === 'trashing') await continueChange(deps, tenantId, folderId)
}

/** Answers whether nothing is left to do. */
async function changePortion(deps: FolderDeps, tx: Writer, folderId: FileId): Promise<boolean> {
  const change = await findFolderChange(tx, folderId)
  if (!change) return true
  for (let room = portionOf(deps); room > 0; ) {
    const changed = await changeSome(deps, tx, change, room)
    if (changed === 0) {
      if (change.kind === 'restoring') await finishRestoring(deps, tx, change)
      await deleteFolderChanges(tx, [folderId])
      return true
    }
    room -= changed
  }
  return false
}

async function changeSome(
  deps: FolderDeps,
  tx: Writer,
  { kind, folderId }: FolderChange,
  limit: number,
): Promise<number> {
  switch (kind) {
    case 'trashing':
      return await trashLeaves(tx, folderId, { now: nowSecs(deps.clock), limit })
    case 'restoring':
      return await noteRestored(deps, tx, await restoreLeaves(tx, folderId, limit))
    case 'removing':
      return await removeLeaves(deps, tx, folderId, limit)
  }
}

/** Its owner's go for ever, and what others put there to the trash of each: with who deleted it, be it the owner. */
async function removeLeaves(deps: FolderDeps, tx: Writer, folderId: FileId, limit: number): Promise<number> {
  const root = await findFile(tx, folderId)
  if (!root) return 0
  const { ownerTag, discarded = { by: ownerTag, isByLink: false } } = root
  const leaves = await listLeaves(tx, [folderId], limit)
  await removeOwned(deps, tx, leaves, { owners: [ownerTag], discarder: discarded })
  return leaves.length
}

/** Removes for ever what is these owners', or a copy, and puts the rest into the trash of its owner. Answers how many are
 * gone. */
export async function removeOwned(
  deps: Pick<FolderDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  fileIds: readonly FileId[],
  { owners, discarder }: { readonly owners: readonly IdTag[]; readonly discarder: Discarder },
): Promise<number> {
  const others = new Set(await listOfOthers(tx, fileIds, owners))
  await discardRoots(tx, [...others], { ...discarder, now: nowSecs(deps.clock) })
  const owned = fileIds.filter((fileId) => !others.has(fileId))
  return await removeAll(deps, tx, owned)
}

/** Removes files for ever. Answers how many there were. */
export async function removeAll(
  { clock, beforeRemoval }: Pick<FolderDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  fileIds: readonly FileId[],
): Promise<number> {
  if (fileIds.length === 0) return 0
  await beforeRemoval(tx, fileIds)
  return await removeFiles(tx, fileIds, nowSecs(clock))
}

/** The folder itself comes out of the trash last, and all that is in it with it. */
async function finishRestoring(
  deps: FolderDeps,
  tx: Writer,
  { folderId, parentId }: FolderChange,
): Promise<void> {
  const isThere = parentId !== undefined && (await mayLieIn(tx, parentId))
  await noteRestored(deps, tx, await restoreRoot(tx, folderId, isThere ? parentId : null))
  const file = await findFile(tx, folderId)
  if (file) await deps.emit(tx, { kind: 'file.updated', fileId: folderId, to: [file.ownerTag] })
}

/** It may have gone to the trash itself meanwhile. */
async function mayLieIn(tx: Writer, folderId: FileId): Promise<boolean> {
  const folder = await findFile(tx, folderId)
  if (!folder || folder.status === 'D' || (await measureAbove(tx, folderId)) >= maxDepth) return false
  return (await listChangesAbove(tx, folderId)).length === 0
}

async function noteRestored({ jobs }: FolderDeps, tx: Writer, { files, unmade }: Restored): Promise<number> {
  await jobs.enqueueAll(
    tx,
    makeVariantsJob,
    unmade.map((fileId) => ({ payload: { fileId }, options: { subject: fileId } })),
  )
  return files
}
