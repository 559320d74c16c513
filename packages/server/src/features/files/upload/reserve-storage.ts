import { randomUUID } from 'node:crypto'
import type { StagedBlob } from '#infra/blobs/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import {
  deleteReservation,
  insertClaims,
  insertReservation,
  sumReserved,
  sumReservedBy,
  updateReservation,
} from './reservation-store.ts'
import { findUsage } from './storage-store.ts'
import type { UploadLeases } from './upload-leases.ts'

/** What a tenant may store; zero means unlimited storage. */
export interface StorageLimits {
  readonly maxFileBytes: number
  readonly maxStorageBytes: number
}

/** Bytes set aside before the first of them is taken. */
export interface Reservation {
  readonly id: string
  readonly bytes: number
}

/** A reservation for an upload, which may become as large as it. */
export interface UploadReservation extends Reservation {
  /** What is exceeded by one byte more. */
  readonly bound: 'file' | 'quota'
}

export interface ReserveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly limitsOf: (tenantId: TenantId) => Promise<StorageLimits>
  /** Whoever reserves for this process alone holds one until the end. */
  readonly leases: UploadLeases
}

/** A resumable upload that is not continued for so long has ended. */
export const longestUploadSecs = 86_400
const visitorsFiles = 4

/** What a visitor may have set aside: some files on their way, and never so much that the tenant is left without. */
function mostOf({ maxFileBytes, maxStorageBytes }: StorageLimits): number {
  if (maxStorageBytes === 0) return Number.MAX_SAFE_INTEGER
  return Math.max(maxFileBytes, Math.min(visitorsFiles * maxFileBytes, maxStorageBytes / 4))
}

/** What is to be set aside for an upload. */
interface UploadClaim {
  readonly bytes: number | undefined
  readonly atMostBytes?: number | undefined
  /** Who uploads, unless it is the tenant itself. */
  readonly by?: string | undefined
  /** What outlives this process: for how long, and what is written with it. */
  readonly lasting?: {
    readonly lifeSecs: number
    readonly write: (tx: Writer, reservation: Reservation) => Promise<void>
  }
}

/** Sets aside what an upload may become: the length when it is declared, else as much as may be. */
export async function reserveUpload(
  deps: ReserveDeps,
  tenantId: TenantId,
  declared: UploadClaim,
): Promise<UploadReservation> {
  const { by, lasting } = declared
  const { holder, expiresAt: leasedUntil } = deps.leases
  const limits = await deps.limitsOf(tenantId)
  const { maxFileBytes } = limits
  if (declared.bytes !== undefined && declared.bytes > maxFileBytes) throw new Failure('E-TOOLARGE')
  const largest = declared.bytes ?? Math.min(maxFileBytes, declared.atMostBytes ?? maxFileBytes)
  return await deps.db.transact(tenantId, async (tx) => {
    const now = nowSecs(deps.clock)
    const room = await findFree(tx, now, limits)
    const free =
      by === undefined ? room : Math.min(room, mostOf(limits) - (await sumReservedBy(tx, { by, now })))
    if (declared.bytes === undefined ? free <= 0 : declared.bytes > free) throw new Failure('E-QUOTA')
    const bytes = Math.min(largest, free)
    const reservation = { id: randomUUID(), bytes }
    if (lasting) await insertReservation(tx, { ...reservation, expiresAt: now + lasting.lifeSecs, by })
    else await insertReservation(tx, { ...reservation, expiresAt: leasedUntil, by, holder })
    await lasting?.write(tx, reservation)
    return { ...reservation, bound: bytes < largest ? 'quota' : 'file' }
  })
}

/** Goes on setting this much aside; anew, if there is room, where it has ended meanwhile. */
export async function renewReservation(
  deps: ReserveDeps,
  tenantId: TenantId,
  { id, bytes }: Reservation,
): Promise<void> {
  const limits = await deps.limitsOf(tenantId)
  await deps.db.transact(tenantId, async (tx) => {
    const now = nowSecs(deps.clock)
    const free = await findFree(tx, now, limits)
    const expiresAt = now + longestUploadSecs
    if (await updateReservation(tx, { id, bytes, lasting: { expiresAt, now } })) return
    if (bytes > free) throw new Failure('E-QUOTA')
    await deleteReservation(tx, id)
    await insertReservation(tx, { id, bytes, expiresAt })
  })
}

/** Gives back what was set aside and not used. A reservation that cannot be given back now ends by itself. */
export async function cancelReservation(
  deps: Pick<ReserveDeps, 'db'>,
  tenantId: TenantId,
  { id }: Pick<Reservation, 'id'>,
): Promise<void> {
  await deps.db.transact(tenantId, (tx) => deleteReservation(tx, id)).catch(() => undefined)
}

/** Bytes that are to be kept, and what is set aside for them: nothing yet for what is made of a file. */
interface Keeping {
  readonly reservation: Reservation | undefined
  readonly blobs: readonly StagedBlob[]
}

/** Gives staged bytes their names and uses them in one transaction with what `write` does. The claims come first:
 * between a name and its use nobody may take the bytes for unused. */
export async function keepBlobs(
  deps: ReserveDeps,
  tenantId: TenantId,
  keeping: Keeping,
  write: (tx: Writer) => Promise<void>,
): Promise<void> {
  using _lease = deps.leases.hold()
  const id = await claim(deps, tenantId, keeping)
  try {
    for (const blob of keeping.blobs) await blob.keep()
    await deps.db.transact(tenantId, async (tx) => {
      if (!(await deleteReservation(tx, id))) throw lostReservation()
      await write(tx)
    })
  } catch (error) {
    if (!keeping.reservation) await cancelReservation(deps, tenantId, { id })
    throw error
  }
}

/** Answers the reservation that the claims belong to. */
async function claim(deps: ReserveDeps, tenantId: TenantId, keeping: Keeping): Promise<string> {
  const { reservation, blobs } = keeping
  const limits = await deps.limitsOf(tenantId)
  const sizes = new Map(blobs.map(({ hash, size }) => [hash, size]))
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const { id, bytes: reserved } = reservation ?? { id: randomUUID(), bytes: 0 }
  const { holder, expiresAt } = deps.leases
  await deps.db.transact(tenantId, async (tx) => {
    // What a preset makes of an upload may be larger than the upload was.
    const more = bytes - reserved
    if (more > 0 && more > (await findFree(tx, nowSecs(deps.clock), limits))) throw new Failure('E-QUOTA')
    if (!reservation) await insertReservation(tx, { id, bytes, expiresAt, holder })
    else if (!(await updateReservation(tx, { id, bytes }))) throw lostReservation()
    if (!(await insertClaims(tx, id, [...sizes.keys()])))
      throw new Failure('E-UNAVAILABLE', { retryAfterSecs: 1 })
  })
  return id
}

function lostReservation(): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error('the reservation ended before the upload') })
}

/** How many bytes more the tenant may store. `now`: Unix seconds. */
export async function findFree(
  tx: Writer,
  now: number,
  { maxStorageBytes }: Pick<StorageLimits, 'maxStorageBytes'>,
): Promise<number> {
  if (maxStorageBytes === 0) return Number.MAX_SAFE_INTEGER
  const { usedBytes } = await findUsage(tx)
  return maxStorageBytes - usedBytes - (await sumReserved(tx, now))
}
