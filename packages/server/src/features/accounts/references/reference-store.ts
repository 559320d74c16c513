import { hash } from 'node:crypto'
import { type IdTag, type ReferenceType, type RefId, referenceTypes } from '@kith/protocol'
import type { Insertable, Selectable } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { SealedColumn, Vault } from '#infra/keys/index.ts'
import { isRecovery, type Reference } from './reference.ts'

interface ReferenceTables {
  refs: {
    tenant_id: number
    ref_hash: string
    ref_sealed: Uint8Array
    type: ReferenceType
    created_by: IdTag | null
    description: string | null
    created_at: number
    expires_at: number | null
    count: number | null
    resource_id: string | null
    access_level: string | null
  }
}
type ReferenceRow = Selectable<ReferenceTables['refs']>

const sealPurpose = 'reference.id'

export const referencesSealed: SealedColumn = {
  table: 'refs',
  column: 'ref_sealed',
  purpose: sealPurpose,
  withoutSecret: 'no row',
}

/** The name of a reference in the database: a dump does not give the ids away. */
export function referenceHash(refId: RefId): string {
  return hash('sha256', refId, 'base64url')
}

/** The session that all tokens of a reference share. */
export function referenceSid(refId: RefId): string {
  return sidOf(referenceHash(refId))
}

export function sidOf(refHash: string): string {
  return `ref-${refHash}`
}

export async function insertReference(vault: Vault, tx: Writer, reference: Reference): Promise<void> {
  const row: Insertable<ReferenceTables['refs']> = {
    tenant_id: tx.tenantId,
    ref_hash: referenceHash(reference.refId),
    ref_sealed: vault.seal(sealPurpose, tx.tenantId, Buffer.from(reference.refId)),
    type: reference.type,
    created_by: reference.createdBy ?? null,
    description: reference.description ?? null,
    created_at: reference.createdAt,
    expires_at: reference.expiresAt ?? null,
    count: reference.count,
    resource_id: reference.resourceId ?? null,
    access_level: reference.accessLevel ?? null,
  }
  await tx.tables<ReferenceTables>().insertInto('refs').values(row).execute()
}

export async function findReference(reader: Reader, refId: RefId): Promise<Reference | undefined> {
  const row = await reader
    .tables<ReferenceTables>()
    .selectFrom('refs')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('ref_hash', '=', referenceHash(refId))
    .executeTakeFirst()
  return row && fromRow(row, refId)
}

/** Is there still a reference with this name in the database, which has not expired? */
export async function isLiveReference(reader: Reader, refHash: string, now: number): Promise<boolean> {
  const row = await reader
    .tables<ReferenceTables>()
    .selectFrom('refs')
    .select('expires_at')
    .where('tenant_id', '=', reader.tenantId)
    .where('ref_hash', '=', refHash)
    .executeTakeFirst()
  return row !== undefined && (row.expires_at ?? Number.POSITIVE_INFINITY) > now
}

/** Does a reference that has not expired give access to one of these files? Used up or not: guests who have used it
 * keep their access. */
export async function hasFileReferences(
  reader: Reader,
  { fileIds, now }: { readonly fileIds: readonly string[]; readonly now: number },
): Promise<boolean> {
  if (fileIds.length === 0) return false
  const row = await reader
    .tables<ReferenceTables>()
    .selectFrom('refs')
    .select('resource_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('resource_id', 'in', fileIds)
    .where('type', '=', 'share.file')
    .where((ref) => ref.or([ref('expires_at', 'is', null), ref('expires_at', '>', now)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** For jobs, which must not keep the id itself. */
export async function findReferenceByHash(
  vault: Vault,
  reader: Reader,
  refHash: string,
): Promise<Reference | undefined> {
  const row = await reader
    .tables<ReferenceTables>()
    .selectFrom('refs')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('ref_hash', '=', refHash)
    .executeTakeFirst()
  return row && fromRow(row, unsealed(vault, reader.tenantId, row.ref_sealed))
}

/** When the server itself made references of a type for the tenant, newest first. */
export async function listMakingTimes(reader: Reader, type: ReferenceType, limit: number): Promise<number[]> {
  const rows = await ofServer(reader, type).select('created_at').limit(limit).execute()
  return rows.map(({ created_at }) => created_at)
}

/** The newest reference of a type that the server itself made and that can still be used. */
export async function findLiveReference(
  reader: Reader,
  type: ReferenceType,
  now: number,
): Promise<Pick<Reference, 'resourceId' | 'expiresAt'> | undefined> {
  const row = await ofServer(reader, type)
    .select(['resource_id', 'expires_at'])
    .where('count', '>', 0)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return (
    row && {
      ...(row.resource_id === null ? {} : { resourceId: row.resource_id }),
      ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    }
  )
}

function ofServer(reader: Reader, type: ReferenceType) {
  return reader
    .tables<ReferenceTables>()
    .selectFrom('refs')
    .where('tenant_id', '=', reader.tenantId)
    .where('created_by', 'is', null)
    .where('type', '=', type)
    .orderBy('created_at', 'desc')
}

/** Uses a reference up by one. False when it is used up, has expired or was deleted meanwhile: one conditional update,
 * so that of parallel uses of a one-use reference exactly one succeeds. */
export async function takeOneUse(tx: Writer, refId: RefId, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<ReferenceTables>()
    .updateTable('refs')
    .set((row) => ({ count: row('count', '-', 1) }))
    .where('tenant_id', '=', tx.tenantId)
    .where('ref_hash', '=', referenceHash(refId))
    .where((row) => row.or([row('count', 'is', null), row('count', '>', 0)]))
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Makes all references of these types worthless, or only those to one resource. */
export async function exhaustReferences(
  tx: Writer,
  types: readonly ReferenceType[],
  resourceId?: string,
): Promise<void> {
  const ofTypes = tx
    .tables<ReferenceTables>()
    .updateTable('refs')
    .set({ count: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('type', 'in', types)
  await (resourceId === undefined ? ofTypes : ofTypes.where('resource_id', '=', resourceId)).execute()
}

/** False when there is no such reference. */
export async function updateReference(
  tx: Writer,
  refHash: string,
  change: Pick<Reference, 'accessLevel' | 'createdBy'> & { readonly expiresAt: number | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<ReferenceTables>()
    .updateTable('refs')
    .set({
      access_level: change.accessLevel ?? null,
      created_by: change.createdBy ?? null,
      expires_at: change.expiresAt ?? null,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('ref_hash', '=', refHash)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function removeReference(tx: Writer, refId: RefId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .tables<ReferenceTables>()
    .deleteFrom('refs')
    .where('tenant_id', '=', tx.tenantId)
    .where('ref_hash', '=', referenceHash(refId))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Removes all references of these types, of every maker. */
export async function removeReferences(tx: Writer, types: readonly ReferenceType[]): Promise<void> {
  await tx
    .tables<ReferenceTables>()
    .deleteFrom('refs')
    .where('tenant_id', '=', tx.tenantId)
    .where('type', 'in', types)
    .execute()
}

export interface ReferenceFilter {
  readonly createdBy?: IdTag
  readonly type?: ReferenceType
  readonly resourceId?: string
  readonly withoutRecovery?: boolean
  /** The owner whose activations are listed although they recover an account. */
  readonly activationsOf?: IdTag
  readonly state: 'active' | 'used' | 'expired' | 'all'
  readonly now: number
}

/** Newest first, with the number of all that the filter lets through. */
export async function listReferenceRows(
  vault: Vault,
  reader: Reader,
  { offset, limit, ...filter }: ReferenceFilter & { offset: number; limit: number },
): Promise<{ references: Reference[]; total: number }> {
  const { total } = await matching(reader, filter)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await matching(reader, filter)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('ref_hash')
    .offset(offset)
    .limit(limit)
    .execute()
  const references = rows.map((row) => fromRow(row, unsealed(vault, reader.tenantId, row.ref_sealed)))
  return { references, total: Number(total) }
}

const recoveryTypes = referenceTypes.filter(isRecovery)

function matching(
  reader: Reader,
  { createdBy, type, resourceId, withoutRecovery, activationsOf, state, now }: ReferenceFilter,
) {
  let query = reader.tables<ReferenceTables>().selectFrom('refs').where('tenant_id', '=', reader.tenantId)
  if (createdBy !== undefined) query = query.where('created_by', '=', createdBy)
  if (type !== undefined) query = query.where('type', '=', type)
  if (resourceId !== undefined) query = query.where('resource_id', '=', resourceId)
  if (withoutRecovery)
    query = query.where((row) => {
      const others = row('type', 'not in', recoveryTypes)
      if (activationsOf === undefined) return others
      return row.or([
        others,
        row.and([row('type', '=', 'idp-activate'), row('created_by', '=', activationsOf)]),
      ])
    })
  if (state === 'used') query = query.where('count', '=', 0)
  if (state === 'expired') query = query.where('expires_at', '<=', now)
  if (state === 'active')
    query = query
      .where((row) => row.or([row('count', 'is', null), row('count', '>', 0)]))
      .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now)]))
  return query
}

function unsealed(vault: Vault, tenantId: TenantId, sealed: Uint8Array): RefId {
  return Buffer.from(vault.unseal(sealPurpose, tenantId, sealed)).toString() as RefId
}

function fromRow(row: ReferenceRow, refId: RefId): Reference {
  return {
    refId,
    type: row.type,
    createdAt: row.created_at,
    count: row.count,
    ...(row.created_by === null ? {} : { createdBy: row.created_by }),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.resource_id === null ? {} : { resourceId: row.resource_id }),
    ...(row.access_level === null ? {} : { accessLevel: row.access_level === 'write' ? 'write' : 'read' }),
  }
}
