import { dirname } from 'node:path'
import { freeBytesOf } from './disk-space.ts'

/** What part of the reserve the database alone may still use. */
const lastPart = 4

/** How much of the disk is kept free for the database, and whether even that comes to its end. */
export class DiskReserve {
  readonly #databasePath: string | undefined
  #findBytes: () => Promise<number> = async () => 0

  /** The path is undefined for a database that is elsewhere. */
  constructor(databasePath: string | undefined) {
    this.#databasePath = databasePath
  }

  /** Takes the size from the settings, which lie in the database and so are known later than the disk. Before that
   * nothing is kept free. */
  follow(findBytes: () => Promise<number>): void {
    this.#findBytes = findBytes
  }

  readonly bytes = (): Promise<number> => this.#findBytes()

  /** Whether what is left must serve for deletions. */
  async isUsedUp(): Promise<boolean> {
    if (this.#databasePath === undefined) return false
    const bytes = await this.bytes()
    return bytes > 0 && (await freeBytesOf(dirname(this.#databasePath))) < bytes / lastPart
  }
}
