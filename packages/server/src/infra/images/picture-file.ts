import { constants, type FileHandle, open } from 'node:fs/promises'

/** What the original is called in the folder of a job. */
export const originalName = 'original'

const windowBytes = 64 * 1024

/** Reads a file here and there, through a window of 64 KiB. */
export class PictureFile {
  readonly size: number
  readonly #handle: FileHandle
  #window = Buffer.alloc(0)
  #start = 0

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.size = size
  }

  /** Undefined for what is no regular file. */
  static async open(path: string): Promise<PictureFile | undefined> {
    // A pipe would wait for its writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await handle.stat()
    if (stats.isFile()) return new PictureFile(handle, stats.size)
    await handle.close()
    return undefined
  }

  /** At most `length` bytes, fewer at the end of the file. */
  async read(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(offset + length, this.size)
    if (offset < this.#start || end > this.#start + this.#window.length) {
      const window = Buffer.alloc(Math.min(Math.max(length, windowBytes), Math.max(0, this.size - offset)))
      const { bytesRead } = await this.#handle.read(window, 0, window.length, offset)
      this.#window = window.subarray(0, bytesRead)
      this.#start = offset
    }
    return this.#window.subarray(offset - this.#start, Math.max(0, end - this.#start))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}
