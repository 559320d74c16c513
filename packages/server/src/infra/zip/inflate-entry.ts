import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { type ZipEntry, ZipFault } from './zip-entry.ts'

const chunkBytes = 64 * 1024

/** The inflated bytes of an entry, from a stream of its stored ones. The stream fails at the first byte too many, and its
 * last bytes come only when size and checksum are right: a damaged entry never looks complete. */
export function inflateEntry(stored: Readable, entry: ZipEntry): Readable {
  const checked = new CheckedEntry(entry)
  const destroyAll = (error: NodeJS.ErrnoException | null) => {
    if (error && !checked.destroyed) checked.destroy(error)
  }
  if (entry.method === 'stored') return pipeline(stored, checked, destroyAll)
  const inflate = createInflateRaw({ chunkSize: chunkBytes })
  checked.isUsedUp = () => inflate.bytesWritten === entry.compressedSize
  inflate.on('error', (cause) => checked.destroy(new ZipFault('damaged', entry.path, { cause })))
  return pipeline(stored, inflate, checked, destroyAll)
}

class CheckedEntry extends Transform {
  readonly #entry: ZipEntry
  /** Have all stored bytes been needed? */
  isUsedUp: () => boolean = () => true
  #size = 0
  #crc = 0
  #held: Buffer | undefined

  constructor(entry: ZipEntry) {
    super({ readableHighWaterMark: chunkBytes })
    this.#entry = entry
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#size += chunk.length
    if (this.#size > this.#entry.size) {
      done(this.#fault())
      return
    }
    this.#crc = crc32(chunk, this.#crc)
    const before = this.#held
    this.#held = chunk
    done(null, before)
  }

  override _flush(done: TransformCallback): void {
    const { size, crc32: expected } = this.#entry
    const isWhole = this.#size === size && this.#crc === expected && this.isUsedUp()
    if (isWhole) done(null, this.#held)
    else done(this.#fault())
  }

  #fault(): ZipFault {
    return new ZipFault('damaged', this.#entry.path)
  }
}

/** The same for bytes that are in memory. */
export function inflateWhole(stored: Buffer, entry: ZipEntry): Buffer {
  const bytes = entry.method === 'stored' ? stored : inflateAtOnce(stored, entry)
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc32) throw new ZipFault('damaged', entry.path)
  return bytes
}

function inflateAtOnce(stored: Buffer, { path, size }: ZipEntry): Buffer {
  try {
    const inflated = inflateRawSync(stored, {
      // It may not be 0, and an output of exactly that length is taken.
      maxOutputLength: Math.max(1, size),
      // One buffer for all, with room in which the end is found.
      chunkSize: size + 64,
      info: true,
    })
    const { buffer, engine } = inflated as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    if (engine.bytesWritten !== stored.length) throw new ZipFault('damaged', path)
    return buffer
  } catch (cause) {
    throw cause instanceof ZipFault ? cause : new ZipFault('damaged', path, { cause })
  }
}
