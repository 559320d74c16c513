import type { FileId } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { FileViewer } from '../access/file-viewer.ts'
import { contentName } from '../contents/serve-content.ts'
import type { StoredFile } from '../file.ts'
import { listFilePage } from '../file-list-store.ts'
import { originalName } from '../serving/serve-file.ts'
import { FolderNames } from './archive-names.ts'
import { nextTurn } from './next-turn.ts'

/** What is to stand in an archive, and where. */
export interface PlannedEntry {
  readonly fileId: FileId
  /** A folder's ends with a slash. */
  readonly path: string
  /** Unix seconds. */
  readonly modifiedAt: number
}

interface PlannedFolder {
  readonly folderId: FileId
  /** Unix seconds. */
  readonly now: number
  /** Ends the plan. */
  readonly signal: AbortSignal
}

// The plan and the directory of the archive are kept in memory: some 16 MB at most.
export const maxArchiveEntries = 10_000
const maxPathBytes = 8_000_000
const pageSize = 200

/** What an archive begins with: a folder, whose name is that of the archive, or files and folders side by side. */
export type ArchiveRoots = { readonly folderId: FileId } | { readonly files: readonly StoredFile[] }

/** All that the viewer may read in a folder and in the folders below it, or in several. What has its content on another server
 * is left out: copies of folders, documents and databases, and of files that were not fetched yet. */
export async function planArchive(
  reader: Reader,
  who: FileViewer,
  { roots, now, signal }: Omit<PlannedFolder, 'folderId'> & { readonly roots: ArchiveRoots },
): Promise<PlannedEntry[]> {
  const entries: PlannedEntry[] = []
  const folders = 'folderId' in roots ? [{ folderId: roots.folderId, path: '' }] : []
  let pathBytes = 0
  const add = (file: StoredFile, above: string, names: FolderNames) => {
    if (!isHere(file)) return
    const isFolder = file.fileTp === 'FLDR'
    const path = `${above}${names.take(nameOf(file))}${isFolder ? '/' : ''}`
    entries.push({ fileId: file.fileId, path, modifiedAt: file.modifiedAt })
    pathBytes += Buffer.byteLength(path)
    if (entries.length > maxArchiveEntries || pathBytes > maxPathBytes) throw tooLarge()
    if (isFolder) folders.push({ folderId: file.fileId, path })
  }
  if ('files' in roots) {
    const names = new FolderNames()
    for (const file of roots.files) add(file, '', names)
  }
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    const names = new FolderNames()
    const listed = listFolder(reader, who, { folderId: folder.folderId, now, signal })
    for await (const file of listed) add(file, folder.path, names)
  }
  return entries
}

async function* listFolder(
  reader: Reader,
  who: FileViewer,
  { folderId, now, signal }: PlannedFolder,
): AsyncGenerator<StoredFile> {
  const listing = { sort: 'name', direction: 'asc', limit: pageSize, now } as const
  const filter = { place: { parentId: folderId } }
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = await listFilePage(reader, who, { ...listing, filter, cursor })
    for (const { file } of page.items) yield file
    cursor = page.nextCursor
    await nextTurn(signal)
  }
}

function isHere({ fileTp, isCopy, content }: StoredFile): boolean {
  return fileTp === 'BLOB' ? content !== undefined : !isCopy
}

function nameOf(file: StoredFile): string {
  if (file.fileTp === 'FLDR') return file.fileName
  return file.fileTp === 'BLOB' ? originalName(file) : contentName(file)
}

function tooLarge(): Failure {
  const message = `A folder of more than ${maxArchiveEntries} files and folders cannot be downloaded at once.`
  return new Failure('E-TOOLARGE', { message })
}
