import { type Reader, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'

/** A value as it is stored: JSON text, in the open or sealed. */
export interface StoredSetting {
  readonly name: string
  readonly text?: string
  readonly sealed?: Uint8Array
}

interface SettingRow {
  tenant_id: TenantId
  name: string
  value: string | null
  value_sealed: Uint8Array | null
  is_free: number
  bytes: number
  updated_at: number
}
interface SettingTables {
  settings: SettingRow
}

/** The values of defined settings that concern the reader's tenant: its own, and those for every tenant. */
export async function listDefinedSettings(
  reader: Reader,
): Promise<{ tenantId: TenantId; setting: StoredSetting }[]> {
  const rows = await reader
    .tables<SettingTables>()
    .selectFrom('settings')
    .selectAll()
    .where('tenant_id', 'in', [reader.tenantId, serverTenant])
    .where('is_free', '=', 0)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, setting: fromRow(row) }))
}

/** The values of a setting of these tenants, and the one for every tenant. */
export async function listSettingOf(
  reader: Reader,
  name: string,
  tenantIds: readonly TenantId[],
): Promise<{ tenantId: TenantId; setting: StoredSetting }[]> {
  const rows = await reader
    .tables<SettingTables>()
    .selectFrom('settings')
    .selectAll()
    .where('name', '=', name)
    .where('tenant_id', 'in', [...tenantIds, serverTenant])
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id, setting: fromRow(row) }))
}

/** The tenant's values under free names. */
export async function listFreeSettings(reader: Reader): Promise<StoredSetting[]> {
  const rows = await reader
    .tables<SettingTables>()
    .selectFrom('settings')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('is_free', '=', 1)
    .orderBy('name')
    .execute()
  return rows.map(fromRow)
}

/** What the tenant's values under free names take, but for one of them. */
export async function sumFreeSettings(
  reader: Reader,
  exceptName: string,
): Promise<{ names: number; bytes: number }> {
  const row = await reader
    .tables<SettingTables>()
    .selectFrom('settings')
    .select((eb) => [
      eb.fn.countAll<number>().as('names'),
      eb.fn.coalesce(eb.fn.sum<number>('bytes'), eb.lit(0)).as('bytes'),
    ])
    .where('tenant_id', '=', reader.tenantId)
    .where('is_free', '=', 1)
    .where('name', '!=', exceptName)
    .executeTakeFirstOrThrow()
  return { names: Number(row.names), bytes: Number(row.bytes) }
}

export async function findStoredSetting(reader: Reader, name: string): Promise<StoredSetting | undefined> {
  const row = await reader
    .tables<SettingTables>()
    .selectFrom('settings')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('name', '=', name)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function putStoredSetting(
  tx: Writer,
  { name, text, sealed, isFree, now }: StoredSetting & { isFree: boolean; now: number },
): Promise<void> {
  const bytes = sealed?.length ?? Buffer.byteLength(text ?? '')
  const values = { value: text ?? null, value_sealed: sealed ?? null, bytes, updated_at: now }
  await tx
    .tables<SettingTables>()
    .insertInto('settings')
    .values({ tenant_id: tx.tenantId, name, is_free: isFree ? 1 : 0, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet(values))
    .execute()
}

/** False when there was none. */
export async function deleteStoredSetting(tx: Writer, name: string): Promise<boolean> {
  const result = await tx
    .tables<SettingTables>()
    .deleteFrom('settings')
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .executeTakeFirst()
  return Number(result.numDeletedRows) > 0
}

function fromRow({ name, value, value_sealed }: SettingRow): StoredSetting {
  return {
    name,
    ...(value === null ? {} : { text: value }),
    ...(value_sealed === null ? {} : { sealed: value_sealed }),
  }
}
