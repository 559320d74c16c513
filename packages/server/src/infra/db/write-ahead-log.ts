import { type FileHandle, open } from 'node:fs/promises'

/** The log of a SQLite file, brought to the disk on another thread than SQLite's, which would stop the process for it. */
export class WriteAheadLog {
  readonly #path: string
  // The log stays the same file for as long as a connection is open, and bears no locks that closing it would take away.
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
