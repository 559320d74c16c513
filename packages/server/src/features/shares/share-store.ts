import type { FileId, IdTag, SharePermission, ShareSubject } from '@kith/protocol'
import { type Selectable, sql } from 'kysely'
import { asideMark } from '#features/files/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
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
interface ShareTables {
  shares: ShareTable & { share_id: number }
}

export type NewShare = Omit<Share, 'shareId'>

// The number of values in one statement is limited.
const idsPerStatement = 500

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
  return toShare(row as Selectable<ShareTable>)
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

/** In the order in which they were made; none that has expired. */
export async function listSharesOf(reader: Reader, fileId: FileId, now: number): Promise<Share[]> {
  const rows = await ofFile(reader, fileId)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .orderBy('share_id')
    .execute()
  return rows.map(toShare)
}

function ofFile(reader: Reader, fileId: FileId) {
  return reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('resource_id', '=', fileId)
}

export async function deleteShares(tx: Writer, shareIds: readonly number[]): Promise<void> {
  for (let start = 0; start < shareIds.length; start += idsPerStatement)
    await tx
      .tables<ShareTables>()
      .deleteFrom('shares')
      .where('tenant_id', '=', tx.tenantId)
      .where('share_id', 'in', shareIds.slice(start, start + idsPerStatement))
      .execute()
}

// A literal, since an index over some rows serves only a statement that shows it wants those alone.
const derived = sql.lit(1)

/** What somebody has given on of what was shared with them. */
export async function listGivenOnBy(reader: Reader, makerTag: string): Promise<Share[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('created_by', '=', makerTag)
    .where('is_derived', '=', derived)
    .execute()
  return rows.map(toShare)
}

/** Everything in a tenant that was given on. */
export async function listGivenOn(reader: Reader): Promise<Share[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('is_derived', '=', derived)
    .execute()
  return rows.map(toShare)
}

/** A place among what was given on, over all tenants. */
export interface GivenOnPlace {
  readonly tenantId: number
  readonly shareId: number
}

/** NOTE: over all tenants: the next of what was given on, in the order of tenants. */
export async function listGivenOnAfter(
  reader: Reader,
  after: GivenOnPlace,
  limit: number,
): Promise<{ readonly tenantId: TenantId; readonly share: Share }[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('is_derived', '=', derived)
    .where((row) => row(row.refTuple('tenant_id', 'share_id'), '>', row.tuple(after.tenantId, after.shareId)))
    .orderBy('tenant_id')
    .orderBy('share_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, share: toShare(row) }))
}

/** Lets shares that were given on count for nothing, within this transaction. Answers those that still are there. */
export async function setAside(tx: Writer, shares: readonly Share[]): Promise<Share[]> {
  const aside: Share[] = []
  for (let start = 0; start < shares.length; start += idsPerStatement) {
    const rows = await tx
      .tables<ShareTables>()
      .updateTable('shares')
      .set({ is_derived: asideMark })
      .where('tenant_id', '=', tx.tenantId)
      .where('is_derived', '=', 1)
      .where(
        'share_id',
        'in',
        shares.slice(start, start + idsPerStatement).map(({ shareId }) => shareId),
      )
      .returningAll()
      .execute()
    aside.push(...rows.map(toShare))
  }
  return aside
}

/** Lets shares count again that were set aside. */
export async function reinstate(tx: Writer, shares: readonly Share[]): Promise<void> {
  for (let start = 0; start < shares.length; start += idsPerStatement)
    await tx
      .tables<ShareTables>()
      .updateTable('shares')
      .set({ is_derived: 1 })
      .where('tenant_id', '=', tx.tenantId)
      .where(
        'share_id',
        'in',
        shares.slice(start, start + idsPerStatement).map(({ shareId }) => shareId),
      )
      .execute()
}

/** When the shares end by which an identity may have a right, the latest first. */
export async function listEnds(reader: Reader, idTag: IdTag, now: number): Promise<number[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .select('expires_at')
    .distinct()
    .where('tenant_id', '=', reader.tenantId)
    .where('expires_at', '>', now)
    .where((row) =>
      row.or([
        row('subject_type', '=', 'F'),
        row.and([row('subject_type', '=', 'U'), row('subject_id', '=', idTag)]),
      ]),
    )
    .orderBy('expires_at', 'desc')
    .execute()
  return rows.map((row) => Number(row.expires_at))
}

/** The shares of files, whoever made them. */
export async function listSharesOfFiles(reader: Reader, fileIds: readonly FileId[]): Promise<Share[]> {
  const shares: Share[] = []
  for (let start = 0; start < fileIds.length; start += idsPerStatement) {
    const rows = await reader
      .tables<ShareTables>()
      .selectFrom('shares')
      .selectAll()
      .where('tenant_id', '=', reader.tenantId)
      .where('resource_id', 'in', fileIds.slice(start, start + idsPerStatement))
      .execute()
    shares.push(...rows.map(toShare))
  }
  return shares
}

/** NOTE: over all tenants: shares that have expired, the earliest first: in the order of the index that holds them. */
export async function listExpired(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ readonly tenantId: TenantId; readonly share: Share }[]> {
  const rows = await reader
    .tables<ShareTables>()
    .selectFrom('shares')
    .selectAll()
    .where('expires_at', 'is not', null)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, share: toShare(row) }))
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
    refHash: row.ref_hash ?? undefined,
  }
}
