import type { BlobStore } from '#infra/blobs/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { staleAfterMs } from '#infra/disk/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { sweepUnused } from '../blobs/sweep-blobs.ts'
import { type PictureDeps, sweepPictures } from '../variants/make-pictures.ts'
import { deleteEnded, disownClaimed, listEndedReservations } from './lease-store.ts'

export interface DeadUploadDeps {
  readonly db: Database
  readonly clock: Clock
  readonly blobs: Pick<BlobStore, 'remove' | 'sweepDead'>
  readonly tempDir: PictureDeps['tempDir']
  readonly freshPaths: PictureDeps['freshPaths']
}

const reservationsPerBatch = 200

/** Takes away what uploads left whose process has died: quota, bytes on their way, and bytes with a name that no row
 * uses. */
export async function endDeadUploads(deps: DeadUploadDeps): Promise<void> {
  const { db, clock, blobs } = deps
  const now = nowSecs(clock)
  await blobs.sweepDead(staleAfterMs)
  await sweepPictures(deps, staleAfterMs)
  const batch = { now, limit: reservationsPerBatch }
  let count = reservationsPerBatch
  while (count === reservationsPerBatch) {
    const ended = await listEndedReservations(db.reader(serverTenant), batch)
    for (const [tenantId, those] of Map.groupBy(ended, (reservation) => reservation.tenantId))
      await endAll(
        deps,
        tenantId,
        those.map(({ id }) => id),
      )
    count = ended.length
  }
}

async function endAll(deps: DeadUploadDeps, tenantId: TenantId, ids: readonly string[]): Promise<void> {
  const now = nowSecs(deps.clock)
  await deps.db.transact(tenantId, async (tx) => {
    await disownClaimed(tx, ids)
    await deleteEnded(tx, ids, now)
  })
  await sweepUnused(deps, tenantId, { latest: 0, now })
}
