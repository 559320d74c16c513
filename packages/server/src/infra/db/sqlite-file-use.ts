import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './database-errors.ts'

/** Does another process have this SQLite file open? Not to be asked about a file that this process has open. */
export function isSqliteFileInUse(path: string): boolean {
  const probe = new DatabaseSync(path, { timeout: 0 })
  try {
    // In this mode a connection needs the file for itself, and any other that has it open holds a lock on it.
    probe.exec('pragma locking_mode = exclusive')
    probe.prepare('select count(*) from sqlite_schema').all()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    probe.close()
  }
}
