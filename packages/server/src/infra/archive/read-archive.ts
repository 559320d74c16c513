import { open } from 'node:fs/promises'
import { createTarDecoder } from 'modern-tar'
import { Failure } from '#lib/failure.ts'

export interface ArchivedFile {
  readonly name: string
  readonly size: number
  /** To be read, or skipped, before the next file is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>
}

// Larger reads: twice the rate of the default.
const readChunkBytes = 256 * 1024
const maxTextBytes = 64 * 1024 * 1024

/** The files of a tar file one after the other. What is no plain file is refused, and so is an archive that was cut
 * off: `E-VALIDATION`. No name in it is ever taken for a path. */
export async function* readArchive(path: string): AsyncGenerator<ArchivedFile> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new Failure('E-NOTFOUND', { message: `${path} cannot be read (${error.code}).` })
  })
  try {
    const entries = chunksOf(file).pipeThrough(createTarDecoder({ strict: true }))
    for await (const { header, body } of entries) {
      if ((header.type ?? 'file') !== 'file') throw damaged(path, `${header.name} is no plain file`)
      yield { name: header.name, size: header.size, bytes: bytesOf(body, path) }
      // Left unread by the caller: the next one stands behind it.
      if (!body.locked) await body.cancel()
    }
  } catch (error) {
    throw explained(error, path)
  } finally {
    await file.close()
  }
}

/** The whole of a small file. */
export async function readText({ name, size, bytes }: ArchivedFile): Promise<string> {
  if (size > maxTextBytes)
    throw new Failure('E-VALIDATION', { message: `${name} in the archive is too large.` })
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function chunksOf(file: Awaited<ReturnType<typeof open>>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { bytesRead, buffer } = await file.read({ buffer: new Uint8Array(readChunkBytes) })
      if (bytesRead > 0) controller.enqueue(buffer.subarray(0, bytesRead))
      else controller.close()
    },
  })
}

async function* bytesOf(body: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw explained(error, path)
  }
}

/** What the library complains of is the archive's fault; the system's errors have a code. */
function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof Failure || 'code' in error) return error
  return damaged(path, error.message)
}

function damaged(path: string, reason: string): Failure {
  return new Failure('E-VALIDATION', { message: `${path} is damaged or no archive of Kith: ${reason}` })
}
