import { statfs } from 'node:fs/promises'
import { Failure } from '#lib/failure.ts'

interface DiskSpaceOptions {
  /** On the file system in question. */
  readonly dir: string
  /** What files must leave free; everything may be taken where it is absent or 0. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
}

/** The disk has no room left for files: what is free is kept for the database. */
export class LowDiskFailure extends Failure {
  constructor() {
    super('E-QUOTA', { message: 'The server has no room for more files at present.' })
  }
}

// What all writers of a folder together may take before the disk is asked again.
const unmeasuredBytes = 1024 * 1024
// One that has less cannot take another file of any use, nor a page of the database.
const fullBelowBytes = 1024 * 1024

/** The free room of a file system, a part of which files must leave to the database. */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  #leftBytes = 0

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /** Fails with `LowDiskFailure` when so many bytes more would leave too little. */
  async assertFreeSpace(bytes: number): Promise<void> {
    const roomBytes = await this.#measure()
    if (roomBytes < bytes) throw new LowDiskFailure()
    this.#leftBytes = Math.min(unmeasuredBytes, roomBytes)
  }

  /** Before each write of a file whose length is not known, or not believed. */
  async take(bytes: number): Promise<void> {
    if (this.#leftBytes < bytes) await this.assertFreeSpace(bytes)
    this.#leftBytes -= bytes
  }

  async isFull(): Promise<boolean> {
    return (await freeBytesOf(this.#options.dir)) < fullBelowBytes
  }

  async #measure(): Promise<number> {
    const keepFreeBytes = (await this.#options.keepFreeBytes?.()) ?? 0
    if (keepFreeBytes === 0) return Number.POSITIVE_INFINITY
    return (await freeBytesOf(this.#options.dir)) - keepFreeBytes
  }
}

/** What a user without privileges may still write on the file system of a folder. */
export async function freeBytesOf(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize
}
