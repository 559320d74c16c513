import type { IdTag } from '@kith/protocol'
import type { Generated, Selectable } from 'kysely'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { HostedTenant, UnderWay } from './tenant.ts'

interface TenantTable {
  tenant_id: Generated<TenantId>
  id_tag: string
  type: string
  app_domain: string | null
  owner_tag: IdTag | null
  is_base: number
  suspended_at: number | null
  under_way: Generated<string | null>
  created_at: number
  hosted_since: number
  sign_in_epoch: Generated<number>
}
export interface TenantTables {
  tenants: TenantTable
  server_admins: { tenant_id: number; id_tag: string; appointed_at: number }
}
type TenantRow = Selectable<TenantTable>

const selectById = statement<TenantTables, { tenantId: TenantId }, TenantRow>((tables, value) =>
  tables.selectFrom('tenants').selectAll().where('tenant_id', '=', value('tenantId')),
)

const selectEntry = statement<
  TenantTables,
  { tenantId: TenantId },
  Pick<TenantRow, 'suspended_at' | 'sign_in_epoch'>
>((tables, value) =>
  tables
    .selectFrom('tenants')
    .select(['suspended_at', 'sign_in_epoch'])
    .where('tenant_id', '=', value('tenantId')),
)

const selectByIdTag = statement<TenantTables, { idTag: IdTag }, TenantRow>((tables, value) =>
  tables.selectFrom('tenants').selectAll().where('id_tag', '=', value('idTag')),
)

const selectByHost = statement<TenantTables, { host: string }, TenantRow>((tables, value) =>
  tables
    .selectFrom('tenants')
    .selectAll()
    .where((either) =>
      either.or([either('id_tag', '=', value('host')), either('app_domain', '=', value('host'))]),
    )
    .orderBy((by) => by.case().when('id_tag', '=', value('host')).then(0).else(1).end()),
)

const selectBase = statement<TenantTables, Record<never, never>, TenantRow>((tables) =>
  tables.selectFrom('tenants').selectAll().where('is_base', '=', 1),
)

const selectAppointment = statement<TenantTables, { baseId: number; idTag: string }, { id_tag: string }>(
  (tables, value) =>
    tables
      .selectFrom('server_admins')
      .select('id_tag')
      .where('tenant_id', '=', value('baseId'))
      .where('id_tag', '=', value('idTag')),
)

// The rows of this table are the tenants themselves: the one place where a query is not bound to the handle's tenant.

export async function findTenantById(reader: Reader, tenantId: TenantId): Promise<HostedTenant | undefined> {
  return toTenant(await reader.first(selectById, { tenantId }))
}

export async function findTenantByIdTag(reader: Reader, idTag: IdTag): Promise<HostedTenant | undefined> {
  return toTenant(await reader.first(selectByIdTag, { idTag }))
}

export async function findTenantByHost(reader: Reader, host: string): Promise<HostedTenant | undefined> {
  return toTenant(await reader.first(selectByHost, { host }))
}

export async function findBaseTenant(reader: Reader): Promise<HostedTenant | undefined> {
  return toTenant(await reader.first(selectBase, {}))
}

export async function listTenantsAfter(
  reader: Reader,
  after: TenantId,
  limit: number,
): Promise<HostedTenant[]> {
  const rows = await reader
    .tables<TenantTables>()
    .selectFrom('tenants')
    .selectAll()
    .where('tenant_id', '>', after)
    .orderBy('tenant_id')
    .limit(limit)
    .execute()
  return rows.map(fromRow)
}

/** Those with these numbers, and those with these names. */
export async function listTenants(
  reader: Reader,
  { tenantIds, idTags }: { readonly tenantIds: readonly TenantId[]; readonly idTags: readonly IdTag[] },
): Promise<HostedTenant[]> {
  const rows: TenantRow[] = []
  // As many values as both databases take with ease.
  for (let from = 0; from < Math.max(tenantIds.length, idTags.length); from += 5000) {
    const [ids, tags] = [tenantIds.slice(from, from + 5000), idTags.slice(from, from + 5000)]
    const either = await reader
      .tables<TenantTables>()
      .selectFrom('tenants')
      .selectAll()
      .where((row) =>
        row.or([
          ...(ids.length === 0 ? [] : [row('tenant_id', 'in', ids)]),
          ...(tags.length === 0 ? [] : [row('id_tag', 'in', tags)]),
        ]),
      )
      .execute()
    rows.push(...either)
  }
  return rows.map(fromRow)
}

export async function countTenants(reader: Reader): Promise<number> {
  const { total } = await reader
    .tables<TenantTables>()
    .selectFrom('tenants')
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** Which of the identities are tenants of this server. */
export async function listHosted(reader: Reader, idTags: readonly IdTag[]): Promise<Set<IdTag>> {
  if (idTags.length === 0) return new Set()
  const rows = await reader
    .tables<TenantTables>()
    .selectFrom('tenants')
    .select('id_tag')
    .where('id_tag', 'in', idTags)
    .execute()
  return new Set(rows.map((row) => row.id_tag as IdTag))
}

/** Undefined when the name is taken, or when there is a base tenant already. */
export async function insertTenant(
  tx: Writer,
  tenant: Omit<HostedTenant, 'tenantId'>,
  hostedSince: number,
): Promise<TenantId | undefined> {
  const inserted = await tx
    .tables<TenantTables>()
    .insertInto('tenants')
    .values({
      id_tag: tenant.idTag,
      type: tenant.type,
      app_domain: tenant.appDomain ?? null,
      owner_tag: tenant.ownerTag ?? null,
      is_base: tenant.isBase ? 1 : 0,
      suspended_at: tenant.suspendedAt ?? null,
      under_way: tenant.underWay ?? null,
      created_at: tenant.createdAt,
      hosted_since: hostedSince,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('tenant_id')
    .executeTakeFirst()
  return inserted?.tenant_id
}

/** Since when the reader's tenant is on this server, in Unix seconds. `createdAt` may be of another one. */
export async function findHostedSince(reader: Reader): Promise<number> {
  const row = await reader
    .tables<TenantTables>()
    .selectFrom('tenants')
    .select('hosted_since')
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row?.hosted_since ?? 0
}

export async function updateSuspension(tx: Writer, suspendedAt: number | null): Promise<void> {
  await tx
    .tables<TenantTables>()
    .updateTable('tenants')
    .set({ suspended_at: suspendedAt })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

/** Notes what the suspended tenant of `tx` is in the middle of. False when there is none, or one that is not suspended. */
export async function updateUnderWay(tx: Writer, underWay: UnderWay | null): Promise<boolean> {
  const updated = await tx
    .tables<TenantTables>()
    .updateTable('tenants')
    .set({ under_way: underWay })
    .where('tenant_id', '=', tx.tenantId)
    .where('suspended_at', 'is not', null)
    .returning('tenant_id')
    .executeTakeFirst()
  return updated !== undefined
}

/** Whether the reader's tenant is suspended, and the epoch of its sign-ins. */
export async function findEntry(
  reader: Reader,
): Promise<{ readonly isSuspended: boolean; readonly epoch: number } | undefined> {
  const row = await reader.first(selectEntry, { tenantId: reader.tenantId })
  return row && { isSuspended: row.suspended_at !== null, epoch: row.sign_in_epoch }
}

/** Lets no sign-in through that was checked before this transaction. */
export async function endSignInEpoch(tx: Writer): Promise<void> {
  await tx
    .tables<TenantTables>()
    .updateTable('tenants')
    .set((row) => ({ sign_in_epoch: row('sign_in_epoch', '+', 1) }))
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

/** The base tenant stays. */
export async function deleteTenant(tx: Writer): Promise<void> {
  await tx
    .tables<TenantTables>()
    .deleteFrom('tenants')
    .where('tenant_id', '=', tx.tenantId)
    .where('is_base', '=', 0)
    .execute()
}

/** Has the base tenant, whose reader this is, made this identity an administrator of the server? */
export async function isAppointedAdmin(reader: Reader, idTag: IdTag): Promise<boolean> {
  return (await reader.first(selectAppointment, { baseId: reader.tenantId, idTag })) !== undefined
}

/** Whom the base tenant, whose reader this is, has made administrators. */
export async function listAppointedAdmins(reader: Reader): Promise<IdTag[]> {
  const rows = await reader
    .tables<TenantTables>()
    .selectFrom('server_admins')
    .select('id_tag')
    .where('tenant_id', '=', reader.tenantId)
    .execute()
  return rows.map((row) => row.id_tag as IdTag)
}

export async function insertAppointment(tx: Writer, idTag: IdTag, appointedAt: number): Promise<void> {
  await tx
    .tables<TenantTables>()
    .insertInto('server_admins')
    .values({ tenant_id: tx.tenantId, id_tag: idTag, appointed_at: appointedAt })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteAppointment(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<TenantTables>()
    .deleteFrom('server_admins')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

function toTenant(row: TenantRow | undefined): HostedTenant | undefined {
  return row && fromRow(row)
}

export function fromRow(row: TenantRow): HostedTenant {
  return {
    tenantId: row.tenant_id,
    idTag: row.id_tag as IdTag,
    type: row.type === 'community' ? 'community' : 'person',
    isBase: row.is_base === 1,
    createdAt: row.created_at,
    ...(row.app_domain === null ? {} : { appDomain: row.app_domain }),
    ...(row.owner_tag === null ? {} : { ownerTag: row.owner_tag }),
    ...(row.suspended_at === null ? {} : { suspendedAt: row.suspended_at }),
    ...(row.under_way === null ? {} : { underWay: row.under_way as UnderWay }),
  }
}
