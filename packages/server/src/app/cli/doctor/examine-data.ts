import { constants, existsSync } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findS3Trouble } from '#infra/blobs/index.ts'
import type { Config, S3Credentials, S3Location } from '#infra/config/index.ts'
import { findFolderTrouble, findNetworkFileSystem, isThere } from '#infra/disk/index.ts'
import { loadPresentMasterKey } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { assertNoOldData } from '../../assert-no-old-data.ts'
import { describeHolder, findRunningServer } from '../../lock-data-dir.ts'
import { adviceOnOtherVersion, listUpgradeCopies } from '../../upgrade-copies.ts'
import { commit, shortCommit, version } from '../../version.ts'
import { checkTools } from '../backup/postgres-tools.ts'
import { reportOf } from '../failure-report.ts'
import type { PresentDatabase } from '../present-database.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'
import { listUnopenable } from './unopenable-keys.ts'

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3
const scarceBytes = gibibyte / 4
const littleBytes = 2 * gibibyte

/** The database that is there, or why it cannot be opened; neither before the first start. */
export interface FoundDatabase {
  readonly present?: PresentDatabase | undefined
  readonly error?: unknown
}

/** Directories, disk, database and the key that belongs to it. */
export function examineData(config: Config, found: FoundDatabase, clock: Clock): Promise<Finding>[] {
  const { dataDir, blobStore } = config
  return [
    examine('Server', () => examineServer(config)),
    examine('Data directory', () => examineFolder(dataDir)),
    examine('Blobs', () =>
      blobStore.kind === 'file'
        ? examineFolder(blobStore.path)
        : examineBucket(blobStore, config.s3Credentials),
    ),
    examine('Disk space', () => examineSpace(config)),
    examine('Database', () => examineDatabase(config, found)),
    examine('Master key', () => examineKey(config, found, clock)),
    ...(config.database.kind === 'postgres' ? [examine('Backup tools', examineTools)] : []),
  ]
}

/** Which server has DATA_DIR, and whether it is this program. */
async function examineServer(config: Config): Promise<Verdict> {
  const running = await findRunningServer(config)
  if (!running) return ok(`No server runs in ${config.dataDir}.`)
  const { heldBy } = running
  const shown = `${config.dataDir} is that of ${describeHolder(heldBy)}.`
  if (!heldBy) return ok(shown)
  if (heldBy.version === version && isSameCommit(heldBy.commit)) return ok(shown)
  if (heldBy.version === version)
    return warning(
      `${shown} It runs commit ${shortCommit(heldBy.commit)}, and this is ${shortCommit(commit)}.`,
      'Restart the server.',
    )
  return warning(`${shown} It is version ${heldBy.version}, and this is ${version}.`, 'Restart the server.')
}

/** A release that was put in its place does not run before a restart. */
function isSameCommit(running: string | undefined): boolean {
  return running === undefined || commit === undefined || running === commit
}

async function examineFolder(path: string): Promise<Verdict> {
  const trouble = await findFolderTrouble(path)
  const advice = 'Run kith as the user that runs the server, and give that user the directory.'
  if (trouble)
    return problem(
      `${trouble.path} ${trouble.why}.`,
      trouble.why.includes('this user') ? advice : `Choose another place than ${path}, or make room for it.`,
    )
  const found = await stat(path).catch(() => undefined)
  if (!found) return ok(`${path} is not there yet; the first start makes it.`)
  const uid = process.getuid?.()
  // Root may write everywhere, and what it makes is closed to the server.
  if (uid !== undefined && found.uid !== uid)
    return warning(`${path} belongs to user ${found.uid}, and this is user ${uid}.`, advice)
  // Windows has no such bits.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return warning(`Others on this machine may look into ${path}.`, `chmod 700 ${path}`)
  return ok(`${path} is there, for this user alone.`)
}

const bucketAdvice: Readonly<Record<number, string>> = {
  301: 'Give BLOB_STORE the region of the bucket.',
  403: 'Check S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, what they allow, and the clock of this machine.',
  404: 'Make the bucket, or correct its name in BLOB_STORE; some services need pathStyle=true.',
}

async function examineBucket(location: S3Location, credentials: S3Credentials | undefined): Promise<Verdict> {
  if (!credentials) throw new TypeError('the configuration of S3 comes with its keys')
  const place = `The bucket ${location.bucket}${location.endpoint ? ` at ${location.endpoint}` : ''}`
  const trouble = await findS3Trouble({
    location,
    credentials,
    logger: silentLogger,
    clock: systemClock,
  })
  if (!trouble) return ok(`${place} answers.`)
  const { code, status } = trouble
  const answer = status === undefined ? `cannot be reached (${code})` : `answers ${status}`
  const advice = bucketAdvice[status ?? 0] ?? 'Check the endpoint in BLOB_STORE and the service behind it.'
  return problem(`${place} ${answer}.`, advice)
}

/** Of the file systems with data on them, the one with the least room. */
async function examineSpace({ dataDir, database, blobStore }: Config): Promise<Verdict> {
  const places = [
    dataDir,
    ...(database.kind === 'sqlite' ? [dirname(database.path)] : []),
    ...(blobStore.kind === 'file' ? [blobStore.path] : []),
  ]
  const spaces = await Promise.all(
    places.map(async (path) => {
      const { bavail, bsize } = await statfs(existingParent(path))
      return { path, free: bavail * bsize }
    }),
  )
  const { path, free } = spaces.reduce((least, space) => (space.free < least.free ? space : least))
  const shown = `${(free / gibibyte).toFixed(1)} GiB are free at ${path}.`
  const advice = 'Make room before it is used up: a full disk stops every write.'
  if (free < scarceBytes) return problem(shown, advice)
  return free < littleBytes ? warning(shown, advice) : ok(shown)
}

function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path))
}

async function examineDatabase(config: Config, { present, error }: FoundDatabase): Promise<Verdict> {
  const { database } = config
  if (error !== undefined) throw error
  if (!present) {
    await assertNoOldData(config)
    return ok('There is none yet; the first start makes it.')
  }
  const { db, foreign, pending } = present
  const broken = await db.integrityCheck()
  if (broken[0] !== undefined)
    return problem(`It is damaged: ${broken[0]}`, 'Stop the server and restore a backup: kith restore')
  const closed = database.kind === 'sqlite' ? await findClosedFile(database.path) : undefined
  if (closed !== undefined)
    return problem(`${closed} cannot be written.`, 'Give it to the user that runs the server.')
  if (foreign !== undefined)
    return problem(
      `Another version of the program has changed it (${foreign}).`,
      `${await adviceOnOtherVersion(config)}.`,
    )
  if (pending > 0)
    return warning(`${pending} migrations are to be applied.`, 'The next start does it, or kith migrate.')
  const remote = database.kind === 'sqlite' ? await findNetworkFileSystem(dirname(database.path)) : undefined
  if (remote !== undefined)
    return warning(
      `The database is on a network file system (${remote}), where SQLite's locks and its memory-mapped index may not hold.`,
      'Keep DATA_DIR on a disk of this machine, or use PostgreSQL.',
    )
  const [copy, ...older] = await listUpgradeCopies(config)
  const copies = copy
    ? ` As it was before the last upgrade it is in ${copy.path} (${(copy.bytes / mebibyte).toFixed(1)} MiB${older.length > 0 ? `, ${older.length} older beside it` : ''}).`
    : ''
  return ok(`It is sound and up to date.${copies}`)
}

/** One of the files of a SQLite database that this user may not write. */
async function findClosedFile(path: string): Promise<string | undefined> {
  for (const file of ['', '-wal', '-shm'].map((end) => path + end).filter(existsSync))
    if (!(await isAllowed(file, constants.R_OK | constants.W_OK))) return file
  return undefined
}

async function examineKey(
  { masterKey: location }: Config,
  { present, error }: FoundDatabase,
  clock: Clock,
): Promise<Verdict> {
  const isToBeMade = location.kind === 'file' && location.generated && !(await isThere(location.path))
  if (isToBeMade && !present && error === undefined) return ok('There is none yet; the first start makes it.')
  const masterKey = await loadPresentMasterKey(location)
  if (!present?.isCurrent) return ok('It can be read.')
  const unopenable = await listUnopenable({ db: present.db, masterKey, clock })
  if (unopenable.length === 0) return ok('It opens the keys of the tenants.')
  const advice = 'Put the key back with which this database was written; a backup may hold it.'
  return problem(`It does not open the keys of ${unopenable.slice(0, 5).join(', ')}.`, advice)
}

async function examineTools(): Promise<Verdict> {
  try {
    await checkTools()
    return ok('kith backup and kith restore have what they need.')
  } catch (error) {
    const advice = 'Install the client programs of PostgreSQL, of the version of the server or newer.'
    return warning(reportOf(error).message, advice)
  }
}

async function isAllowed(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
