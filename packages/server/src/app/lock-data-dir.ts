import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { findLockHolder, type LockHolder, type ProcessLock, takeLock } from '#infra/db/index.ts'
import { isThere } from '#infra/disk/index.ts'
import type { Clock } from '#lib/clock.ts'
import { commit, version } from './version.ts'

type Places = Pick<Config, 'dataDir' | 'database'>

/** DATA_DIR, and a SQLite file elsewhere, for this server alone. */
export interface DataDirLock {
  /** This process in the database. */
  readonly nodeId: string
  /** The process whose place this one takes: it has ended, and its jobs can go on at once. */
  readonly formerNodeId: string | undefined
  /** Tells where the server answers, for the message to a second one. */
  announce(url: string): Promise<void>
  close(): void
}

/** Keeps DATA_DIR for this server: a second one would write the same uploads, and on SQLite the same database behind the back of what
 * the first one keeps in memory. Throws a `ConfigError` that names the process that has it. */
export async function lockDataDir(config: Places, clock: Clock): Promise<DataDirLock> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  const since = new Date(clock.now()).toISOString()
  const holder = {
    pid: process.pid,
    host: hostname(),
    since,
    version,
    ...(commit === undefined ? {} : { commit }),
    nodeId: randomUUID(),
  }
  const locks: ProcessLock[] = []
  const close = () => {
    for (const lock of locks) lock.close()
  }
  for (const place of placesOf(config)) {
    const lock = await takeLock(place.lockPath, holder)
    if ('heldBy' in lock) {
      close()
      throw refusal(place, lock.heldBy)
    }
    locks.push(lock)
  }
  const former = locks[0]?.former
  return {
    nodeId: holder.nodeId,
    // On another machine the former one may still run, with the DATA_DIR of which this one is a copy.
    formerNodeId: former?.host === holder.host ? former.nodeId : undefined,
    announce: async (url) => {
      for (const lock of locks) await lock.describe({ ...holder, url })
    },
    close,
  }
}

/** The server that runs in DATA_DIR, if one does; `heldBy` is undefined when it could not leave its description. */
export async function findRunningServer({
  dataDir,
}: Places): Promise<{ readonly heldBy: LockHolder | undefined } | undefined> {
  const path = lockPathIn(dataDir)
  return (await isThere(`${path}.lock`)) ? await findLockHolder(path) : undefined
}

/** On which port the server that runs in DATA_DIR is reached; its LISTEN may be another than that of this process. */
export async function findRunningPort(config: Places): Promise<number | undefined> {
  const url = (await findRunningServer(config))?.heldBy?.url
  if (url === undefined || !URL.canParse(url)) return undefined
  const { port, protocol } = new URL(url)
  return port === '' ? defaultPorts[protocol] : Number(port)
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

interface Place {
  readonly variable: string
  readonly shown: string
  readonly lockPath: string
}

function placesOf({ dataDir, database }: Places): Place[] {
  const folder = { variable: 'DATA_DIR', shown: dataDir, lockPath: lockPathIn(dataDir) }
  if (database.kind !== 'sqlite' || dirname(resolve(database.path)) === resolve(dataDir)) return [folder]
  const { path } = database
  return [folder, { variable: 'DATABASE_URL', shown: path, lockPath: `${path}-server` }]
}

function lockPathIn(dataDir: string): string {
  return join(dataDir, 'server')
}

function refusal({ variable, shown }: Place, heldBy: LockHolder | undefined): ConfigError {
  const message = `${shown} is in use by ${describeHolder(heldBy)}. Stop it first; another server needs a DATA_DIR and a database of its own, and several processes of one server share PostgreSQL, each with its own DATA_DIR`
  return new ConfigError([{ variable, message }])
}

export function describeHolder(holder: LockHolder | undefined): string {
  if (!holder) return 'another process'
  const { pid, host, since, url } = holder
  return `process ${pid} on ${host}, which started at ${since}${url ? ` and answers at ${url}` : ''}`
}
