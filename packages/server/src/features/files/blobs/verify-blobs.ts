import { createHash } from 'node:crypto'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { findKnownBlobs, isCounted, listBlobRows } from './blob-rows-store.ts'

interface VerifyBlobsDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'size' | 'open' | 'list'>
  readonly clock: Pick<Clock, 'now'>
}

/** Something that is not as the database says. `missing`: bytes that a file needs are not there; `damaged`: they are not
 * what their name says; `orphaned`: nobody needs them. */
export interface BlobProblem {
  readonly kind: 'missing' | 'damaged' | 'orphaned'
  readonly hash: BlobHash
  readonly bytes: number
}

interface BlobCensus {
  readonly blobs: number
  readonly bytes: number
}

const pageSize = 500
// An upload gives bytes their name shortly before it writes the rows that need them.
const settledMs = 3_600_000

/** Compares a tenant's stored bytes with what the database knows of them, in constant memory, while both change; `deep`
 * reads and hashes them all. Tells what is wrong as it is found, and answers how much it looked at. */
export async function* verifyBlobs(
  deps: VerifyBlobsDeps,
  tenantId: TenantId,
  { deep }: { readonly deep: boolean },
): AsyncGenerator<BlobProblem, BlobCensus> {
  const census = yield* checkRows(deps, tenantId, deep)
  yield* checkBytes(deps, tenantId)
  return census
}

async function* checkRows(
  { db, blobs }: VerifyBlobsDeps,
  tenantId: TenantId,
  deep: boolean,
): AsyncGenerator<BlobProblem, BlobCensus> {
  const reader = db.reader(tenantId)
  const census = { blobs: 0, bytes: 0 }
  let after: string | undefined
  while (true) {
    const page = await listBlobRows(reader, { after, limit: pageSize })
    for (const { hash, size } of page) {
      const found = await blobs.size(tenantId, hash)
      census.blobs += 1
      census.bytes += found ?? 0
      if (found === undefined) {
        // It may have been removed with its row since the page was read.
        if (await isCounted(reader, hash)) yield { kind: 'missing', hash, bytes: size }
      } else if (found !== size || (deep && !(await isIntact(blobs, tenantId, hash))))
        yield { kind: 'damaged', hash, bytes: found }
    }
    after = page.at(-1)?.hash
    if (page.length < pageSize) return census
  }
}

async function* checkBytes({ db, blobs, clock }: VerifyBlobsDeps, tenantId: TenantId) {
  const reader = db.reader(tenantId)
  const latestMs = clock.now() - settledMs
  let batch: { hash: BlobHash; size: number }[] = []
  const orphansOf = async () => {
    const known = await findKnownBlobs(
      reader,
      batch.map(({ hash }) => hash),
    )
    const orphans = batch.filter(({ hash }) => !known.has(hash))
    batch = []
    return orphans.map(({ hash, size }): BlobProblem => ({ kind: 'orphaned', hash, bytes: size }))
  }
  for await (const { hash, size, modifiedAtMs } of blobs.list(tenantId)) {
    if (modifiedAtMs > latestMs) continue
    batch.push({ hash, size })
    if (batch.length >= pageSize) yield* await orphansOf()
  }
  yield* await orphansOf()
}

async function isIntact(
  blobs: VerifyBlobsDeps['blobs'],
  tenantId: TenantId,
  hash: BlobHash,
): Promise<boolean> {
  const stream = await blobs.open(tenantId, hash)
  if (!stream) return false
  const digest = createHash('sha256')
  for await (const chunk of stream) digest.update(chunk)
  return digest.digest('hex') === hash
}
