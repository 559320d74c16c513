/** A file with the folders that it lies in, below what was dropped or chosen. */
export interface PlacedFile {
  readonly file: File
  readonly folders: readonly string[]
}

/** What a drop or a file input gives: files, and folders with all in them. */
export async function readDropped(data: DataTransfer): Promise<readonly PlacedFile[]> {
  // The list is empty after the first await.
  const entries = [...data.items].flatMap((item) => {
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null
    return entry ? [entry] : []
  })
  if (entries.length === 0) return [...data.files].map((file) => ({ file, folders: [] }))
  return (await Promise.all(entries.map((entry) => readEntry(entry, [])))).flat()
}

/** The files of an input; one for folders gives each with its path. */
export function readChosen(files: FileList): readonly PlacedFile[] {
  return [...files].map((file) => ({ file, folders: file.webkitRelativePath.split('/').slice(0, -1) }))
}

async function readEntry(entry: FileSystemEntry, folders: readonly string[]): Promise<readonly PlacedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    )
    return [{ file, folders }]
  }
  const children = await childrenOf(entry as FileSystemDirectoryEntry)
  const inside = [...folders, entry.name]
  return (await Promise.all(children.map((child) => readEntry(child, inside)))).flat()
}

/** A reader gives a hundred entries at a time. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return all
    all.push(...some)
  }
}
