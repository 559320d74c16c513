import { type FileHandle, open } from 'node:fs/promises'

/** The log of a SQLite file, synced to the disk on the thread pool: SQLite itself would block the process meanwhile. */
export class WriteAheadLog {
  readonly #path: string
  // The log stays the same file while a connection is open, and has no locks that closing it would release.
  #file: Promise<FileHandle> | undefined

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`
  }

  /** Resolves when everything that was committed before is on the disk. */
  async sync(): Promise<void> {
    this.#file ??= open(this.#path, 'r')
    await (await this.#file).datasync()
  }

  async close(): Promise<void> {
    await (await this.#file)?.close()
  }
}
