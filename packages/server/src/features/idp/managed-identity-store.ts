import { type CursorPage, foldText, type IdTag, type ManagedStatus, type OffsetPage } from '@kith/protocol'
import { type Selectable, sql } from 'kysely'
import { contains, keysetPage, type Reader, type TenantId, type Writer } from '#infra/db/index.ts'
import type { ManagedIdentity } from './managed-identity.ts'
import { searchColumns } from './search-columns.ts'
import { reversedName } from './zone/reversed-name.ts'

interface IdentityTables {
  managed_identities: {
    tenant_id: TenantId
    id_tag: IdTag
    label: string
    email: string | null
    registrar_tag: IdTag
    owner_tag: IdTag | null
    address: string | null
    address_updated_at: number | null
    status: ManagedStatus
    dyndns: number
    created_at: number
    updated_at: number
    expires_at: number
    last_seen_at: number | null
    grace_ends_at: number | null
    reversed_name: string
    /** The name as its A-labels and as people write it, folded. */
    search_name: string
    search_email: string
  }
}
type IdentityRow = Selectable<IdentityTables['managed_identities']>

/** False when the name is managed already, by any provider of this server. */
export async function insertIdentity(tx: Writer, identity: ManagedIdentity): Promise<boolean> {
  const row = {
    tenant_id: tx.tenantId,
    id_tag: identity.idTag,
    label: labelOf(identity.idTag),
    reversed_name: reversedName(identity.idTag),
    ...searchColumns(identity.idTag, identity.email),
    email: identity.email ?? null,
    registrar_tag: identity.registrarTag,
    owner_tag: identity.ownerTag ?? null,
    ...toColumns(identity),
    created_at: identity.createdAt,
  }
  const inserted = await tx
    .tables<IdentityTables>()
    .insertInto('managed_identities')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id_tag')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Writes what can change of an identity. */
export async function updateIdentity(tx: Writer, identity: ManagedIdentity): Promise<void> {
  await tx
    .tables<IdentityTables>()
    .updateTable('managed_identities')
    .set(toColumns(identity))
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', identity.idTag)
    .execute()
}

/** Its keys go along. */
export async function deleteIdentity(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<IdentityTables>()
    .deleteFrom('managed_identities')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

export async function findIdentity(reader: Reader, idTag: IdTag): Promise<ManagedIdentity | undefined> {
  const row = await reader
    .tables<IdentityTables>()
    .selectFrom('managed_identities')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('id_tag', '=', idTag)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Those whose name begins with this label, the shortest first; at most two. */
export async function listByLabel(reader: Reader, label: string): Promise<ManagedIdentity[]> {
  const rows = await reader
    .tables<IdentityTables>()
    .selectFrom('managed_identities')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('label', '=', label)
    .orderBy((row) => row.fn<number>('length', ['id_tag']))
    .limit(2)
    .execute()
  return rows.map(fromRow)
}

/** Is one of the names managed by any provider of this server? */
export async function isManaged(reader: Reader, names: readonly IdTag[]): Promise<boolean> {
  const row = await reader
    .tables<IdentityTables>()
    .selectFrom('managed_identities')
    .select('id_tag')
    .where('id_tag', 'in', names)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

interface IdentityFilter {
  /** Only those that this identity registered, owns or is; all when absent. */
  readonly visibleTo?: IdTag | undefined
  readonly email?: string | undefined
  readonly registrarTag?: IdTag | undefined
  readonly ownerTag?: IdTag | undefined
  readonly status?: ManagedStatus | undefined
  readonly q?: string | undefined
}

/** Newest first, with the number of all that the filter lets through. */
export async function listIdentities(
  reader: Reader,
  { offset, limit, ...filter }: IdentityFilter & { readonly offset: number; readonly limit: number },
): Promise<OffsetPage<ManagedIdentity>> {
  const { total } = await matching(reader, filter)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await matching(reader, filter)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id_tag', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return { items: rows.map(fromRow), total: Number(total), offset, limit }
}

/** The same from a cursor on; from the beginning without one. */
export async function pageIdentities(
  reader: Reader,
  {
    cursor,
    limit,
    ...filter
  }: IdentityFilter & { readonly cursor: string | undefined; readonly limit: number },
): Promise<CursorPage<ManagedIdentity>> {
  const page = await keysetPage(
    matching(reader, filter).selectAll(),
    { sort: 'created', column: 'created_at', kind: 'integer', idColumn: 'id_tag', idKind: 'text' },
    { direction: 'desc', cursor, limit },
  )
  return { ...page, items: page.items.map(fromRow) }
}

function matching(reader: Reader, filter: IdentityFilter) {
  const { visibleTo, email, registrarTag, ownerTag, status, q } = filter
  const { dialect } = reader
  let query = reader
    .tables<IdentityTables>()
    .selectFrom('managed_identities')
    .where('tenant_id', '=', reader.tenantId)
  if (visibleTo !== undefined)
    query = query.where((row) =>
      row.or([
        row('registrar_tag', '=', visibleTo),
        row('owner_tag', '=', visibleTo),
        row.and([row('id_tag', '=', visibleTo), row('owner_tag', 'is', null)]),
      ]),
    )
  const inAddress = (text: string) =>
    visibleTo === undefined
      ? contains(dialect, 'search_email', foldText(text))
      : sql<boolean>`(${contains(dialect, 'search_email', foldText(text))} and ${seesAddress(visibleTo)})`
  if (email !== undefined) query = query.where(inAddress(email))
  if (registrarTag !== undefined) query = query.where('registrar_tag', '=', registrarTag)
  if (ownerTag !== undefined) query = query.where('owner_tag', '=', ownerTag)
  if (status !== undefined) query = query.where('status', '=', status)
  if (q !== undefined)
    query = query.where((row) => row.or([contains(dialect, 'search_name', foldText(q)), inAddress(q)]))
  return query
}

/** The rule of `shownTo`, for lists: what is not shown is not searched. */
function seesAddress(idTag: IdTag) {
  return sql<boolean>`(status = 'pending' or owner_tag = ${idTag} or (id_tag = ${idTag} and owner_tag is null))`
}

/** NOTE: over all tenants: those whose time is over, of each provider the oldest first. Providers take turns. Suspended
 * ones stay. */
export async function listEnded(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ tenantId: TenantId; idTag: IdTag; status: ManagedStatus }[]> {
  const turn = sql<number>`row_number() over (partition by tenant_id order by expires_at)`
  const rows = await reader
    .tables<IdentityTables>()
    .selectFrom('managed_identities')
    .select(['tenant_id', 'id_tag', 'status'])
    .where('status', '<>', 'suspended')
    .where('expires_at', '<=', now)
    .orderBy(turn)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, idTag: row.id_tag, status: row.status }))
}

function labelOf(idTag: IdTag): string {
  return idTag.slice(0, idTag.indexOf('.'))
}

function toColumns(identity: ManagedIdentity) {
  return {
    address: identity.address ?? null,
    address_updated_at: identity.addressUpdatedAt ?? null,
    status: identity.status,
    dyndns: identity.isDynamic ? 1 : 0,
    updated_at: identity.updatedAt,
    expires_at: identity.expiresAt,
    last_seen_at: identity.lastSeenAt ?? null,
    grace_ends_at: identity.graceEndsAt ?? null,
  }
}

function fromRow(row: IdentityRow): ManagedIdentity {
  return {
    idTag: row.id_tag,
    registrarTag: row.registrar_tag,
    status: row.status,
    isDynamic: row.dyndns === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    ...(row.email === null ? {} : { email: row.email }),
    ...(row.grace_ends_at === null ? {} : { graceEndsAt: row.grace_ends_at }),
    ...(row.owner_tag === null ? {} : { ownerTag: row.owner_tag }),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.address_updated_at === null ? {} : { addressUpdatedAt: row.address_updated_at }),
    ...(row.last_seen_at === null ? {} : { lastSeenAt: row.last_seen_at }),
  }
}
