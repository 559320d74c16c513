import type { FileId } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import type { BlobHash } from '#infra/blobs/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { ZipEntry } from '#infra/zip/index.ts'
import { findPackageHash, findPackedEntries } from '../install/installed-app-store.ts'
import { unpackEntries } from './packed-entries.ts'

/** An installed package whose files can be found. */
export interface PackageIndex {
  readonly hash: BlobHash
  readonly entries: ReadonlyMap<string, ZipEntry>
}

const maxKeptBytes = 32 * 1024 * 1024
// What the objects of an index take for each byte of its text.
const bytesPerCharacter = 6

/** The indexes of packages that were asked for lately. */
export class PackageIndexes {
  // By tenant and hash of the bytes, from which an index follows, so that it is never stale. Not by the hash alone: the
  // places that come with an import are what its archive says.
  readonly #kept = new LRUCache<string, PackageIndex['entries']>({ maxSize: maxKeptBytes })

  /** The index of a package that the tenant has installed at this moment. */
  async find(reader: Reader, fileId: FileId): Promise<PackageIndex | undefined> {
    const hash = await findPackageHash(reader, fileId)
    if (hash === undefined) return undefined
    const key = `${reader.tenantId} ${hash}`
    const known = this.#kept.get(key)
    if (known) return { hash, entries: known }
    const packed = await findPackedEntries(reader, fileId)
    if (packed === undefined) return undefined
    const entries = unpackEntries(packed)
    this.#kept.set(key, entries, { size: bytesPerCharacter * packed.length })
    return { hash, entries }
  }
}
