import { open, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import type { TenantId } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { syncFolder } from '#lib/durable-file.ts'
import { unlessMissing } from '#lib/system-error.ts'
import { assertBlobTenant } from './blob-hash.ts'
import type { BlobHash, BlobRange, BlobStore, LocalBlob, StagedBlob, StageLimits } from './blob-store.ts'
import { type ExplainDiskError, explainDiskErrors } from './disk-failure.ts'
import { DiskLayout } from './disk-layout.ts'
import { type StagedFile, StagingFolder } from './staging-folder.ts'

interface DiskBlobsOptions {
  /** Made when it is not there. Staging lies inside it, so that a rename never crosses file systems. */
  readonly dir: string
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
  /** What arriving bytes leave free on the disk; everything may be taken when absent. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
}

/** Blobs as files of one directory, readable by this user alone. */
export async function openDiskBlobs(options: DiskBlobsOptions): Promise<BlobStore> {
  const layout = new DiskLayout(options.dir)
  const staging = await StagingFolder.open({ ...options, dir: layout.staging })
  return new DiskBlobs(layout, staging, options)
}

// Fewer, larger reads: almost twice the rate of the default 64 KiB.
const readChunkBytes = 256 * 1024

class DiskBlobs implements BlobStore {
  readonly #layout: DiskLayout
  readonly #staging: StagingFolder
  readonly #options: DiskBlobsOptions
  readonly #explain: ExplainDiskError

  constructor(layout: DiskLayout, staging: StagingFolder, options: DiskBlobsOptions) {
    this.#layout = layout
    this.#staging = staging
    this.#options = options
    this.#explain = explainDiskErrors(options.dir, options.logger)
  }

  async stage(
    tenantId: TenantId,
    source: AsyncIterable<Uint8Array>,
    limits: StageLimits,
  ): Promise<StagedBlob> {
    assertBlobTenant(tenantId)
    const staged = await this.#staging.stage(source, limits)
    const { hash, size, head, isUtf8, path, discard } = staged
    return { hash, size, head, isUtf8, path, discard, keep: () => this.#onDisk(this.#keep(tenantId, staged)) }
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

  async signedUrl(): Promise<undefined> {
    return undefined
  }

  async remove(tenantId: TenantId, hash: BlobHash): Promise<void> {
    await rm(this.#layout.pathOf(tenantId, hash), { force: true })
  }

  async isAnswering(): Promise<true> {
    return true
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

  sweepDead(olderThanMs: number): Promise<number> {
    return this.#staging.sweep(olderThanMs)
  }

  sweepStaged(olderThanMs: number): Promise<number> {
    return this.#staging.sweep(olderThanMs)
  }

  async #keep(tenantId: TenantId, staged: StagedFile): Promise<void> {
    const to = this.#layout.pathOf(tenantId, staged.hash)
    const known = await unlessMissing(stat(to))
    // One of another length was damaged from outside; these bytes repair it.
    if (known?.size === staged.size) {
      // A sweep of blobs without owners goes by age, and this one has just found an owner.
      const now = this.#options.clock.now() / 1000
      await utimes(to, now, now)
      await rm(staged.path, { force: true })
    } else {
      await this.#layout.place(staged.path, to)
    }
    // In both cases: another writer that has just made the name may not have synced it yet.
    await syncFolder(dirname(to))
    staged.release()
  }

  async #onDisk<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw this.#explain(error)
    }
  }
}
