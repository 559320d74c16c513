import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '#infra/config/index.ts'
import type { Database } from '#infra/db/index.ts'
import { freeBytesOf } from '#infra/disk/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { syncFolder } from '#lib/durable-file.ts'
import { Failure } from '#lib/failure.ts'
import { unlessMissing } from '#lib/system-error.ts'
import { migrations } from './migrations.ts'

/** As many copies stay; each is as large as the database was. */
const keptCopies = 2
/** What the migrations themselves may add. */
const spareBytes = 64 * 1024 * 1024
const mebibyte = 1024 ** 2
const nameForm = /^kith-(\d{8}T\d{6}Z)-(\w+)\.db$/

/** A SQLite database as it was before a newer version of the program changed it. */
export interface UpgradeCopy {
  readonly path: string
  /** The last migration in it, which tells the versions that can use it. */
  readonly lastMigration: string
  readonly bytes: number
}

interface CopyOptions {
  readonly lastMigration: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
  readonly findFreeBytes?: (folder: string) => Promise<number>
}

/** Copies a SQLite database that is about to be migrated to the directory `before-upgrade` beside it. Fails with `E-STATE` where the
 * disk has no room for that. */
export async function copyBeforeUpgrade(
  config: Pick<Config, 'database'>,
  db: Database,
  { lastMigration, clock, logger, findFreeBytes = freeBytesOf }: CopyOptions,
): Promise<void> {
  if (config.database.kind !== 'sqlite') return
  const { path } = config.database
  const folder = folderOf(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await assertRoom(path, folder, await findFreeBytes(folder))
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const copy = join(folder, `kith-${stamp}-${lastMigration}.db`)
  logger.info({ copy }, 'copies the database before it is brought up to date')
  await writeCopy(db, copy)
  for (const { path: old } of (await listUpgradeCopies(config)).slice(keptCopies)) await rm(old)
}

/** The copies of the database of this server, the newest first. */
export async function listUpgradeCopies({ database }: Pick<Config, 'database'>): Promise<UpgradeCopy[]> {
  if (database.kind !== 'sqlite') return []
  const folder = folderOf(database.path)
  const names = ((await unlessMissing(readdir(folder))) ?? []).filter((name) => nameForm.test(name))
  return await Promise.all(
    names
      .sort()
      .reverse()
      .map(async (name) => {
        const path = join(folder, name)
        return { path, lastMigration: nameForm.exec(name)?.[2] ?? '', bytes: (await stat(path)).size }
      }),
  )
}

/** What to do about a database that another version has changed, mostly a newer one. */
export async function adviceOnOtherVersion(config: Pick<Config, 'database'>): Promise<string> {
  const copies = await listUpgradeCopies(config)
  const copy = copies.find(({ lastMigration }) => lastMigration === migrations.at(-1)?.id)
  const way = copy
    ? `put back the copy from before the upgrade, ${copy.path}`
    : 'restore a backup of this version'
  return `Run the version that did, or ${way}; what was written since is lost then (docs/operations/upgrade.md)`
}

function folderOf(databasePath: string): string {
  return join(dirname(databasePath), 'before-upgrade')
}

async function assertRoom(path: string, folder: string, free: number): Promise<void> {
  const sizes = await Promise.all([path, `${path}-wal`].map((file) => unlessMissing(stat(file))))
  const needed = sizes.reduce((sum, found) => sum + (found?.size ?? 0), spareBytes)
  if (free >= needed) return
  const shown = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MiB`
  throw new Failure('E-STATE', {
    message: `The database is copied before it is brought up to date, and ${folder} has ${shown(free)} left of ${shown(needed)} that it takes. Make room, or bring it up to date with a backup at hand: kith migrate --without-copy`,
  })
}

async function writeCopy(db: Database, path: string): Promise<void> {
  const draft = `${path}.part`
  await rm(draft, { force: true })
  try {
    await db.backup(draft)
    await chmod(draft, 0o600)
    const file = await open(draft, 'r')
    await file.sync().finally(() => file.close())
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(dirname(path))
}
