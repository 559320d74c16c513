import type { BlobStore } from '#infra/blobs/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { forEachApart } from '#lib/for-each-apart.ts'
import type { SizedBlob } from '../upload/storage-store.ts'
import {
  adoptUnknown,
  deleteLeft,
  findUnknown,
  listTenantsWithBlobs,
  listTenantsWithUnused,
  markLeaving,
} from './blob-sweep-store.ts'

export interface SweepDeps {
  readonly db: Database
  readonly clock: Clock
  readonly blobs: Pick<BlobStore, 'list' | 'remove' | 'sweepStaged'>
}

type UnusedDeps = Pick<SweepDeps, 'db'> & { readonly blobs: Pick<BlobStore, 'remove'> }

// A reader that has just been sent there finds them still.
const unusedGraceSecs = 600
// Whatever an upload had, it is committed or given up by then.
const unknownGraceMs = 86_400_000
const stagedGraceMs = 86_400_000
const blobsPerBatch = 200

/** Removes the bytes that nothing uses any more, and what died with its process. */
export async function sweepBlobs(deps: SweepDeps): Promise<void> {
  const { db, clock, blobs } = deps
  const now = nowSecs(clock)
  await blobs.sweepStaged(stagedGraceMs)
  const latest = now - unusedGraceSecs
  await forEachApart(await listTenantsWithUnused(db.reader(serverTenant), latest), (tenantId) =>
    sweepUnused(deps, tenantId, { latest, now }),
  )
}

/** Removes the bytes of a tenant that nothing has used since `latest`. */
export async function sweepUnused(
  deps: UnusedDeps,
  tenantId: TenantId,
  times: { readonly latest: number; readonly now: number },
): Promise<void> {
  while ((await sweepBatch(deps, tenantId, { ...times, limit: blobsPerBatch })) === blobsPerBatch) {
    // Each batch in transactions of its own, so that others get their turn.
  }
}

/** Marked first, then removed, then forgotten: whoever wants to use them meanwhile is told to come again, and what a
 * crash leaves is taken up by the next sweep. */
async function sweepBatch(
  { db, blobs }: UnusedDeps,
  tenantId: TenantId,
  batch: Parameters<typeof markLeaving>[1],
): Promise<number> {
  const hashes = await db.transact(tenantId, (tx) => markLeaving(tx, batch))
  if (hashes.length === 0) return 0
  for (const hash of hashes) await blobs.remove(tenantId, hash)
  await db.transact(tenantId, (tx) => deleteLeft(tx, hashes))
  return hashes.length
}

/** Finds bytes that no row knows, of uploads that died between their name and their row, and has them swept. Reads the
 * whole store. */
export async function findOrphans({ db, clock, blobs }: SweepDeps): Promise<void> {
  const latestMs = clock.now() - unknownGraceMs
  for (const tenantId of await listTenantsWithBlobs(db.reader(serverTenant))) {
    for await (const batch of batches(blobs.list(tenantId))) {
      const old = batch.filter(({ modifiedAtMs }) => modifiedAtMs <= latestMs)
      const unknown = await findUnknown(db.reader(tenantId), old)
      const now = nowSecs(clock)
      if (unknown.length > 0) await db.transact(tenantId, (tx) => adoptUnknown(tx, unknown, now))
    }
  }
}

/** Items in groups that fit into one statement. */
async function* batches<Item extends SizedBlob>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < blobsPerBatch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
