import { constants, existsSync } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findS3Trouble } from '#infra/blobs/index.ts'
import type { Config, S3Credentials, S3Location } from '#infra/config/index.ts'
import { loadPresentMasterKey } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { checkTools } from '../backup/postgres-tools.ts'
import { reportOf } from '../failure-report.ts'
import type { PresentDatabase } from '../present-database.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'
import { listUnopenable } from './unopenable-keys.ts'

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

async function examineFolder(path: string): Promise<Verdict> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return ok(`${path} is not there yet; the first start makes it.`)
  if (!found.isDirectory()) return problem(`${path} is no directory.`, 'Move it away.')
  const advice = 'Run kith as the user that runs the server, and give that user the directory.'
  if (!(await isAllowed(path, constants.W_OK | constants.X_OK)))
    return problem(`${path} cannot be written.`, advice)
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

async function examineDatabase({ database }: Config, { present, error }: FoundDatabase): Promise<Verdict> {
  if (error !== undefined) throw error
  if (!present) return ok('There is none yet; the first start makes it.')
  const { db, foreign, pending } = present
  const broken = await db.integrityCheck()
  if (broken[0] !== undefined)
    return problem(`It is damaged: ${broken[0]}`, 'Stop the server and restore a backup: kith restore')
  const closed = database.kind === 'sqlite' ? await findClosedFile(database.path) : undefined
  if (closed !== undefined)
    return problem(`${closed} cannot be written.`, 'Give it to the user that runs the server.')
  if (foreign !== undefined)
    return problem(`Another version of the program has changed it (${foreign}).`, 'Run that version.')
  if (pending > 0)
    return warning(`${pending} migrations are to be applied.`, 'The next start does it, or kith migrate.')
  return ok('It is sound and up to date.')
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
  const isToBeMade = location.kind === 'file' && location.generated && !existsSync(location.path)
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
