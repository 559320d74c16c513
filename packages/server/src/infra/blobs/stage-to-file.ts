import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { DiskSpace } from '#infra/disk/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { TextCheck } from '#lib/text-check.ts'
import { untilAborted } from '#lib/until-aborted.ts'
import type { BlobHash, StageLimits } from './blob-store.ts'
import type { ExplainDiskError } from './disk-failure.ts'

const headBytes = 4100

/** What is known of bytes when they have arrived. */
export interface StagedBytes {
  readonly hash: BlobHash
  readonly size: number
  readonly head: Uint8Array
  readonly isUtf8: boolean
}

interface Staging {
  /** Must not exist yet. */
  readonly path: string
  readonly source: AsyncIterable<Uint8Array>
  readonly limits: StageLimits
  readonly clock: Pick<Clock, 'now'>
  readonly space: DiskSpace
  readonly explain: ExplainDiskError
}

/** Writes the source to a new file and returns when it is durable. Whatever goes wrong, the file is gone afterwards. */
export async function stageToFile(staging: Staging): Promise<StagedBytes> {
  const { path, limits, clock, explain } = staging
  limits.signal?.throwIfAborted()
  const file = await onDisk(open(path, 'wx', 0o600), explain)
  try {
    const staged = await copy(file, staging)
    // The age of a blob is told by the clock that later asks for it.
    const now = clock.now() / 1000
    await onDisk(file.utimes(now, now), explain)
    await onDisk(file.datasync(), explain)
    await onDisk(file.close(), explain)
    limits.signal?.throwIfAborted()
    return staged
  } catch (error) {
    await file.close().catch(() => undefined)
    // What cannot be removed now is swept later; the first error is the one to tell.
    await rm(path, { force: true }).catch(() => undefined)
    throw error
  }
}

async function copy(file: FileHandle, { source, limits, space, explain }: Staging): Promise<StagedBytes> {
  const { maxBytes, signal } = limits
  const hash = createHash('sha256')
  const head = Buffer.alloc(headBytes)
  const text = new TextCheck()
  let size = 0
  for await (const chunk of untilAborted(source, signal)) {
    if (size + chunk.byteLength > maxBytes) throw new Failure('E-TOOLARGE', { details: { maxBytes } })
    if (size < headBytes) head.set(chunk.subarray(0, headBytes - size), size)
    size += chunk.byteLength
    await space.take(chunk.byteLength)
    // The disk writes on the thread pool while this thread hashes; the source waits for both.
    const written = onDisk(file.writeFile(chunk), explain)
    hash.update(chunk)
    text.take(chunk)
    await written
  }
  return {
    hash: hash.digest('hex') as BlobHash,
    size,
    head: head.subarray(0, Math.min(size, headBytes)),
    isUtf8: text.isText(),
  }
}

async function onDisk<T>(work: Promise<T>, explain: ExplainDiskError): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explain(error)
  }
}
