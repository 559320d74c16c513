import type { BlobStore, StagedBlob } from '#infra/blobs/index.ts'
import type { TenantId, Writer } from '#infra/db/index.ts'
import { cancelReservation, keepBlobs, type ReserveDeps, reserveUpload } from '../upload/reserve-storage.ts'

export interface HoldDeps extends ReserveDeps {
  readonly blobs: Pick<BlobStore, 'stage'>
}

/** Bytes that are not here yet. */
export interface StageableBytes {
  readonly size: number
  readonly stage: () => Promise<StagedBlob>
}

/** Stores bytes that a tenant needs for something else than a file, within its quota. `look` is given them once they are
 * staged, and answers what is to be done in the transaction that keeps them, `useBlobs` included. Bytes that it makes no
 * use of are removed like an upload that was given up. */
export async function holdBlob(
  deps: HoldDeps,
  tenantId: TenantId,
  { size, stage }: StageableBytes,
  look: (staged: StagedBlob) => Promise<(tx: Writer) => Promise<void>>,
): Promise<void> {
  using _lease = deps.leases.hold()
  const reservation = await reserveUpload(deps, tenantId, { bytes: size })
  try {
    const staged = await stage()
    try {
      await keepBlobs(deps, tenantId, { reservation, blobs: [staged] }, await look(staged))
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}
