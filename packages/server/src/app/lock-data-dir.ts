import { mkdir } from 'node:fs/promises'
import { ConfigError } from '#infra/config/index.ts'
import { type FolderLock, lockFolder } from '#infra/db/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'

/** Keeps DATA_DIR for this server. A second one would run the jobs of the first again, since both lease them under one name. Throws a
 * `ConfigError` that names the process that has it. */
export async function lockDataDir(dataDir: string, clock: Clock = systemClock): Promise<FolderLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const since = new Date(clock.now()).toISOString()
  const lock = await lockFolder(dataDir, { pid: process.pid, since })
  if (!('heldBy' in lock)) return lock
  const { heldBy } = lock
  const holder = heldBy ? `process ${heldBy.pid}, which started at ${heldBy.since}` : 'another process'
  const message = `${dataDir} is in use by ${holder}. Each server needs a DATA_DIR of its own; several share PostgreSQL`
  throw new ConfigError([{ variable: 'DATA_DIR', message }])
}
