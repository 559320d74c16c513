import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createTarPacker } from 'modern-tar'
import { Failure } from '#lib/failure.ts'

/** What takes the files of an archive, one after the other. */
export interface ArchiveSink {
  /** Adds a file; `content` is the bytes themselves, or a stream of just `size` bytes. */
  add(name: string, content: Uint8Array | SizedStream): Promise<void>
}

/** A tar file that is being written, in constant memory. It gets its name when it is whole. */
export interface ArchiveWriter extends ArchiveSink {
  /** Makes the archive durable under its name; answers its size in bytes. */
  keep(): Promise<number>
  /** Leaves nothing behind; after `keep` it does nothing. */
  discard(): Promise<void>
}

export interface SizedStream {
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Begins a tar file that only its owner can read. `E-STATE` when there is a file of this name already. After an abort
 * nothing more is added. */
export async function createArchive(
  path: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<ArchiveWriter> {
  if (await stat(path).catch(() => undefined))
    throw new Failure('E-STATE', { message: `${path} exists already.` })
  const draft = join(dirname(path), `.${basename(path)}.partial`)
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  const { readable, controller } = createTarPacker()
  const written = drain(readable, file)
  // `add` and `keep` throw its error; until one of them is called nothing listens for it.
  written.catch(() => undefined)
  return {
    async add(name, content) {
      await Promise.race([addTo(controller, name, content, signal), written])
    },
    async keep() {
      controller.finalize()
      await written
      await file.sync()
      const { size } = await file.stat()
      await file.close()
      await rename(draft, path)
      return size
    },
    async discard() {
      await file.close().catch(() => undefined)
      await rm(draft, { force: true })
    },
  }
}

/** A tar archive that is made while it is read, some MiB ahead of its reader. Where `fill` fails or nobody reads any more the stream
 * is destroyed before the marks of its end, so that nobody takes it for whole. */
export function streamArchive(fill: (sink: ArchiveSink) => Promise<void>): Readable {
  const { readable, controller } = createTarPacker()
  const filled = fill({ add: (name, content) => addTo(controller, name, content) })
  void filled.then(() => controller.finalize()).catch((error: unknown) => controller.error(error))
  return Readable.fromWeb(readable as ReadableStream)
}

type Packing = ReturnType<typeof createTarPacker>['controller']

async function addTo(
  controller: Packing,
  name: string,
  content: Uint8Array | SizedStream,
  signal?: AbortSignal,
): Promise<void> {
  const { size, bytes } = content instanceof Uint8Array ? whole(content) : content
  const begin = () => controller.add({ name, size, mode: 0o600, type: 'file' }).getWriter()
  let entry: ReturnType<typeof begin> | undefined
  for await (const chunk of bytes) {
    signal?.throwIfAborted()
    // Here, so that the stream is closed where the packer takes nothing more.
    entry ??= begin()
    await entry.write(chunk)
  }
  entry ??= begin()
  await entry.close()
}

/** Bytes as a stream of one piece. */
export function whole(content: Uint8Array): SizedStream {
  return {
    size: content.byteLength,
    bytes: (async function* () {
      yield content
    })(),
  }
}

async function drain(readable: AsyncIterable<Uint8Array>, file: FileHandle): Promise<void> {
  for await (const chunk of readable) await file.writeFile(chunk)
}
