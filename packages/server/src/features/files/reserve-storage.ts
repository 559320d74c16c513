import { randomUUID } from 'node:crypto'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import {
  deleteExpiredReservations,
  deleteReservation,
  findUsage,
  insertReservation,
  sumReserved,
} from './storage-store.ts'

/** What a tenant may store; zero means unlimited storage. */
export interface StorageLimits {
  readonly maxFileBytes: number
  readonly maxStorageBytes: number
}

/** Bytes set aside for an upload before the first of them is taken. */
export interface Reservation {
  readonly id: string
  readonly bytes: number
  /** What is exceeded by one byte more. */
  readonly bound: 'file' | 'quota'
}

export interface ReserveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
}

// An upload that takes longer than this has died with its process.
const longestUploadSecs = 86_400

/** Sets aside the declared length, or all that the upload may become when it declares none. */
export async function reserveStorage(
  deps: ReserveDeps,
  tenantId: TenantId,
  declaredBytes: number | undefined,
): Promise<Reservation> {
  const limits = await deps.limitsOf(tenantId)
  if (declaredBytes !== undefined && declaredBytes > limits.maxFileBytes) throw new Failure('E-TOOLARGE')
  const now = nowSecs(deps.clock)
  return await deps.db.transact(tenantId, async (tx) => {
    await deleteExpiredReservations(tx, now)
    const { usedBytes } = await findUsage(tx)
    const free =
      limits.maxStorageBytes === 0
        ? Number.MAX_SAFE_INTEGER
        : limits.maxStorageBytes - usedBytes - (await sumReserved(tx, now))
    const wanted = declaredBytes ?? Math.min(limits.maxFileBytes, free)
    if (free <= 0 || wanted > free) throw new Failure('E-QUOTA')
    const id = randomUUID()
    await insertReservation(tx, { id, bytes: wanted, expiresAt: now + longestUploadSecs })
    const bound = wanted < limits.maxFileBytes && declaredBytes === undefined ? 'quota' : 'file'
    return { id, bytes: wanted, bound }
  })
}

/** Gives back what an upload that failed did not use. */
export async function cancelReservation(
  deps: Pick<ReserveDeps, 'db'>,
  tenantId: TenantId,
  id: string,
): Promise<void> {
  await deps.db.transact(tenantId, (tx) => deleteReservation(tx, id))
}
