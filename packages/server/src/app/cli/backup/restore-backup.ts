import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Config } from '#infra/config/index.ts'
import { examineForeignFile, openDatabase } from '#infra/db/index.ts'
import { isThere } from '#infra/disk/index.ts'
import { loadMasterKey } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { Secret } from '#lib/secret.ts'
import { carryOutRestore } from '../../finish-restore.ts'
import { migrations } from '../../migrations.ts'
import { hasDatabase } from '../present-database.ts'
import { type About, keyPrintOf, unusable } from './backup-format.ts'
import { checkDump, restorePostgres } from './postgres-tools.ts'
import { type ReadBackup, unpackBackup } from './read-backup.ts'
import {
  assertFree,
  clearRoom,
  makeRoom,
  planMoves,
  type RestorePlace,
  restorePlace,
} from './restore-place.ts'

interface RestoreOptions {
  readonly path: string
  /** What is there now is moved aside. */
  readonly force: boolean
  /** Only looks whether the backup could be restored. */
  readonly check: boolean
  readonly clock: Clock
}

export interface Restored extends ReadBackup {
  /** Where what was there before lies now. */
  readonly replaced: readonly string[]
}

/** Unpacks a backup into staging folders, checks it, brings its database up to date, and only then moves everything to its
 * place, so that there is never half a server. */
export async function restoreBackup(config: Config, options: RestoreOptions): Promise<Restored> {
  const { force, check, clock } = options
  const place = restorePlace(config)
  if (!check) await assertPlace(config, place, force)
  const backup = await unpackChecked(config, place, options)
  if (check) return { ...backup, replaced: [] }
  if (place.database.kind === 'postgres') await restorePostgres(place.database.url, place.stagedDatabase)
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const { replaced, ...plan } = await planMoves(place, stamp)
  await carryOutRestore(config.dataDir, plan)
  if (place.database.kind === 'postgres') await bringUpToDate(config.database.url)
  return { ...backup, replaced }
}

async function assertPlace(config: Config, place: RestorePlace, force: boolean): Promise<void> {
  await assertFree(place, { force })
  if (force || config.database.kind === 'sqlite') return
  if (await hasDatabase(config))
    throw new Failure('E-STATE', {
      message: 'The database at DATABASE_URL is not empty. With --force it is replaced.',
    })
}

/** The staged files of a backup that is unusable, or that was only to be checked, are removed. */
async function unpackChecked(
  config: Config,
  place: RestorePlace,
  { path, check, clock }: RestoreOptions,
): Promise<ReadBackup> {
  const made = await makeRoom(place)
  let isOfUse = false
  try {
    const backup = await unpackBackup(path, place, { clock, baseIdTag: config.baseIdTag })
    await assertMasterKey(config, place, backup.about)
    if (place.database.kind === 'sqlite') {
      await assertOwnSchema(place.stagedDatabase)
      await bringUpToDate(new Secret(`sqlite:${place.stagedDatabase}`))
    } else await checkDump(place.stagedDatabase)
    isOfUse = !check
    return backup
  } finally {
    if (!isOfUse) await clearRoom(place, made)
  }
}

/** With another master key every identity of the server would be lost. */
async function assertMasterKey(
  config: Config,
  { stagedKey }: RestorePlace,
  { keyPrint }: About,
): Promise<void> {
  if (keyPrintOf(await findMasterKey(config, stagedKey)) !== keyPrint)
    throw unusable('it was written with another master key')
}

async function findMasterKey({ masterKey }: Config, stagedKey: string): Promise<KeyObject> {
  if (masterKey.kind === 'value' || !masterKey.generated) return loadMasterKey(masterKey)
  if (existsSync(stagedKey))
    return loadMasterKey({ kind: 'value', text: new Secret(await readFile(stagedKey, 'utf8')) })
  if (await isThere(masterKey.path)) return loadMasterKey(masterKey)
  throw new Failure('E-STATE', {
    message: `The backup holds no master key. Put the key of the server at ${masterKey.path} first, readable by its owner only.`,
  })
}

/** Before the first statement on it: the file may be a stranger's, and what it brings along is rows and nothing that runs. */
async function assertOwnSchema(path: string): Promise<void> {
  const problem = await examineForeignFile(path, { migrations, scratchPath: `${path}.made` })
  if (problem !== undefined)
    throw unusable(`its database is damaged, or not made by this program (${problem})`)
}

async function bringUpToDate(url: Secret): Promise<void> {
  const db = await openDatabase({ url: url.reveal(), migrations })
  await db.close()
}
