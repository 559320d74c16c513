import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isTenantFolder } from '#infra/blobs/index.ts'
import type { Config } from '#infra/config/index.ts'
import { isSqliteFileInUse } from '#infra/db/index.ts'
import { isThere } from '#infra/disk/index.ts'
import { Failure } from '#lib/failure.ts'
import { unlessMissing } from '#lib/system-error.ts'
import type { RestorePlan } from '../../finish-restore.ts'
import { names } from './backup-format.ts'

// On the file system of its destination, so that moving the checked files there is a rename and not a copy.
const stagingFolder = '.restoring'
/** May be in a data directory that counts as empty: the key is put there by hand when the backup has none. */
const harmless = ['master.key', 'lost+found', stagingFolder]

export interface RestorePlace {
  readonly dataDir: string
  readonly database: Config['database']
  readonly blobDir: string
  /** Where the restored files lie until then. */
  readonly stagedDatabase: string
  readonly stagedBlobs: string
  readonly stagedKey: string
  /** Where the server looks for its key, when that is its own file. */
  readonly keyPath: string | undefined
}

export function restorePlace({ dataDir, database, blobStore, masterKey }: Config): RestorePlace {
  if (blobStore.kind !== 'file')
    throw new Failure('E-STATE', {
      message:
        'A backup is restored to a directory: set BLOB_STORE=file:…, and copy to the bucket with kith blobs migrate.',
    })
  const isSqlite = database.kind === 'sqlite'
  const databaseDir = isSqlite ? dirname(database.path) : dataDir
  return {
    dataDir,
    database,
    blobDir: blobStore.path,
    stagedDatabase: join(databaseDir, stagingFolder, names.database[database.kind]),
    stagedBlobs: join(blobStore.path, stagingFolder),
    stagedKey: join(dataDir, stagingFolder, names.masterKey),
    keyPath: masterKey.kind === 'file' && masterKey.generated ? masterKey.path : undefined,
  }
}

/** The folders that are of no use when the restore has ended, well or not. */
function leftoversOf({ stagedDatabase, stagedBlobs, stagedKey }: RestorePlace): string[] {
  return [...new Set([dirname(stagedDatabase), stagedBlobs, dirname(stagedKey)])]
}

/** Makes the staging folders; what an earlier restore has left there goes. Answers the folders around them that were not there
 * before, the inner ones first. */
export async function makeRoom(place: RestorePlace): Promise<readonly string[]> {
  for (const folder of leftoversOf(place)) await rm(folder, { recursive: true, force: true })
  const made: string[] = []
  for (const folder of leftoversOf(place)) {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 })
    made.unshift(...foldersBetween(first, dirname(folder)))
  }
  return made
}

function foldersBetween(first: string | undefined, last: string): string[] {
  if (first === undefined || last.length < first.length) return []
  return [last, ...foldersBetween(first, dirname(last))]
}

/** Removes the staging folders and those that were made for them. */
export async function clearRoom(place: RestorePlace, made: readonly string[]): Promise<void> {
  for (const folder of leftoversOf(place)) await rm(folder, { recursive: true, force: true })
  for (const folder of made) await rmdir(folder).catch(() => undefined)
}

/** Refuses a place where something lies already, unless it may be moved aside, and one that a server is using. */
export async function assertFree(place: RestorePlace, { force }: { readonly force: boolean }): Promise<void> {
  const { dataDir, database } = place
  const hasFile = database.kind === 'sqlite' && (await isThere(database.path))
  if (hasFile && isSqliteFileInUse(database.path))
    throw new Failure('E-STATE', { message: 'The database is in use: stop the server first.' })
  const present = (await entriesOf(dataDir)).filter((name) => !harmless.includes(name))
  const inTheWay = [
    ...present.map((name) => join(dataDir, name)),
    ...(await listTenantFolders(place)).map((name) => join(place.blobDir, name)),
    ...(hasFile ? [database.path] : []),
  ]
  if (inTheWay.length > 0 && !force)
    throw new Failure('E-STATE', {
      message: `There is something already: ${inTheWay[0]}. With --force it is moved aside.`,
    })
}

/** The renames that replace the present data by the staged: the present database moves away first, the restored one
 * arrives last, so that a restore that is cut off leaves no database beside the wrong files. */
export async function planMoves(
  place: RestorePlace,
  stamp: string,
): Promise<RestorePlan & { replaced: string[] }> {
  const away = `.replaced-${stamp}`
  const moveAway = (path: string) => ({ from: path, to: join(dirname(path), away, basename(path)) })
  const { database, blobDir, stagedBlobs, stagedDatabase, stagedKey, keyPath } = place
  const files = database.kind === 'sqlite' ? ['', '-wal', '-shm'].map((end) => database.path + end) : []
  const restoredKey = existsSync(stagedKey) ? keyPath : undefined
  const old = [
    ...files,
    ...(await listTenantFolders(place)).map((name) => join(blobDir, name)),
    ...(restoredKey === undefined ? [] : [restoredKey]),
  ].filter((path) => existsSync(path))
  const restoredTenants = (await entriesOf(stagedBlobs)).filter(isTenantFolder)
  const moves = [
    ...old.map(moveAway),
    ...restoredTenants.map((name) => ({ from: join(stagedBlobs, name), to: join(blobDir, name) })),
    ...(restoredKey === undefined ? [] : [{ from: stagedKey, to: restoredKey }]),
    ...(database.kind === 'sqlite' ? [{ from: stagedDatabase, to: database.path }] : []),
  ]
  const replaced = [...new Set(old.map((path) => join(dirname(path), away)))]
  return { moves, replaced, leftovers: leftoversOf(place) }
}

async function listTenantFolders({ blobDir }: RestorePlace): Promise<string[]> {
  return (await entriesOf(blobDir)).filter(isTenantFolder)
}

async function entriesOf(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? []
}
