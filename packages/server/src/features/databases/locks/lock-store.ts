import type { FileId, RtdbLockMode } from '@kith/protocol'
import { deletionOf, type Reader, type TenantId, type Writer } from '#infra/db/index.ts'
import type { HeldLock } from './held-lock.ts'

interface LockTables {
  rtdb_locks: {
    tenant_id: TenantId
    file_id: FileId
    path: string
    holder: string
    conn_id: string
    mode: RtdbLockMode
    expires_at: number
  }
}

const columns = ['path', 'holder', 'conn_id as connId', 'mode', 'expires_at as expiresAt'] as const

function locksOf(from: Reader, fileId: FileId) {
  return from
    .tables<LockTables>()
    .selectFrom('rtdb_locks')
    .where('tenant_id', '=', from.tenantId)
    .where('file_id', '=', fileId)
}

export async function listLocks(from: Reader, fileId: FileId): Promise<HeldLock[]> {
  return await locksOf(from, fileId).select(columns).execute()
}

/** Answers an expired lock as well. */
export async function findLock(from: Reader, fileId: FileId, path: string): Promise<HeldLock | undefined> {
  return await locksOf(from, fileId).select(columns).where('path', '=', path).executeTakeFirst()
}

/** A hard lock of another holder on one of these paths. */
export async function findHardLock(
  from: Reader,
  fileId: FileId,
  {
    paths,
    holder,
    now,
  }: { readonly paths: readonly string[]; readonly holder: string; readonly now: number },
): Promise<HeldLock | undefined> {
  return await locksOf(from, fileId)
    .select(columns)
    .where('path', 'in', paths)
    .where('mode', '=', 'hard')
    .where('holder', '!=', holder)
    .where('expires_at', '>', now)
    .orderBy('path')
    .executeTakeFirst()
}

export async function putLock(tx: Writer, fileId: FileId, lock: HeldLock): Promise<void> {
  const held = {
    holder: lock.holder,
    conn_id: lock.connId,
    mode: lock.mode,
    expires_at: lock.expiresAt,
  }
  await tx
    .tables<LockTables>()
    .insertInto('rtdb_locks')
    .values({ tenant_id: tx.tenantId, file_id: fileId, path: lock.path, ...held })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'file_id', 'path']).doUpdateSet(held))
    .execute()
}

function locksToDelete(tx: Writer, fileId: FileId) {
  return tx
    .tables<LockTables>()
    .deleteFrom('rtdb_locks')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
}

export async function deleteLock(tx: Writer, fileId: FileId, path: string): Promise<void> {
  await locksToDelete(tx, fileId).where('path', '=', path).execute()
}

/** Deletes the locks of a connection, and answers them. */
export async function deleteLocksOf(tx: Writer, fileId: FileId, connId: string): Promise<HeldLock[]> {
  return await locksToDelete(tx, fileId).where('conn_id', '=', connId).returning(columns).execute()
}

export async function deleteExpiredLocks(tx: Writer, fileId: FileId, now: number): Promise<void> {
  await locksToDelete(tx, fileId).where('expires_at', '<=', now).execute()
}

/** NOTE: over all tenants: expired locks, which remain where no process has the database open. */
export const deleteOldLocks = deletionOf({
  table: 'rtdb_locks',
  key: ['tenant_id', 'file_id', 'path'],
  time: 'expires_at',
})
