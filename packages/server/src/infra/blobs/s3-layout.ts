import type { TenantId } from '#infra/db/index.ts'
import { assertBlobName, assertBlobTenant, isBlobHash } from './blob-hash.ts'
import type { BlobHash } from './blob-store.ts'

/** `PREFIX/TENANT/HASH`. */
export class S3Layout {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix === '' ? '' : `${prefix}/`
  }

  /** What the keys of every tenant begin with. */
  get root(): string {
    return this.#prefix
  }

  keyOf(tenantId: TenantId, hash: BlobHash): string {
    assertBlobName(tenantId, hash)
    return this.rootOf(tenantId) + hash
  }

  /** What the keys of a tenant begin with; those of tenant 12 do not begin with that of tenant 1. */
  rootOf(tenantId: TenantId): string {
    assertBlobTenant(tenantId)
    return `${this.#prefix}${tenantId}/`
  }

  /** Whether a key has the form of ours, for any tenant. */
  isOurs(key: string): boolean {
    const [tenant = '', hash = '', ...rest] = key.slice(this.#prefix.length).split('/')
    return key.startsWith(this.#prefix) && /^\d+$/.test(tenant) && isBlobHash(hash) && rest.length === 0
  }

  /** Undefined for a key that is not ours: a bucket may hold things of others. */
  hashIn(tenantId: TenantId, key: string): BlobHash | undefined {
    const hash = key.slice(this.rootOf(tenantId).length)
    return isBlobHash(hash) ? hash : undefined
  }
}
