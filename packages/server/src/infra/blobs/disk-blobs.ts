import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { BlobHash, BlobRange, BlobStore, LocalBlob, StagedBlob, StageLimits } from './blob-store.ts'
import { type DiskLogger, type ExplainDiskError, explainDiskErrors, unlessMissing } from './disk-failure.ts'
import { DiskLayout, syncFolder } from './disk-layout.ts'
import { stageToFile } from './stage-to-file.ts'

export interface DiskBlobsOptions {
  /** Made when it is not there. Staging lies inside it, so that a rename never crosses file systems. */
  readonly dir: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: DiskLogger
}

/** Blobs as files of one directory, readable by this user alone. */
export async function openDiskBlobs(options: DiskBlobsOptions): Promise<BlobStore> {
  const layout = new DiskLayout(options.dir)
  await mkdir(layout.staging, { recursive: true, mode: 0o700 })
  return new DiskBlobs(layout, options)
}

// Fewer, larger reads: almost twice the rate of the default 64 KiB.
const readChunkBytes = 256 * 1024

class DiskBlobs implements BlobStore {
  readonly #layout: DiskLayout
  readonly #options: DiskBlobsOptions
  readonly #explain: ExplainDiskError
  // As many as there are uploads under way.
  readonly #staged = new Set<string>()

  constructor(layout: DiskLayout, options: DiskBlobsOptions) {
    this.#layout = layout
    this.#options = options
    this.#explain = explainDiskErrors(options.dir, options.logger)
  }

  async stage(
    tenantId: TenantId,
    source: AsyncIterable<Uint8Array>,
    limits: StageLimits,
  ): Promise<StagedBlob> {
    this.#layout.assertTenant(tenantId)
    const name = randomBytes(16).toString('hex')
    const path = join(this.#layout.staging, name)
    this.#staged.add(name)
    try {
      const { clock } = this.#options
      const bytes = await stageToFile({ path, source, limits, clock, explain: this.#explain })
      return {
        ...bytes,
        path,
        keep: () => this.#onDisk(this.#keep(tenantId, bytes, name)),
        discard: () => this.#discard(name),
      }
    } catch (error) {
      this.#staged.delete(name)
      throw error
    }
  }

  async open(tenantId: TenantId, hash: BlobHash, range?: BlobRange): Promise<Readable | undefined> {
    const path = this.#layout.pathOf(tenantId, hash)
    const file = await this.#onDisk(unlessMissing(open(path, 'r')))
    return file?.createReadStream({ ...range, highWaterMark: readChunkBytes })
  }

  async size(tenantId: TenantId, hash: BlobHash): Promise<number | undefined> {
    return (await unlessMissing(stat(this.#layout.pathOf(tenantId, hash))))?.size
  }

  async openLocal(tenantId: TenantId, hash: BlobHash): Promise<LocalBlob | undefined> {
    const path = this.#layout.pathOf(tenantId, hash)
    const found = await unlessMissing(stat(path))
    return found && { path, [Symbol.asyncDispose]: async () => undefined }
  }

  async remove(tenantId: TenantId, hash: BlobHash): Promise<void> {
    await rm(this.#layout.pathOf(tenantId, hash), { force: true })
  }

  async removeTenant(tenantId: TenantId): Promise<number> {
    let removed = 0
    for await (const _hash of this.#layout.hashes(tenantId)) removed += 1
    await this.#onDisk(rm(this.#layout.dirOf(tenantId), { recursive: true, force: true }))
    return removed
  }

  async *list(tenantId: TenantId): AsyncGenerator<{ hash: BlobHash; size: number; modifiedAtMs: number }> {
    for await (const hash of this.#layout.hashes(tenantId)) {
      const found = await unlessMissing(stat(this.#layout.pathOf(tenantId, hash)))
      if (found) yield { hash, size: found.size, modifiedAtMs: found.mtimeMs }
    }
  }

  async sweepStaged(olderThanMs: number): Promise<number> {
    const latestMs = this.#options.clock.now() - olderThanMs
    let swept = 0
    for (const name of await readdir(this.#layout.staging)) {
      const path = join(this.#layout.staging, name)
      const found = this.#staged.has(name) ? undefined : await unlessMissing(stat(path))
      if (!found || found.mtimeMs > latestMs) continue
      await rm(path, { force: true })
      swept++
    }
    return swept
  }

  async #keep(tenantId: TenantId, bytes: { hash: BlobHash; size: number }, name: string): Promise<void> {
    const from = join(this.#layout.staging, name)
    const to = this.#layout.pathOf(tenantId, bytes.hash)
    await this.#layout.ensureFolderOf(to)
    const known = await unlessMissing(stat(to))
    // One of another length was damaged from outside; these bytes repair it.
    if (known?.size === bytes.size) {
      // A sweep of blobs without owners goes by age, and this one has just found an owner.
      const now = this.#options.clock.now() / 1000
      await utimes(to, now, now)
      await rm(from, { force: true })
    } else {
      await rename(from, to)
    }
    // In both cases: whoever made the name may not have come to this line yet.
    await syncFolder(dirname(to))
    this.#staged.delete(name)
  }

  async #discard(name: string): Promise<void> {
    if (!this.#staged.has(name)) return
    await rm(join(this.#layout.staging, name), { force: true })
    this.#staged.delete(name)
  }

  async #onDisk<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw this.#explain(error)
    }
  }
}
