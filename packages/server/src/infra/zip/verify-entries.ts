import { Readable } from 'node:stream'
import { inflateEntry, inflateWhole } from './inflate-entry.ts'
import type { ZipSource } from './read-zip-index.ts'
import { type ZipEntry, ZipFault } from './zip-entry.ts'

// Inflated at once in well below a millisecond; a stream for each would take longer than its bytes.
const smallBytes = 64 * 1024

// Of a zip's first entry, and of one without entries.
const archiveStarts = ['PK\x03\x04', 'PK\x05\x06'].map((text) => Buffer.from(text, 'latin1'))

/** Inflates every entry and compares it with its size and checksum, in constant memory and in turns of the event loop.
 * Throws a `ZipFault` for the first that differs, or is an archive itself. */
export async function verifyEntries(
  source: ZipSource,
  entries: readonly ZipEntry[],
  signal?: AbortSignal,
): Promise<void> {
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    signal?.throwIfAborted()
    const isSmall = entry.size <= smallBytes && entry.compressedSize <= smallBytes
    const start = isSmall ? await readEntry(source, entry) : await drain(source, entry)
    if (archiveStarts.some((signature) => start.subarray(0, signature.length).equals(signature)))
      throw new ZipFault('nested-archive', entry.path)
  }
}

/** The bytes of a small entry. */
export async function readEntry({ file }: ZipSource, entry: ZipEntry): Promise<Buffer> {
  const stored = Buffer.alloc(entry.compressedSize)
  const { bytesRead } = await file.read(stored, 0, stored.length, entry.offset)
  if (bytesRead < stored.length) throw new ZipFault('damaged', entry.path)
  return inflateWhole(stored, entry)
}

/** Reads an entry for its checksum alone; its first bytes are kept. */
async function drain(source: ZipSource, entry: ZipEntry): Promise<Buffer> {
  const stored = Readable.from(readRange(source, entry.offset, entry.compressedSize), { objectMode: false })
  let start = Buffer.alloc(0)
  for await (const chunk of inflateEntry(stored, entry))
    if (start.length < startBytes) start = Buffer.concat([start, chunk.subarray(0, startBytes)])
  return start
}

const startBytes = 4
const chunkBytes = 256 * 1024

/** Bytes of an archive, piece by piece: streams of a `FileHandle` leave a listener on it each. */
export async function* readRange({ file }: ZipSource, start: number, length: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < length; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, length - done))
    const { bytesRead } = await file.read(chunk, 0, chunk.length, start + done)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    done += bytesRead
  }
}
