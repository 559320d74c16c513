import type { FileId, Visibility } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertMayOpen } from '../access/assert-attachable.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { type FileLevel, readLevel, writeLevel } from '../access/file-viewer.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import {
  assertNotTrashed,
  type FileQuestion,
  getFileWithin,
  getOwnFile,
  isOwnFile,
} from '../access/read-file.ts'
import type { FileEmitter } from '../events.ts'
import { acceptFileName, normalTags, type StoredFile } from '../file.ts'
import { type FileChange, putTags, updateFile } from '../file-store.ts'
import { listAbove } from './file-tree-store.ts'
import { assertFolder, assertMovable, isForSingleFiles } from './place-file.ts'

interface ChangeDeps extends FileEmitter {
  readonly db: Database
  readonly clock: Clock
}

interface FileChanges {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly fileId: FileId
  readonly fileName?: string
  readonly tags?: readonly string[]
  /** Null: in no folder. */
  readonly parentId?: FileId | null
  readonly visibility?: Visibility
}

/** Renames, tags or moves a file of the caller's, or changes who may read it. Who may write it by a share or a reference
 * renames it, and moves it within what was shared. */
export async function changeFile(deps: ChangeDeps, changes: FileChanges): Promise<StoredFile> {
  const { tenant, visibility } = changes
  const fileName = changes.fileName === undefined ? undefined : acceptFileName(changes.fileName, '/fileName')
  const tags = changes.tags && normalTags(changes.tags, '/tags')
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const { file, level } = await getFileWithin(tx, deps, changes, readLevel)
    // A token for single files is an editor's, whoever holds it.
    const isOwn = isOwnFile(tenant, changes.caller, file) && !isForSingleFiles(changes.caller)
    if (!isOwn && !mayEdit(file, level, changes)) throw new Failure('E-AUTH-FORBIDDEN')
    assertNotTrashed(file)
    // Who may read what another server's owner shared is theirs to say.
    if (file.isCopy && (visibility ?? null) !== null) throw new Failure('E-AUTH-FORBIDDEN')
    if ((visibility ?? null) !== null && visibility !== file.visibility) await assertMayOpen(tx, changes)
    const change: FileChange = {
      ...(fileName === undefined ? {} : { fileName }),
      ...(visibility === undefined ? {} : { visibility }),
      ...(tags && { tags }),
      ...(await moveOf(tx, deps, file, { ...changes, isOwn })),
    }
    return await store(tx, deps, file, change)
  })
}

/** What an editor changes: neither who may read the file, nor how its owner sorts it. */
function mayEdit({ isCopy }: StoredFile, level: FileLevel, { tags, visibility }: FileChanges): boolean {
  return level >= writeLevel && !isCopy && tags === undefined && visibility === undefined
}

/** Adds a tag to a file of the caller's, or takes it off. */
export async function changeTag(
  deps: ChangeDeps,
  question: FileQuestion,
  { tag, isOn }: { readonly tag: string; readonly isOn: boolean },
): Promise<readonly string[]> {
  return await deps.db.transact(question.tenant.tenantId, async (tx) => {
    const file = await getOwnFile(tx, deps, question)
    assertNotTrashed(file)
    const others = file.tags.filter((other) => other !== tag.trim())
    const hasTag = others.length < file.tags.length
    if (hasTag === isOn) return file.tags
    const tags = normalTags(isOn ? [...file.tags, tag] : others, '/params/tag')
    return (await store(tx, deps, file, { tags })).tags
  })
}

export interface Move {
  readonly tenant: Tenant
  readonly caller: Caller
  /** Of the caller, who may move it anywhere. */
  readonly isOwn: boolean
  readonly from: FileId | undefined
  readonly to: FileId | undefined
}

/** Fails unless the caller may move a file from one place to another. */
export async function assertMayMove(
  tx: Writer,
  deps: Pick<ChangeDeps, 'clock'>,
  { from, to, isOwn, ...who }: Move,
): Promise<void> {
  if (isOwn || from === to) return
  if (from === undefined || to === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  await assertWithinShared(tx, deps, who, [from, to])
}

async function moveOf(
  tx: Writer,
  deps: ChangeDeps,
  { fileId, parentId: from }: StoredFile,
  changes: FileChanges & { readonly isOwn: boolean },
): Promise<Pick<FileChange, 'parentId'>> {
  const { parentId: to, tenant, caller, isOwn } = changes
  if (to === undefined || (to ?? undefined) === from) return {}
  const mayMove = () => assertMayMove(tx, deps, { tenant, caller, isOwn, from, to: to ?? undefined })
  // Only the owner moves a file into or out of the root: others are refused before the target folder is looked at.
  if (to === null || from === undefined) await mayMove()
  if (to !== null) {
    await assertFolder(tx, deps, { tenant, caller, fileId, parentId: to, path: '/parentId' })
    await assertMovable(tx, fileId, to)
    await mayMove()
  }
  return { parentId: to }
}

/** Fails unless both folders lie in one that the caller may write, or are it: a move elsewhere would take the file from those
 * with whom that one is shared. */
async function assertWithinShared(
  tx: Writer,
  { clock }: Pick<ChangeDeps, 'clock'>,
  { tenant, caller }: Pick<Move, 'tenant' | 'caller'>,
  [from, to]: readonly [FileId, FileId],
): Promise<void> {
  const now = nowSecs(clock)
  const who = await findFileViewer(tx, { tenant, caller, now })
  const above = new Set(await listAbove(tx, from, 'lies'))
  for (const folderId of await listAbove(tx, to, 'lies')) {
    if (!above.has(folderId)) continue
    const found = await findAccessibleFile(tx, who, { fileId: folderId as FileId, now })
    if (found && found.level >= writeLevel) return
  }
  throw new Failure('E-AUTH-FORBIDDEN')
}

async function store(
  tx: Writer,
  { clock, emit }: ChangeDeps,
  file: StoredFile,
  change: FileChange,
): Promise<StoredFile> {
  if (Object.keys(change).length === 0) return file
  const modifiedAt = nowSecs(clock)
  await updateFile(tx, file.fileId, { ...change, modifiedAt })
  if (change.tags) await putTags(tx, file.fileId, change.tags)
  const { fileId, ownerTag } = file
  await emit(tx, { kind: 'file.updated', fileId, to: [ownerTag] })
  const { parentId = file.parentId, ...rest } = change
  return { ...file, ...rest, parentId: parentId ?? undefined, modifiedAt }
}
