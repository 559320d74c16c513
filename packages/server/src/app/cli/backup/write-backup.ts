import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toIso } from '@kith/protocol'
import { openTenants } from '#features/tenants/index.ts'
import { type ArchiveWriter, createArchive } from '#infra/archive/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import type { Config } from '#infra/config/index.ts'
import { type Database, findForeignSchema } from '#infra/db/index.ts'
import { loadPresentMasterKey } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { migrations } from '../../migrations.ts'
import { openBlobs } from '../../services.ts'
import { version } from '../../version.ts'
import { eachTenant } from '../open-program.ts'
import { openPresentDatabase } from '../present-database.ts'
import { type About, formatVersion, keyPrintOf, type Manifest, names } from './backup-format.ts'
import { dumpPostgres } from './postgres-tools.ts'

interface BackupOptions {
  readonly path: string
  readonly withMasterKey: boolean
  readonly signal: AbortSignal
  readonly clock: Clock
}

interface WrittenBackup extends Manifest {
  /** Of the whole file. */
  readonly bytes: number
  /** Why `kith restore` would refuse the database of this backup: a table, index or trigger that this program does not
   * make, or one that is missing. Undefined where it would not, and always for PostgreSQL, whose dumps are not checked. */
  readonly foreignSchema: string | undefined
}

/** Writes everything that a server needs to a tar file, while it may be running: first a copy of the database, then the
 * bytes of files, which never change. */
export async function writeBackup(config: Config, options: BackupOptions): Promise<WrittenBackup> {
  const db = await openPresent(config)
  try {
    return await write(config, db, options)
  } finally {
    await db.close()
  }
}

async function write(
  config: Config,
  db: Database,
  { path, withMasterKey, signal, clock }: BackupOptions,
): Promise<WrittenBackup> {
  const about = await aboutOf(config, withMasterKey, clock)
  const archive = await createArchive(path, { signal })
  const folder = await mkdtemp(join(dirname(path), '.kith-backup-'))
  try {
    await addJson(archive, names.about, about)
    const copyPath = join(folder, 'copy')
    const database = await addDatabase(config, archive, { db, copyPath })
    const place = { migrations, scratchPath: join(folder, 'made') }
    const foreignSchema =
      config.database.kind === 'sqlite' ? await findForeignSchema(copyPath, place) : undefined
    if (withMasterKey) await archive.add(names.masterKey, Buffer.from(await readMasterKey(config)))
    const blobs = await openBlobs(config, { clock, logger: silentLogger })
    const manifest = { database, ...(await addBlobs(archive, blobs, openTenants({ db, clock }))) }
    await addJson(archive, names.manifest, manifest)
    return { ...manifest, bytes: await archive.keep(), foreignSchema }
  } finally {
    await archive.discard()
    await rm(folder, { recursive: true, force: true })
  }
}

/** As it is: a backup before an upgrade must not be the upgrade. */
async function openPresent(config: Config): Promise<Database> {
  const present = await openPresentDatabase(config)
  if (present) return present.db
  throw new Failure('E-STATE', {
    message: `There is no server in ${config.dataDir} yet: nothing to back up.`,
  })
}

async function aboutOf(
  { baseIdTag, database, masterKey }: Config,
  withMasterKey: boolean,
  clock: Clock,
): Promise<About> {
  return {
    format: 'kith-backup',
    formatVersion,
    version,
    createdAt: toIso(nowSecs(clock)),
    baseIdTag,
    database: database.kind,
    withMasterKey,
    keyPrint: keyPrintOf(await loadPresentMasterKey(masterKey)),
  }
}

async function addDatabase(
  { database }: Config,
  archive: ArchiveWriter,
  { db, copyPath }: { readonly db: Database; readonly copyPath: string },
): Promise<Manifest['database']> {
  if (database.kind === 'sqlite') await db.backup(copyPath)
  else await dumpPostgres(database.url, copyPath)
  const { size } = await stat(copyPath)
  const digest = createHash('sha256')
  const bytes = (async function* () {
    for await (const chunk of createReadStream(copyPath, { highWaterMark: 262_144 })) {
      digest.update(chunk)
      yield chunk as Uint8Array
    }
  })()
  await archive.add(names.database[database.kind], { size, bytes })
  return { bytes: size, sha256: digest.digest('hex') }
}

async function readMasterKey({ masterKey }: Config): Promise<string> {
  return masterKey.kind === 'value' ? masterKey.text.reveal() : readFile(masterKey.path, 'utf8')
}

async function addBlobs(archive: ArchiveWriter, blobs: BlobStore, tenants: Parameters<typeof eachTenant>[0]) {
  const copied = { count: 0, bytes: 0 }
  let count = 0
  for await (const { tenantId } of eachTenant(tenants)) {
    count += 1
    for await (const { hash, size } of blobs.list(tenantId)) {
      const bytes = await blobs.open(tenantId, hash)
      // Removed since it was listed, with the file that it belonged to.
      if (!bytes) continue
      await archive.add(names.blob(tenantId, hash), { size, bytes })
      copied.count += 1
      copied.bytes += size
    }
  }
  return { tenants: count, blobs: copied }
}

async function addJson(archive: ArchiveWriter, name: string, value: unknown): Promise<void> {
  await archive.add(name, Buffer.from(`${JSON.stringify(value)}\n`))
}
