import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './database-errors.ts'

/** A process that has a lock. */
export interface LockHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly since: string
  readonly version: string
  /** Of the sources that it runs, where they tell. */
  readonly commit?: string
  /** Its name in the database. */
  readonly nodeId: string
  /** Where it listens, once it does. */
  readonly url?: string
}

/** What this process alone uses, until it closes the lock or ends, however it ends. */
export interface ProcessLock {
  /** The last process that had it before, if that is known. */
  readonly former: LockHolder | undefined
  /** Tells others about this process. */
  describe(holder: LockHolder): Promise<void>
  close(): void
}

// A look at who has the lock shares it for an instant.
const patienceMs = 250

/** Takes the lock of `path`; answers its holder when another process has it. It is SQLite's lock on the file `path.lock`,
 * which the operating system releases when the process ends, also after `kill -9`; `path.json` is for messages. */
export async function takeLock(
  path: string,
  holder: LockHolder,
): Promise<ProcessLock | { readonly heldBy: LockHolder | undefined }> {
  const lock = open(path, 'begin exclusive', { timeout: patienceMs })
  if (!lock) return { heldBy: await readHolder(path) }
  const describe = (described: LockHolder) =>
    // On a full disk the server starts without it.
    writeFile(`${path}.json`, `${JSON.stringify(described)}\n`).catch(() => undefined)
  const former = await readHolder(path)
  await describe(holder)
  return { former, describe, close: () => lock.close() }
}

/** Who has the lock of `path`: undefined when no process has it. The directory must exist. To look is to share the lock for an
 * instant: those who look at once do not take each other for a holder, so none of them has to wait. */
export async function findLockHolder(
  path: string,
): Promise<{ readonly heldBy: LockHolder | undefined } | undefined> {
  const lock = open(path, 'select count(*) from sqlite_schema', { timeout: 0 })
  lock?.close()
  return lock ? undefined : { heldBy: await readHolder(path) }
}

function open(
  path: string,
  sql: string,
  { timeout }: { readonly timeout: number },
): DatabaseSync | undefined {
  const lock = new DatabaseSync(`${path}.lock`, { timeout })
  try {
    lock.exec(sql)
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    return undefined
  }
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(`${path}.json`, 'utf8')) as LockHolder
  } catch {
    return undefined
  }
}
