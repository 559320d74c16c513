import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createTarPacker } from 'modern-tar'
import { Failure } from '#lib/failure.ts'

/** A tar file that is being written, in constant memory. It gets its name when it is whole. */
export interface ArchiveWriter {
  /** Adds a file; `content` is the bytes themselves, or a stream of just `size` bytes. */
  add(name: string, content: Uint8Array | SizedStream): Promise<void>
  /** Makes the archive durable under its name; answers its size in bytes. */
  keep(): Promise<number>
  /** Leaves nothing behind; after `keep` it does nothing. */
  discard(): Promise<void>
}

interface SizedStream {
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
      const { size, bytes } = content instanceof Uint8Array ? whole(content) : content
      const entry = controller.add({ name, size, mode: 0o600, type: 'file' }).getWriter()
      const copy = async () => {
        for await (const chunk of bytes) {
          signal?.throwIfAborted()
          await entry.write(chunk)
        }
        await entry.close()
      }
      await Promise.race([copy(), written])
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

function whole(content: Uint8Array): SizedStream {
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
