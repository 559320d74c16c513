import {
  changeFile as changeFileContract,
  createFile as createFileContract,
  deleteFile as deleteFileContract,
  duplicateFile as duplicateFileContract,
  emptyTrash as emptyTrashContract,
  putTag as putTagContract,
  removeTag as removeTagContract,
  restoreFile as restoreFileContract,
  toIso,
} from '@kith/protocol'
import { idTagOf } from '#infra/caller/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { findUserData } from './collections/collection-store.ts'
import { createFile } from './create-file.ts'
import { type FileListDeps, viewsOf } from './file-list-endpoints.ts'
import { createdFileView } from './file-view.ts'
import { changeFile, changeTag } from './folders/change-file.ts'
import { type DuplicateDeps, duplicateFile } from './folders/duplicate-file.ts'
import { parentFolder } from './folders/parent-folder.ts'
import { emptyTrash, removeFile, restoreFile, type TrashDeps, trashFile } from './folders/trash-file.ts'

export type FileChangeDeps = DuplicateDeps & TrashDeps & Pick<FileListDeps, 'findNames'>

export function fileChangeEndpoints(deps: FileChangeDeps): Endpoint[] {
  return [...makingEndpoints(deps), ...changingEndpoints(deps), ...trashEndpoints(deps)]
}

function makingEndpoints(deps: FileChangeDeps): Endpoint[] {
  return [
    bind(createFileContract, async ({ tenant, caller, body }) => {
      const { fileTp, fileName, contentType, tags = [], visibility = null } = body
      const parentId = parentFolder(body.parentId)
      const creation = { tenant, caller, fileTp, fileName, contentType, tags, parentId, visibility }
      return createdFileView(await createFile(deps, creation))
    }),
    bind(duplicateFileContract, async ({ tenant, caller, params, body = {} }) => {
      const { fileName } = body
      const parentId = parentFolder(body.parentId)
      const duplication = { tenant, caller, fileId: params.fileId, fileName, parentId }
      const { fileId } = await duplicateFile(deps, duplication)
      return { fileId }
    }),
  ]
}

function changingEndpoints(deps: FileChangeDeps): Endpoint[] {
  return [
    bind(changeFileContract, async ({ tenant, caller, params, body }) => {
      const { parentId: parentText, ...rest } = body
      const parentId = parentText === undefined ? {} : { parentId: parentFolder(parentText) ?? null }
      const { fileId } = params
      const file = await changeFile(deps, { tenant, caller, fileId, ...rest, ...parentId })
      const idTag = idTagOf(caller)
      const userData = idTag && (await findUserData(deps.db.reader(tenant.tenantId), idTag, fileId))
      const [view] = await viewsOf(deps, tenant.tenantId, [{ file, userData }])
      if (!view) throw new TypeError('a file has one view')
      return view
    }),
    bind(putTagContract, async ({ tenant, caller, params: { fileId, tag } }) => {
      const tags = await changeTag(deps, { tenant, caller, fileId }, { tag, isOn: true })
      return { tags: [...tags] }
    }),
    bind(removeTagContract, async ({ tenant, caller, params: { fileId, tag } }) => {
      const tags = await changeTag(deps, { tenant, caller, fileId }, { tag, isOn: false })
      return { tags: [...tags] }
    }),
  ]
}

function trashEndpoints(deps: FileChangeDeps): Endpoint[] {
  return [
    bind(deleteFileContract, async ({ tenant, caller, params: { fileId }, query }) => {
      if (!query.permanent) {
        await trashFile(deps, { tenant, caller, fileId })
        return 'ok' as const
      }
      await removeFile(deps, { tenant, caller, fileId })
      return { fileId, permanent: true as const }
    }),
    bind(restoreFileContract, async ({ tenant, caller, params: { fileId }, body = {} }) => {
      const target = body.parentId === undefined ? undefined : (parentFolder(body.parentId) ?? null)
      const restoring = { tenant, caller, fileId, parentId: target }
      const { parentId, restoredAt } = await restoreFile(deps, restoring)
      return { fileId, parentId: parentId ?? null, restoredAt: toIso(restoredAt) }
    }),
    bind(emptyTrashContract, async ({ tenant, caller }) => {
      const deleted = await emptyTrash(deps, { tenant, caller })
      return { deletedCount: deleted, deleted }
    }),
  ]
}
