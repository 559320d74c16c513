import {
  changeFile,
  changeFileUserData,
  createFile,
  deleteFile,
  emptyTrash,
  type FileUserData,
  type FileView,
  getFileMetadata,
  maxSelectedFiles,
  putTag,
  removeTag,
  restoreFile,
} from '@kith/protocol'
import { client } from '#platform/client.ts'
import { archiveAddress, mediaAddress, saveMedia, whenMediaAccess } from '#platform/media.ts'
import { editLists, refreshFiles } from './file-lists.ts'

/** Changes lists at once, then the server; puts the lists back where that fails. */
async function optimistic(
  files: readonly FileView[],
  edit: (file: FileView) => FileView | undefined,
  change: (file: FileView) => Promise<unknown>,
  which?: 'folders',
): Promise<void> {
  const undo = editLists(
    files.map(({ fileId }) => fileId),
    edit,
    which,
  )
  try {
    // One after another: a selection may have thousands.
    for (const file of files) await change(file)
  } catch (error) {
    undo()
    throw error
  } finally {
    void refreshFiles()
  }
}

const params = ({ fileId }: Pick<FileView, 'fileId'>) => ({ params: { fileId } })

export function moveToTrash(files: readonly FileView[]): Promise<void> {
  return optimistic(
    files,
    () => undefined,
    (file) => client.call(deleteFile, params(file)),
  )
}

export function deleteForGood(files: readonly FileView[]): Promise<void> {
  return optimistic(
    files,
    () => undefined,
    (file) => client.call(deleteFile, { ...params(file), query: { permanent: true } }),
  )
}

/** Deletes files for good that are not in the trash yet. */
export async function removeAtOnce(files: readonly FileView[]): Promise<void> {
  await moveToTrash(files)
  await deleteForGood(files)
}

/** Puts files back where they were; the server takes no folder for one that is gone. */
export function restore(files: readonly FileView[]): Promise<void> {
  return optimistic(
    files,
    () => undefined,
    (file) => client.call(restoreFile, params(file)),
  )
}

export async function clearTrash(): Promise<void> {
  await client.call(emptyTrash)
  await refreshFiles()
}

export function rename(file: FileView, fileName: string): Promise<void> {
  return optimistic(
    [file],
    (one) => ({ ...one, fileName }),
    () => client.call(changeFile, { ...params(file), body: { fileName } }),
  )
}

/** Moves files into a folder; null: into none. */
export function move(files: readonly FileView[], parentId: string | null): Promise<void> {
  return optimistic(
    files,
    () => undefined,
    (file) => client.call(changeFile, { ...params(file), body: { parentId } }),
    'folders',
  )
}

/** Stars or pins files, or takes that away. */
export function mark(
  files: readonly FileView[],
  marks: Partial<Pick<FileUserData, 'starred' | 'pinned'>>,
): Promise<void> {
  return optimistic(
    files,
    (file) => ({ ...file, userData: { starred: false, pinned: false, ...file.userData, ...marks } }),
    (file) => client.call(changeFileUserData, { ...params(file), body: marks }),
  )
}

/** Adds tags to files, and takes others away. */
export function changeTags(
  files: readonly FileView[],
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
): Promise<void> {
  return optimistic(
    files,
    (file) => ({
      ...file,
      tags: [...new Set([...file.tags.filter((tag) => !removed.includes(tag)), ...added])],
    }),
    async ({ fileId }) => {
      for (const tag of removed) await client.call(removeTag, { params: { fileId, tag } })
      for (const tag of added) await client.call(putTag, { params: { fileId, tag } })
    },
  )
}

/** Changes who may see files, besides those with whom they are shared. */
export function changeVisibility(
  files: readonly FileView[],
  visibility: FileView['visibility'],
): Promise<void> {
  return optimistic(
    files,
    (file) => ({ ...file, visibility }),
    (file) => client.call(changeFile, { ...params(file), body: { visibility } }),
  )
}

export async function makeFolder(fileName: string, parentId: string | undefined): Promise<FileView> {
  const place = parentId === undefined ? {} : { parentId }
  const { data: made } = await client.call(createFile, { body: { fileTp: 'FLDR', fileName, ...place } })
  await refreshFiles()
  return (await client.call(getFileMetadata, params(made))).data
}

/** Has the browser save files: one as it is, a folder and several files as zip archives. */
export async function download(files: readonly FileView[]): Promise<void> {
  const [file] = files
  if (!file) return
  const access = await whenMediaAccess()
  if (files.length > 1) {
    for (let at = 0; at < files.length; at += maxSelectedFiles) {
      const some = files.slice(at, at + maxSelectedFiles).map(({ fileId }) => fileId)
      void saveMedia(archiveAddress(some, access), 'files.zip')
    }
    return
  }
  const { fileId, fileTp, fileName } = file
  if (fileTp === 'FLDR') void saveMedia(archiveAddress(fileId, access), `${fileName}.zip`)
  else void saveMedia(mediaAddress(fileId, access, { download: '1' }), fileName)
}
