import { constants } from 'node:fs'
import { access, mkdtemp, readdir, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, unlessMissing } from '#lib/system-error.ts'

/** What keeps the server from using a folder. */
export interface FolderTrouble {
  /** The folder, one above it, or something in it. */
  readonly path: string
  /** Goes on after the path. */
  readonly why: string
}

/** Whether the server of this user can keep its data in a folder, or make it. Nothing is left behind: that something can be made
 * is only seen by making it, as on `/proc` or a file system that is read-only. A full disk is no trouble here: a server with data
 * starts on one. */
export async function findFolderTrouble(path: string): Promise<FolderTrouble | undefined> {
  const place = await nearestThere(path)
  if (typeof place !== 'string') return place
  const isThere = place === path
  const mode = constants.W_OK | constants.X_OK | (isThere ? constants.R_OK : 0)
  return (
    (await findRefusal(place, access(place, mode))) ??
    (await findRefusal(place, tryToMake(place))) ??
    (isThere ? await findClosedEntry(place) : undefined)
  )
}

/** The folder itself or the nearest one above it that is there. */
async function nearestThere(path: string): Promise<string | FolderTrouble> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? path : { path, why: 'is no directory' }
  } catch (error) {
    const code = errorCode(error)
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    if (isMissing && dirname(path) !== path) return await nearestThere(dirname(path))
    return { path, why: whyOf(code) }
  }
}

async function findRefusal(path: string, work: Promise<unknown>): Promise<FolderTrouble | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOSPC' || code === 'EDQUOT' ? undefined : { path, why: whyOf(code) }
  }
}

async function tryToMake(place: string): Promise<void> {
  await rmdir(await mkdtemp(join(place, '.kith-check-')))
}

/** A folder of the server that another user has made, as a command that ran as root does. */
async function findClosedEntry(place: string): Promise<FolderTrouble | undefined> {
  for (const entry of await readdir(place, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const path = join(place, entry.name)
    const mode = constants.R_OK | constants.W_OK | constants.X_OK
    // It may be gone by now: another look at the same folder removes what it has made.
    const trouble = await findRefusal(path, unlessMissing(access(path, mode)))
    if (trouble) return trouble
  }
  return undefined
}

function whyOf(code: string | undefined): string {
  if (code === 'EACCES' || code === 'EPERM') return `is closed to this user (${code})`
  if (code === 'EROFS') return 'is on a file system that cannot be written (EROFS)'
  return `takes nothing new (${code})`
}
