import { existsSync, rmSync, statfsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

// Enough for the log of a start, of sign-ins and of deletions, before the next checkpoint gives their room back.
const mostBytes = 8 * 1024 * 1024
// A small disk gives a small part of itself.
const partOfDisk = 16
// It is made where there is so many times its size free.
const makingFactor = 4

/** A file that takes room on the disk of a SQLite file and gives it to the database when nothing else is left: without
 * any, SQLite can neither start nor delete. */
export class Ballast {
  readonly #path: string
  #making: Promise<void> | undefined

  constructor(databasePath: string) {
    this.#path = `${databasePath}-ballast`
  }

  /** Gives the room away if the disk has less free than that. False when there was nothing to give. */
  release(): boolean {
    const { freeBytes, bytes, isHeld } = this.#look()
    if (!isHeld || freeBytes >= bytes) return false
    rmSync(this.#path, { force: true })
    return true
  }

  /** Takes the room where there is plenty. */
  hold(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  /** Waits until the room is taken, if it is being taken. */
  async settle(): Promise<void> {
    await this.#making
  }

  async #make(): Promise<void> {
    const { freeBytes, bytes, isHeld } = this.#look()
    if (isHeld || freeBytes < bytes * makingFactor) return
    const path = `${this.#path}-new`
    try {
      await writeFile(path, new Uint8Array(bytes), { mode: 0o600 })
      await rename(path, this.#path)
    } catch {
      // The disk was filled meanwhile.
      await rm(path, { force: true })
    }
  }

  #look() {
    const { bavail, blocks, bsize } = statfsSync(dirname(this.#path))
    const bytes = Math.min(mostBytes, Math.floor((blocks * bsize) / partOfDisk))
    return { bytes, freeBytes: bavail * bsize, isHeld: existsSync(this.#path) }
  }
}
