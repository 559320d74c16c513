import { randomUUID } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

interface DurableFileOptions {
  /** Permission bits; 0600 when absent. */
  readonly mode?: number
  /** Fails with `EEXIST` instead of replacing a file. */
  readonly exclusive?: boolean
}

/** Writes a file so that it is there as a whole or not at all, also after a loss of power. The folder must exist. */
export async function writeDurably(
  path: string,
  content: string | Uint8Array,
  options: DurableFileOptions = {},
): Promise<void> {
  const folder = dirname(path)
  const draft = join(folder, `.${basename(path)}.${randomUUID()}`)
  try {
    const file = await open(draft, 'wx', options.mode ?? 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    // A link fails where a rename would replace.
    if (options.exclusive) await link(draft, path)
    else await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(folder)
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no handle of a folder to sync.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
