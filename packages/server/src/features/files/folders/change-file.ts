import type { FileId, Visibility } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertMayOpen } from '../access/assert-attachable.ts'
import { assertNotTrashed, type FileQuestion, getOwnFile } from '../access/read-file.ts'
import type { FileEmitter } from '../events.ts'
import { assertFileName, normalTags, type StoredFile } from '../file.ts'
import { type FileChange, putTags, updateFile } from '../file-store.ts'
import { assertFolder, assertMovable } from './place-file.ts'

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

/** Renames, tags or moves a file of the caller's, or changes who may read it. */
export async function changeFile(deps: ChangeDeps, changes: FileChanges): Promise<StoredFile> {
  const { tenant, fileName, visibility } = changes
  if (fileName !== undefined) assertFileName(fileName, '/fileName')
  const tags = changes.tags && normalTags(changes.tags, '/tags')
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const file = await getOwnFile(tx, deps, changes)
    assertNotTrashed(file)
    // Who may read what another server's owner shared is theirs to say.
    if (file.isCopy && (visibility ?? null) !== null) throw new Failure('E-AUTH-FORBIDDEN')
    if ((visibility ?? null) !== null && visibility !== file.visibility) await assertMayOpen(tx, changes)
    const change: FileChange = {
      ...(fileName === undefined ? {} : { fileName }),
      ...(visibility === undefined ? {} : { visibility }),
      ...(tags && { tags }),
      ...(await moveOf(tx, deps, file, changes)),
    }
    return await store(tx, deps, file, change)
  })
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

async function moveOf(
  tx: Writer,
  deps: ChangeDeps,
  { fileId, parentId: from }: StoredFile,
  changes: FileChanges,
): Promise<Pick<FileChange, 'parentId'>> {
  const { parentId: to, tenant, caller } = changes
  if (to === undefined || (to ?? undefined) === from) return {}
  if (to !== null) {
    await assertFolder(tx, deps, { tenant, caller, fileId, parentId: to, path: '/parentId' })
    await assertMovable(tx, fileId, to)
  }
  return { parentId: to }
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
