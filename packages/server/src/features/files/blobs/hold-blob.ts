import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import type { TenantId, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { cancelReservation, keepBlobs, type ReserveDeps, reserveUpload } from '../upload/reserve-storage.ts'
import type { SizedBlob } from '../upload/storage-store.ts'

export interface HoldDeps extends ReserveDeps {
  readonly blobs: Pick<BlobStore, 'stage'>
}

interface HeldBytes extends SizedBlob {
  readonly source: AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal | undefined
}

/** Stores bytes that a tenant needs for something else than a file, within its quota. `write` does in its transaction
 * what makes use of them, `useBlobs` included; bytes that it makes no use of are removed like an upload that was given
 * up. Fails with `E-UNAVAILABLE` when the bytes are not those of the hash. */
export async function holdBlob(
  deps: HoldDeps,
  tenantId: TenantId,
  { hash, size, source, signal }: HeldBytes,
  write: (tx: Writer) => Promise<void>,
): Promise<void> {
  using _lease = deps.leases.hold()
  const reservation = await reserveUpload(deps, tenantId, { bytes: size })
  try {
    const staged = await deps.blobs.stage(tenantId, source, {
      maxBytes: size,
      expectedBytes: size,
      ...(signal && { signal }),
    })
    try {
      if (staged.hash !== hash) throw damaged(hash)
      await keepBlobs(deps, tenantId, { reservation, blobs: [staged] }, write)
    } finally {
      await staged.discard()
    }
  } catch (error) {
    await cancelReservation(deps, tenantId, reservation)
    throw error
  }
}

function damaged(hash: BlobHash): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} has other bytes`) })
}
