import type { Readable } from 'node:stream'
import type { TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { assertBlobTenant } from './blob-hash.ts'
import type {
  BlobHash,
  BlobRange,
  BlobStore,
  LocalBlob,
  SignedAnswer,
  StagedBlob,
  StageLimits,
} from './blob-store.ts'
import type { S3Bucket } from './s3-bucket.ts'
import type { S3Layout } from './s3-layout.ts'
import type { StagedFile, StagingFolder } from './staging-folder.ts'

interface S3BlobsParts {
  readonly bucket: S3Bucket
  readonly layout: S3Layout
  readonly staging: StagingFolder
  readonly clock: Pick<Clock, 'now'>
  readonly hasSignedUrls: boolean
}

// Memory for large uploads: eight times what one takes.
const maxUploads = 8
const maxWaiting = 1024
const removalsAtOnce = 16

/** Blobs as objects of a bucket. They are staged on the disk of this machine, where they can be looked at, and sent to
 * the bucket when they are kept. How old an object is, the clock of the bucket says. */
export class S3Blobs implements BlobStore {
  readonly #parts: S3BlobsParts
  readonly #gate = new Gate({
    total: maxUploads,
    perKey: maxUploads,
    waitingPerKey: maxWaiting,
    waiting: maxWaiting,
  })
  // As many as the gate lets in.
  readonly #uploading = new Set<string>()

  constructor(parts: S3BlobsParts) {
    this.#parts = parts
  }

  async stage(
    tenantId: TenantId,
    source: AsyncIterable<Uint8Array>,
    limits: StageLimits,
  ): Promise<StagedBlob> {
    assertBlobTenant(tenantId)
    const staged = await this.#parts.staging.stage(source, limits)
    const { hash, size, head, isUtf8, path, discard } = staged
    return { hash, size, head, isUtf8, path, discard, keep: () => this.#keep(tenantId, staged) }
  }

  async open(tenantId: TenantId, hash: BlobHash, range?: BlobRange): Promise<Readable | undefined> {
    return await this.#parts.bucket.read(this.#parts.layout.keyOf(tenantId, hash), range)
  }

  async size(tenantId: TenantId, hash: BlobHash): Promise<number | undefined> {
    return await this.#parts.bucket.size(this.#parts.layout.keyOf(tenantId, hash))
  }

  async openLocal(tenantId: TenantId, hash: BlobHash): Promise<LocalBlob | undefined> {
    const bytes = await this.open(tenantId, hash)
    if (!bytes) return undefined
    const staged = await this.#parts.staging.stage(bytes, { maxBytes: Number.MAX_SAFE_INTEGER })
    const { path, discard } = staged
    if (staged.hash === hash) return { path, [Symbol.asyncDispose]: discard }
    await discard()
    // Whoever may write to the bucket decides about no bytes that are looked into here: these are not the blob.
    return undefined
  }

  async signedUrl(tenantId: TenantId, hash: BlobHash, answer: SignedAnswer): Promise<string | undefined> {
    const { bucket, layout, hasSignedUrls } = this.#parts
    return hasSignedUrls ? await bucket.sign(layout.keyOf(tenantId, hash), answer) : undefined
  }

  async remove(tenantId: TenantId, hash: BlobHash): Promise<void> {
    await this.#parts.bucket.remove(this.#parts.layout.keyOf(tenantId, hash))
  }

  async isAnswering(): Promise<boolean> {
    return await this.#parts.bucket.isAnswering()
  }

  async removeTenant(tenantId: TenantId): Promise<number> {
    let removed = 0
    let batch: BlobHash[] = []
    const removeBatch = async () => {
      // One by one: not every store can remove many by one request.
      await Promise.all(batch.map((hash) => this.remove(tenantId, hash)))
      removed += batch.length
      batch = []
    }
    for await (const { hash } of this.list(tenantId)) {
      batch.push(hash)
      if (batch.length === removalsAtOnce) await removeBatch()
    }
    await removeBatch()
    return removed
  }

  async *list(tenantId: TenantId): AsyncGenerator<{ hash: BlobHash; size: number; modifiedAtMs: number }> {
    const { bucket, layout } = this.#parts
    for await (const { key, size, modifiedAtMs } of bucket.list(layout.rootOf(tenantId))) {
      const hash = layout.hashIn(tenantId, key)
      if (hash) yield { hash, size, modifiedAtMs }
    }
  }

  async sweepDead(olderThanMs: number): Promise<number> {
    return await this.#parts.staging.sweep(olderThanMs)
  }

  async sweepStaged(olderThanMs: number): Promise<number> {
    const { bucket, layout, staging, clock } = this.#parts
    let swept = await staging.sweep(olderThanMs)
    const latestMs = clock.now() - olderThanMs
    for (const upload of await bucket.listUploads(layout.root)) {
      if (!layout.isOurs(upload.key) || this.#uploading.has(upload.key)) continue
      if (upload.startedAtMs > latestMs) continue
      await bucket.abort(upload)
      swept += 1
    }
    return swept
  }

  /** Sent again when it is there already: it repairs what was damaged and makes it new, and nobody sees a half. */
  async #keep(tenantId: TenantId, staged: StagedFile): Promise<void> {
    const key = this.#parts.layout.keyOf(tenantId, staged.hash)
    const leave = await this.#enter(key)
    this.#uploading.add(key)
    try {
      await this.#parts.bucket.write(key, staged)
    } finally {
      this.#uploading.delete(key)
      leave()
    }
    await staged.discard()
  }

  async #enter(key: string): Promise<() => void> {
    try {
      return await this.#gate.enter(key)
    } catch (error) {
      throw error instanceof GateFullError
        ? new Failure('E-UNAVAILABLE', { cause: error, retryAfterSecs: 5 })
        : error
    }
  }
}
