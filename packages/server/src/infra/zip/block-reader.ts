import { Readable } from 'node:stream'
import { RandomAccessReader } from 'yauzl'

const blockBytes = 64 * 1024

/** Reads bytes at any place, as a `FileHandle` does; fewer where they end. */
export interface ZipReader {
  read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
}

/** Reads a file for yauzl, which asks for a few bytes at a time: in blocks, of which the last one is kept. */
export class BlockReader extends RandomAccessReader {
  readonly #file: ZipReader
  readonly #thrown = Promise.withResolvers<never>()
  #start = 0
  #block = Buffer.alloc(0)

  constructor(file: ZipReader) {
    super()
    this.#file = file
    this.#thrown.promise.catch(() => undefined)
  }

  /** Rejects with what yauzl throws while it reads an answer, which would have no other way out. */
  get thrown(): Promise<never> {
    return this.#thrown.promise
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#read(length, position)
      .then(
        (bytes) => callback(null, bytes.copy(target, offset)),
        (error: Error) => callback(error),
      )
      .catch(this.#thrown.reject)
  }

  /** Zeros take the place of what lies beyond the end. */
  async fill(target: Buffer, position: number): Promise<void> {
    const bytes = await this.#read(target.length, position)
    bytes.copy(target)
  }

  override _readStreamForRange(): Readable {
    return Readable.from([])
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null)
  }

  /** Fewer bytes at the end of the file. */
  async #read(length: number, position: number): Promise<Buffer> {
    const isKept = position >= this.#start && position + length <= this.#start + this.#block.length
    if (!isKept) {
      const block = Buffer.allocUnsafe(Math.max(length, blockBytes))
      const { bytesRead } = await this.#file.read(block, 0, block.length, position)
      this.#start = position
      this.#block = block.subarray(0, bytesRead)
    }
    return this.#block.subarray(position - this.#start, position - this.#start + length)
  }
}
