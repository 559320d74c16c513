import type { Readable } from 'node:stream'
import type { TenantId } from '#infra/db/index.ts'

/** Lower-case hexadecimal SHA-256 of the content: the name of a blob inside its tenant. */
export type BlobHash = string & { readonly blobHash: true }

export interface StageLimits {
  /** One byte more fails with `E-TOOLARGE`. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

/** Bytes that have arrived, are hashed and durable, but have no name yet. Exactly one of `keep` and `discard` is called. */
export interface StagedBlob {
  readonly hash: BlobHash
  readonly size: number
  /** The first bytes (at most 4 100), for telling the type. */
  readonly head: Uint8Array
  /** Where the bytes can be read by another process before they are kept, for the disk store. */
  readonly path: string
  /** Gives the bytes their name, durably. A blob that exists already is left as it is. */
  keep(): Promise<void>
  discard(): Promise<void>
}

export interface BlobRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** Bytes by content hash inside a tenant. Nothing tells one tenant what another has. */
export interface BlobStore {
  /** Streams `source` aside while hashing it. A failure or an abort leaves nothing behind. */
  stage(tenantId: TenantId, source: AsyncIterable<Uint8Array>, limits: StageLimits): Promise<StagedBlob>
  /** Undefined when there is no such blob. */
  open(tenantId: TenantId, hash: BlobHash, range?: BlobRange): Promise<Readable | undefined>
  size(tenantId: TenantId, hash: BlobHash): Promise<number | undefined>
  /** Removing what is not there is no failure. */
  remove(tenantId: TenantId, hash: BlobHash): Promise<void>
  list(tenantId: TenantId): AsyncIterable<{ hash: BlobHash; size: number; modifiedAtMs: number }>
  /** Removes what was staged by processes that are gone. */
  sweepStaged(olderThanMs: number): Promise<number>
}
