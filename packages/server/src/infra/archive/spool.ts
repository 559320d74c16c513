import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExplainDiskError, explainDiskErrors } from '#infra/blobs/index.ts'
import { DiskSpace } from '#infra/disk/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { unlessMissing } from '#lib/system-error.ts'
import { type ArchiveSink, type SizedStream, whole } from './write-archive.ts'

interface SpoolsOptions {
  /** Made when it is not there, readable by this user alone. */
  readonly dir: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'error'>
  /** What spools leave free on the disk; everything may be taken when absent. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
  /** Of one spool. */
  readonly maxBytes?: number
}

/** Where files of an archive wait for a reader who may be slow. */
export interface Spools {
  /** Begins an empty one. After an abort it takes nothing more. */
  begin(signal: AbortSignal): Promise<Spool>
}

const defaultMaxBytes = 16 * 1024 ** 3
const readChunkBytes = 256 * 1024
// The index is kept in memory: some 30 MB at most.
const maxFiles = 200_000
// A name is there for an instant; one that stays was left by a process that was killed in it.
const leftAfterMs = 60_000

/** Opens the folder of spools, and removes what killed processes have left in it. A disk that has no room for the folder keeps no
 * server from its start: it is made when the first spool begins. */
export async function openSpools(options: SpoolsOptions): Promise<Spools> {
  const { dir, logger } = options
  await removeLeft(options).catch((err: unknown) =>
    logger.error({ err, dir }, 'The folder for exports cannot be used'),
  )
  const space = new DiskSpace(options)
  const explain = explainDiskErrors(dir, logger)
  return {
    async begin(signal) {
      await makeFolder(dir).catch((cause: unknown) => {
        throw new Failure('E-UNAVAILABLE', { cause })
      })
      try {
        await space.assertFreeSpace(1)
        const path = join(dir, randomUUID())
        const file = await open(path, 'wx+', 0o600)
        // Without a name it goes with the process, whatever ends that.
        await rm(path)
        return new Spool(file, { space, explain, signal, maxBytes: options.maxBytes ?? defaultMaxBytes })
      } catch (error) {
        throw explain(error)
      }
    },
  }
}

async function makeFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
}

async function removeLeft({ dir, clock }: SpoolsOptions): Promise<void> {
  await makeFolder(dir)
  for (const name of await readdir(dir)) {
    const found = await unlessMissing(stat(join(dir, name)))
    if (found && found.mtimeMs <= clock.now() - leftAfterMs) await rm(join(dir, name), { force: true })
  }
}

interface SpoolLimits {
  readonly space: DiskSpace
  readonly explain: ExplainDiskError
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Files one after the other in a file without a name. */
export class Spool implements ArchiveSink {
  readonly #file: FileHandle
  readonly #limits: SpoolLimits
  readonly #index: { readonly name: string; readonly size: number }[] = []
  #bytes = 0

  constructor(file: FileHandle, limits: SpoolLimits) {
    this.#file = file
    this.#limits = limits
  }

  async add(name: string, content: Uint8Array | SizedStream): Promise<void> {
    const { size, bytes } = content instanceof Uint8Array ? whole(content) : content
    const { space, explain, signal, maxBytes } = this.#limits
    if (this.#bytes + size > maxBytes || this.#index.length >= maxFiles) throw new Failure('E-TOOLARGE')
    this.#index.push({ name, size })
    for await (const chunk of bytes) {
      signal.throwIfAborted()
      await space.take(chunk.byteLength)
      try {
        await this.#write(chunk)
      } catch (error) {
        throw explain(error)
      }
    }
  }

  /** Passes on what was added, in the same order. */
  async copyTo(sink: ArchiveSink): Promise<void> {
    let start = 0
    for (const { name, size } of this.#index) {
      await sink.add(name, { size, bytes: this.#read(start, size) })
      start += size
    }
  }

  /** Frees its room; a second call does nothing. */
  async close(): Promise<void> {
    await this.#file.close()
  }

  async #write(chunk: Uint8Array): Promise<void> {
    for (let written = 0; written < chunk.byteLength; ) {
      const { bytesWritten } = await this.#file.write(chunk, written)
      written += bytesWritten
      this.#bytes += bytesWritten
    }
  }

  async *#read(start: number, size: number): AsyncGenerator<Uint8Array> {
    for (let done = 0; done < size; ) {
      const buffer = new Uint8Array(Math.min(readChunkBytes, size - done))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.byteLength, start + done)
      if (bytesRead === 0) throw new Error('a spool is shorter than what was added to it')
      yield buffer.subarray(0, bytesRead)
      done += bytesRead
    }
  }
}
