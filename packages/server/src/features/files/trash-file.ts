import type { FileId } from '@kith/protocol'
import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredFile } from './file.ts'
import { makeVariantsJob } from './file-jobs.ts'
import type { FileObserver } from './file-observer.ts'
import { listLeaves, listTrashRoots, removeFiles } from './file-removal-store.ts'
import { restoreTree, trashTree } from './file-tree-store.ts'
import { writeLevel } from './file-viewer.ts'
import { assertFolder, assertMovable, inItself } from './place-file.ts'
import { type FileQuestion, getFileWithin } from './read-file.ts'

export interface TrashDeps extends FileObserver {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueueAll'>
  /** Told of files that are about to go for ever: what else is known of them goes too. */
  readonly beforeRemoval: (tx: Writer, fileIds: readonly FileId[]) => Promise<void>
}

/** Puts a file into the trash, a folder with all that is in it. */
export async function trashFile(deps: TrashDeps, question: FileQuestion): Promise<void> {
  await deps.db.transact(question.tenant.tenantId, async (tx) => {
    const { file } = await getFileWithin(tx, deps, question, writeLevel)
    if (file.status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash already.' })
    await trashTree(tx, file.fileId, nowSecs(deps.clock))
    await deps.onFile?.(tx, { fileId: file.fileId, event: 'deleted', to: [file.ownerTag] })
  })
}

export interface Restoring extends FileQuestion {
  readonly parentId: FileId | undefined
}

/** Takes a file out of the trash into a folder; into none when it is to go back to where it was and that is gone. */
export async function restoreFile(
  deps: TrashDeps,
  restoring: Restoring,
): Promise<{ readonly parentId: FileId | undefined; readonly restoredAt: number }> {
  return await deps.db.transact(restoring.tenant.tenantId, async (tx) => {
    const { file } = await getFileWithin(tx, deps, restoring, writeLevel)
    if (file.status !== 'D') throw new Failure('E-STATE', { message: 'This file is not in the trash.' })
    const parentId = await findTarget(tx, deps, { restoring, file })
    const unmade = await restoreTree(tx, file.fileId, parentId ?? null)
    await deps.jobs.enqueueAll(
      tx,
      makeVariantsJob,
      unmade.map((fileId) => ({ payload: { fileId }, options: { subject: fileId } })),
    )
    const { fileId, ownerTag } = file
    await deps.onFile?.(tx, { fileId, event: 'updated', to: [ownerTag] })
    return { parentId, restoredAt: nowSecs(deps.clock) }
  })
}

async function findTarget(
  tx: Writer,
  deps: TrashDeps,
  { restoring, file }: { readonly restoring: Restoring; readonly file: StoredFile },
): Promise<FileId | undefined> {
  const { parentId, fileId } = restoring
  if (parentId === undefined) return undefined
  if (parentId === fileId) throw inItself()
  try {
    await assertFolder(tx, deps, { ...restoring, path: '/parentId' })
  } catch (error) {
    const isGone = error instanceof Failure && error.code === 'E-FILE-NOTFOUND'
    if (isGone && parentId === (file.originalParentId ?? file.parentId)) return undefined
    throw error
  }
  await assertMovable(tx, fileId, parentId)
  return parentId
}

// So few that others get their turn soon: a photo with its variants and bytes changes some forty pages of the database.
// What is left of a removal that breaks off is still in the trash.
const filesPerPortion = 100

/** Removes a file that is in the trash for ever, with all that is in it: the innermost first. */
export async function removeFile(deps: TrashDeps, question: FileQuestion): Promise<void> {
  const { tenantId } = question.tenant
  while (!(await deps.db.transact(tenantId, (tx) => removePortion(deps, tx, question))));
}

/** Answers whether the file itself is gone. */
async function removePortion(deps: TrashDeps, tx: Writer, question: FileQuestion): Promise<boolean> {
  const { file } = await getFileWithin(tx, deps, question, writeLevel)
  if (file.status !== 'D') throw new Failure('E-STATE', { message: 'This file is not in the trash.' })
  const leaves = await listLeaves(tx, [file.fileId], filesPerPortion)
  await remove(deps, tx, leaves)
  return leaves.includes(file.fileId)
}

/** Removes for ever what the caller has in the trash: who acts for the tenant everything, others what is theirs. */
export async function emptyTrash(
  deps: TrashDeps,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
): Promise<number> {
  if (caller.kind !== 'identity') throw new Failure('E-AUTH-FORBIDDEN')
  const owner = actsAsTenant(caller, tenant) ? 'anybody' : caller.idTag
  let removed = 0
  while (true) {
    const portion = await deps.db.transact(tenant.tenantId, async (tx) => {
      const roots = await listTrashRoots(tx, { owner, limit: filesPerPortion })
      return await remove(deps, tx, await listLeaves(tx, roots, filesPerPortion))
    })
    removed += portion
    if (portion === 0) return removed
  }
}

/** Takes files away for ever, in the trash or not, whoever asks: for what is replaced, such as a profile picture. */
export async function dropFiles(
  deps: Pick<TrashDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  fileIds: readonly FileId[],
): Promise<void> {
  while ((await remove(deps, tx, await listLeaves(tx, fileIds, filesPerPortion))) > 0);
}

async function remove(
  { clock, beforeRemoval }: Pick<TrashDeps, 'clock' | 'beforeRemoval'>,
  tx: Writer,
  fileIds: readonly FileId[],
): Promise<number> {
  if (fileIds.length === 0) return 0
  await beforeRemoval(tx, fileIds)
  return await removeFiles(tx, fileIds, nowSecs(clock))
}
