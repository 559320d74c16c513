import type { FileId, IdTag, SharePermission, ShareSubject } from '@kith/protocol'
import { type Selectable, sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { doubtMarks } from '../access/file-access-predicate.ts'
import type { Share } from './share.ts'

export interface ShareTable {
  share_id: number
  tenant_id: number
  resource_id: string
  subject_type: string
  subject_id: string
  permission: string
  expires_at: number | null
  created_by: string
  created_at: number
  is_derived: number
  ref_hash: string | null
}
export interface ShareTables {
  shares: ShareTable
  share_bases: { tenant_id: number; share_id: number; base_id: number }
}

export interface NewShare extends Omit<Share, 'shareId' | 'isInDoubt'> {
  /** The shares by which its maker may give it, where it is derived. */
  readonly baseIds: readonly number[]
}

// The number of values in one statement is limited.
const valuesPerStatement = 500

export function chunks<Value>(values: readonly Value[]): Value[][] {
  const starts = Array.from({ length: Math.ceil(values.length / valuesPerStatement) }, (_, index) => index)
  return starts.map((index) => values.slice(index * valuesPerStatement, (index + 1) * valuesPerStatement))
}

/** Stores a share, or changes the one that the subject has on the file; the new one's maker counts from then on. */
export async function putShare(tx: Writer, share: NewShare): Promise<Share> {
  const values = {
    tenant_id: tx.tenantId,
    resource_id: share.fileId,
    subject_type: share.subjectType,
    subject_id: share.subjectId,
    permission: share.permission,
    expires_at: share.expiresAt ?? null,
    created_by: share.createdBy,
    created_at: share.createdAt,
    is_derived: Number(share.isDerived),
    ref_hash: share.refHash ?? null,
  }
  const { permission, expires_at, created_by, is_derived, ref_hash } = values
  const row = await tx
    .tables<{ shares: Omit<ShareTable, 'share_id'> & { share_id?: number } }>()
    .insertInto('shares')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'resource_id', 'subject_type', 'subject_id'])
        .doUpdateSet({ permission, expires_at, created_by, is_derived, ref_hash }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  const stored = toShare(row as Selectable<ShareTable>)
  await putBases(tx, stored.shareId, share.baseIds)
  return stored
}

/** The shares that a share rests on. */
export async function listBaseIds(reader: Reader, shareId: number): Promise<number[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('share_bases')
    .select('base_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('share_id', '=', shareId)
    .execute()
  return rows.map((row) => Number(row.base_id))
}

/** Says anew what a share rests on. */
export async function putBases(tx: Writer, shareId: number, baseIds: readonly number[]): Promise<void> {
  const tables = tx.tables<ShareTables>()
  await tables
    .deleteFrom('share_bases')
    .where('tenant_id', '=', tx.tenantId)
    .where('share_id', '=', shareId)
    .execute()
  for (const ids of chunks(baseIds))
    await tables
      .insertInto('share_bases')
      .values(ids.map((baseId) => ({ tenant_id: tx.tenantId, share_id: shareId, base_id: baseId })))
      .execute()
}

export async function findShare(reader: Reader, fileId: FileId, shareId: number): Promise<Share | undefined> {
  const row = await ofFile(reader, fileId).where('share_id', '=', shareId).executeTakeFirst()
  return row && toShare(row)
}

export async function findShareOf(
  reader: Reader,
  { fileId, subjectType, subjectId }: Pick<Share, 'fileId' | 'subjectType' | 'subjectId'>,
): Promise<Share | undefined> {
  const row = await ofFile(reader, fileId)
    .where('subject_type', '=', subjectType)
    .where('subject_id', '=', subjectId)
    .executeTakeFirst()
  return row && toShare(row)
}

export async function countShares(reader: Reader, fileId: FileId): Promise<number> {
  const { total } = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', reader.tenantId)
    .where('resource_id', '=', fileId)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** In the order in which they were made; none that has expired or is in doubt. */
export async function listSharesOf(reader: Reader, fileId: FileId, now: number): Promise<Share[]> {
  const rows = await ofFile(reader, fileId)
    .where('is_derived', '<', doubtMarks.waiting)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .orderBy('share_id')
    .execute()
  return rows.map(toShare)
}

function ofFile(reader: Reader, fileId: FileId) {
  return ofTenant(reader).where('resource_id', '=', fileId)
}

function ofTenant(reader: Reader) {
  return reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
}

export async function deleteShares(tx: Writer, shareIds: readonly number[]): Promise<void> {
  for (const ids of chunks(shareIds))
    await tx
      .tables<ShareTables>()
      .deleteFrom('shares')
      .where('tenant_id', '=', tx.tenantId)
      .where('share_id', 'in', ids)
      .execute()
}

interface TenantShare {
  readonly tenantId: TenantId
  readonly share: Share
}

/** A place among what was given on, over all tenants. */
export interface ResharePlace {
  readonly tenantId: number
  readonly shareId: number
}

/** NOTE: over all tenants: the next of what was given on, in the order of tenants. */
export async function listResharesAfter(
  reader: Reader,
  after: ResharePlace,
  limit: number,
): Promise<TenantShare[]> {
  const rows = await ofAllTenants(reader)
    // A literal, since an index over some rows serves only a statement that shows it wants those alone.
    .where('is_derived', '=', sql.lit(1))
    .where((row) => row(row.refTuple('tenant_id', 'share_id'), '>', row.tuple(after.tenantId, after.shareId)))
    .orderBy('tenant_id')
    .orderBy('share_id')
    .limit(limit)
    .execute()
  return rows.map(toTenantShare)
}

/** The shares of files, whoever made them. */
export async function listSharesOfFiles(reader: Reader, fileIds: readonly FileId[]): Promise<Share[]> {
  const shares: Share[] = []
  for (const ids of chunks(fileIds)) {
    const rows = await ofTenant(reader).where('resource_id', 'in', ids).execute()
    shares.push(...rows.map(toShare))
  }
  return shares
}

/** NOTE: over all tenants: shares that have expired, the earliest first: in the order of the index that holds them. */
export async function listExpired(reader: Reader, now: number, limit: number): Promise<TenantShare[]> {
  const rows = await ofAllTenants(reader)
    .where('expires_at', 'is not', null)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map(toTenantShare)
}

function ofAllTenants(reader: Reader) {
  return reader.tables<ShareTables>().selectFrom('shares').selectAll()
}

function toTenantShare(row: Selectable<ShareTable>): TenantShare {
  return { tenantId: row.tenant_id as TenantId, share: toShare(row) }
}

export function toShare(row: Selectable<ShareTable>): Share {
  return {
    shareId: row.share_id,
    fileId: row.resource_id as FileId,
    subjectType: row.subject_type as ShareSubject,
    subjectId: row.subject_id,
    permission: row.permission as SharePermission,
    expiresAt: row.expires_at ?? undefined,
    createdBy: row.created_by as IdTag,
    createdAt: row.created_at,
    isDerived: row.is_derived !== 0,
    isInDoubt: row.is_derived >= doubtMarks.waiting,
    refHash: row.ref_hash ?? undefined,
  }
}
