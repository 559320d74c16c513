import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { TenantId } from '#infra/db/index.ts'
import { syncFolder } from '#lib/durable-file.ts'
import { errorCode, unlessMissing } from '#lib/system-error.ts'
import { assertBlobName, assertBlobTenant, isBlobHash } from './blob-hash.ts'
import type { BlobHash } from './blob-store.ts'

/** `DIR/staging/RANDOM` and `DIR/TENANT/ab/cdef…`, a level of 256 directories that keeps each of them short. */
export class DiskLayout {
  readonly #dir: string
  // 16 tenants whole; a directory that fell out is only made durable once more.
  readonly #durable = new LRUCache<string, true>({ max: 4096 })

  constructor(dir: string) {
    this.#dir = dir
  }

  get staging(): string {
    return join(this.#dir, 'staging')
  }

  pathOf(tenantId: TenantId, hash: BlobHash): string {
    assertBlobName(tenantId, hash)
    return join(this.dirOf(tenantId), hash.slice(0, 2), hash.slice(2))
  }

  dirOf(tenantId: TenantId): string {
    assertBlobTenant(tenantId)
    return join(this.#dir, String(tenantId))
  }

  /** Moves a file to its place. A directory that another process has removed is made again. */
  async place(from: string, to: string): Promise<void> {
    const folder = dirname(to)
    await this.#ensure(folder)
    try {
      await rename(from, to)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      this.#durable.delete(folder)
      await this.#ensure(folder)
      await rename(from, to)
    }
  }

  /** Makes the directory and everything above it durable, so that a rename into it survives a power loss. */
  async #ensure(folder: string): Promise<void> {
    if (this.#durable.has(folder)) return
    // Not the store's own directory: where that is missing, its disk may not be mounted.
    for (const path of [dirname(folder), folder]) await makeFolder(path)
    await syncFolder(dirname(folder))
    await syncFolder(this.#dir)
    this.#durable.set(folder, true)
  }

  async *hashes(tenantId: TenantId): AsyncGenerator<BlobHash> {
    const tenantDir = this.dirOf(tenantId)
    for (const shard of (await unlessMissing(readdir(tenantDir))) ?? []) {
      // At most a 256th of the tenant's blobs is in memory at once.
      for (const rest of (await unlessMissing(readdir(join(tenantDir, shard)))) ?? []) {
        const hash = shard + rest
        if (isBlobHash(hash)) yield hash
      }
    }
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

/** Is it the name of a tenant's directory? */
export function isTenantFolder(name: string): boolean {
  return /^\d+$/.test(name)
}
