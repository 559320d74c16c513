import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type ExplainDiskError, explainDiskErrors } from '#infra/blobs/index.ts'
import { DiskSpace } from '#infra/disk/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { syncFolder } from '#lib/durable-file.ts'
import { Failure } from '#lib/failure.ts'
import { unlessMissing } from '#lib/system-error.ts'
import { untilAborted } from '#lib/until-aborted.ts'

interface PartialFilesOptions {
  /** Made when it is not there, readable by this user alone. */
  readonly dir: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'error'>
  /** What partial files leave free on the disk; everything may be taken when absent. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
}

/** A piece of a partial file. */
export interface Piece {
  /** Where it begins: what the file has beyond is cut off. */
  readonly offset: number
  readonly source: AsyncIterable<Uint8Array>
  /** Of the whole file; one byte more fails with `E-TOOLARGE`. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Told, while bytes arrive and at the end, up to where they would survive a loss of power. */
  readonly onDurable: (offset: number) => Promise<void>
}

/** Opens a folder of files that grow piece by piece. */
export async function openPartialFiles(options: PartialFilesOptions): Promise<PartialFiles> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  return new PartialFiles(options)
}

// What a killed process loses of a piece at most; a sync of so much takes some hundredths of a second.
const syncEveryBytes = 8 * 1024 * 1024
const readChunkBytes = 256 * 1024
const writable = constants.O_RDWR | constants.O_CREAT

/** Files that grow piece by piece, on this machine. A name has letters, digits, `-` and `_`; only one piece at a time
 * may be appended to it. */
export class PartialFiles {
  readonly #options: PartialFilesOptions
  readonly #explain: ExplainDiskError
  readonly #space: DiskSpace

  constructor(options: PartialFilesOptions) {
    this.#options = options
    this.#explain = explainDiskErrors(options.dir, options.logger)
    this.#space = new DiskSpace(options)
  }

  /** Zero when there is no such file. */
  async size(name: string): Promise<number> {
    return (await unlessMissing(stat(this.#pathOf(name))))?.size ?? 0
  }

  /** Fails with `E-QUOTA` when the disk has no room for so many bytes more. */
  async assertFreeSpace(bytes: number): Promise<void> {
    await this.#space.assertFreeSpace(bytes)
  }

  /** Answers how long the file is now. When the source fails or the signal aborts, what arrived before stays; when the
   * disk is full, this piece goes at once. */
  async append(name: string, piece: Piece): Promise<number> {
    await this.#space.assertFreeSpace(1)
    const path = this.#pathOf(name)
    const isNew = (await unlessMissing(stat(path))) === undefined
    const file = await this.#onDisk(open(path, writable, 0o600))
    try {
      await this.#onDisk(file.truncate(piece.offset))
      if (isNew) await this.#onDisk(syncFolder(this.#options.dir))
      return await this.#fill(file, piece)
    } catch (error) {
      // What was acknowledged before stays.
      if (await this.#isOfFullDisk(error)) await this.#onDisk(file.truncate(piece.offset))
      throw error
    } finally {
      await file.close()
    }
  }

  /** The bytes from the start. Fails when there is no such file. */
  async read(name: string): Promise<Readable> {
    const file = await this.#onDisk(open(this.#pathOf(name), 'r'))
    return file.createReadStream({ highWaterMark: readChunkBytes })
  }

  /** Removing what is not there is no failure. */
  async remove(name: string): Promise<void> {
    await rm(this.#pathOf(name), { force: true })
  }

  /** Removes what has not grown for so long; tells how many files. */
  async sweep(olderThanMs: number): Promise<number> {
    const latestMs = this.#options.clock.now() - olderThanMs
    let swept = 0
    for (const name of await readdir(this.#options.dir)) {
      const path = join(this.#options.dir, name)
      const found = await unlessMissing(stat(path))
      if (!found || found.mtimeMs > latestMs) continue
      await rm(path, { force: true })
      swept += 1
    }
    return swept
  }

  async #fill(file: FileHandle, { offset, source, maxBytes, signal, onDurable }: Piece): Promise<number> {
    let size = offset
    let durable = offset
    const settle = async () => {
      if (durable === size) return
      await this.#onDisk(this.#sync(file))
      durable = size
      await onDurable(durable)
    }
    try {
      for await (const chunk of untilAborted(source, signal)) {
        if (size + chunk.byteLength > maxBytes) throw new Failure('E-TOOLARGE', { details: { maxBytes } })
        await this.#space.take(chunk.byteLength)
        await this.#onDisk(writeAll(file, chunk, size))
        size += chunk.byteLength
        if (size - durable >= syncEveryBytes) await settle()
      }
    } catch (error) {
      // The first error is the one to tell.
      await settle().catch(() => undefined)
      throw error
    }
    await settle()
    return size
  }

  async #sync(file: FileHandle): Promise<void> {
    // The age of a file is told by the clock that later asks for it.
    const now = this.#options.clock.now() / 1000
    await file.utimes(now, now)
    await file.datasync()
  }

  /** Also where the database says so: it cannot note any more what arrives. */
  async #isOfFullDisk(error: unknown): Promise<boolean> {
    return error instanceof Failure && error.code === 'E-UNAVAILABLE' && (await this.#space.isFull())
  }

  #pathOf(name: string): string {
    if (!/^[\w-]+$/.test(name)) throw new TypeError('A partial file is named by letters and digits')
    return join(this.#options.dir, name)
  }

  async #onDisk<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw this.#explain(error)
    }
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, written, chunk.byteLength - written, position + written)
    written += bytesWritten
  }
}
