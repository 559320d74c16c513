import type { Readable } from 'node:stream'
import type { TenantId } from '#infra/db/index.ts'

/** Lower-case hexadecimal SHA-256 of the content: the name of a blob inside its tenant. */
export type BlobHash = string & { readonly blobHash: true }

export interface StageLimits {
  /** One byte more fails with `E-TOOLARGE`. */
  readonly maxBytes: number
  /** What has no room on the disk of this machine is refused at once with `E-QUOTA`, else when the room ends. */
  readonly expectedBytes?: number | undefined
  readonly signal?: AbortSignal
}

/** Bytes that have arrived, are hashed and durable, but have no name yet. Exactly one of `keep` and `discard` is called. */
export interface StagedBlob {
  readonly hash: BlobHash
  readonly size: number
  /** The first bytes (at most 4 100), for telling the type. */
  readonly head: Uint8Array
  /** All of them are text in UTF-8. */
  readonly isUtf8: boolean
  /** Where the bytes can be read by another process before they are kept, for the disk store. */
  readonly path: string
  /** Gives the bytes their name, durably. A blob that exists already keeps its bytes and counts as new again for `list`. */
  keep(): Promise<void>
  /** After a failed `keep` it removes what is left; after a successful one it does nothing. */
  discard(): Promise<void>
}

/** A kept blob as a file that another process can read and must not write. Disposing gives it back. */
export interface LocalBlob extends AsyncDisposable {
  readonly path: string
}

/** What the answer at a signed address is like. */
export interface SignedAnswer {
  readonly contentType: string
  readonly contentDisposition: string
  readonly cacheControl: string
  /** Unix seconds. The same answer signed at the same time has the same address. */
  readonly signedAt: number
  /** From `signedAt` on. */
  readonly lifeSecs: number
}

export interface BlobRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** Bytes by content hash inside a tenant. Nothing tells one tenant what another has. */
export interface BlobStore {
  /**
   * Streams `source` aside while hashing it. A failure or an abort leaves nothing behind, and `source` is returned to
   * its owner as any `for await` would: a request that must still be answered is passed as
   * `request.iterator({ destroyOnReturn: false })`. A full disk is `E-UNAVAILABLE`.
   */
  stage(tenantId: TenantId, source: AsyncIterable<Uint8Array>, limits: StageLimits): Promise<StagedBlob>
  /** Undefined when there is no such blob. */
  open(tenantId: TenantId, hash: BlobHash, range?: BlobRange): Promise<Readable | undefined>
  size(tenantId: TenantId, hash: BlobHash): Promise<number | undefined>
  /** Undefined when there is no such blob. */
  openLocal(tenantId: TenantId, hash: BlobHash): Promise<LocalBlob | undefined>
  /** An address at which anybody can read the blob for a while, without this server; undefined where there is none. */
  signedUrl(tenantId: TenantId, hash: BlobHash, answer: SignedAnswer): Promise<string | undefined>
  /** Removing what is not there is no failure. */
  remove(tenantId: TenantId, hash: BlobHash): Promise<void>
  /** Whether the store answers at present. */
  isAnswering(): Promise<boolean>
  /** Removes whatever a tenant has, for good; tells how many blobs that were. */
  removeTenant(tenantId: TenantId): Promise<number>
  /** In no particular order. What is kept or removed meanwhile may or may not be seen. */
  list(tenantId: TenantId): AsyncIterable<{ hash: BlobHash; size: number; modifiedAtMs: number }>
  /** Removes what a process of this machine was staging that was last heard of more than `olderThanMs` ago; tells how
   * many. */
  sweepDead(olderThanMs: number): Promise<number>
  /** The same for whatever is left, here or in the store; tells how many. */
  sweepStaged(olderThanMs: number): Promise<number>
}
