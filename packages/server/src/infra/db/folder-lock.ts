import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './database-errors.ts'

/** Who holds a folder. */
interface FolderHolder {
  readonly pid: number
  /** ISO 8601. */
  readonly since: string
}

/** A folder that this process alone uses, until it closes the lock or ends, however it ends. */
export interface FolderLock {
  close(): void
}

/** Takes the lock of a folder; answers its holder when another process has it. It is SQLite's lock on a file of its own,
 * which the operating system releases when the process ends, also after `kill -9`. */
export async function lockFolder(
  folder: string,
  holder: FolderHolder,
): Promise<FolderLock | { readonly heldBy: FolderHolder | undefined }> {
  const holderFile = join(folder, 'server.json')
  const lock = new DatabaseSync(join(folder, 'server.lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    return { heldBy: await readHolder(holderFile) }
  }
  // For messages only: on a full disk the server starts without it.
  await writeFile(holderFile, `${JSON.stringify(holder)}\n`).catch(() => undefined)
  return { close: () => lock.close() }
}

async function readHolder(path: string): Promise<FolderHolder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as FolderHolder
  } catch {
    return undefined
  }
}
