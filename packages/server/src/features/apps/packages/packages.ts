import { open } from 'node:fs/promises'
import { appPackageLimits } from '@kith/protocol'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { readRange, verifyEntries, type ZipSource } from '#infra/zip/index.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { explainZipFault, packageFault } from './package-fault.ts'
import { type AppPackage, readPackage } from './read-package.ts'

/** Where a package lies. */
export interface PackagePlace {
  readonly tenantId: TenantId
  readonly hash: BlobHash
  readonly size: number
}

/** What an offer says of its package. */
interface Promised {
  readonly name: string
  readonly version: string
}

interface PackageWork {
  /** The tenant whose turn it takes. */
  readonly asker: TenantId
  readonly place: PackagePlace
  readonly promised: Promised
  readonly signal?: AbortSignal | undefined
}

// Inflating takes a thread of the pool each; tenants take turns.
const limits = { total: 2, perKey: 1, waitingPerKey: 4, waiting: 64 }
const retryAfterSecs = 5

/** Reads and checks packages, a few at a time. */
export class Packages {
  readonly #blobs: Pick<BlobStore, 'openLocal'>
  // Bounded by its limits.
  readonly #gate = new Gate(limits)

  constructor(blobs: Pick<BlobStore, 'openLocal'>) {
    this.#blobs = blobs
  }

  /** What a package says of itself, without inflating more than that. */
  describe(work: PackageWork): Promise<AppPackage> {
    return this.#inTurn(work, (source) => readPromised(source, work.promised))
  }

  /** Checks all of a package, and passes it on with its bytes. */
  check<Result>(
    work: PackageWork,
    use: (checked: AppPackage, bytes: AsyncIterable<Uint8Array>) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(work, async (source) => {
      const checked = await readPromised(source, work.promised)
      await verifyEntries(source, checked.entries, work.signal).catch((error: unknown) => {
        throw explainZipFault(error)
      })
      return use(checked, readRange(source, 0, source.size))
    })
  }

  async #inTurn<Result>(
    { asker, place, signal }: PackageWork,
    work: (source: ZipSource) => Promise<Result>,
  ): Promise<Result> {
    if (place.size > appPackageLimits.bytes) throw packageFault('too-large')
    const leave = await this.#gate.enter(String(asker), signal).catch((error: unknown) => {
      throw error instanceof GateFullError ? new Failure('E-UNAVAILABLE', { retryAfterSecs }) : error
    })
    try {
      await using local = await this.#blobs.openLocal(place.tenantId, place.hash)
      if (!local) throw missing(place)
      await using file = await open(local.path, 'r')
      return await work({ file, size: place.size })
    } finally {
      leave()
    }
  }
}

async function readPromised(source: ZipSource, { name, version }: Promised): Promise<AppPackage> {
  const read = await readPackage(source)
  if (read.manifest.name !== name || read.manifest.version !== version) throw packageFault('manifest-differs')
  return read
}

function missing({ tenantId, hash }: PackagePlace): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} of tenant ${tenantId} is missing`) })
}
