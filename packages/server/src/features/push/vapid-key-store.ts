import type { Reader, Writer } from '#infra/db/index.ts'

interface VapidKeyRow {
  tenant_id: number
  public_key: string
  private_key_sealed: Uint8Array
  created_at: number
}

interface PushTables {
  vapid_keys: VapidKeyRow
}

/** The public key of the reader's tenant, base64url. */
export async function findVapidKey(reader: Reader): Promise<string | undefined> {
  const row = await reader
    .tables<PushTables>()
    .selectFrom('vapid_keys')
    .select('public_key')
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row?.public_key
}

/** The first one stays. */
export async function insertVapidKey(
  tx: Writer,
  key: { readonly publicKey: string; readonly privateKeySealed: Uint8Array; readonly createdAt: number },
): Promise<void> {
  await tx
    .tables<PushTables>()
    .insertInto('vapid_keys')
    .values({
      tenant_id: tx.tenantId,
      public_key: key.publicKey,
      private_key_sealed: key.privateKeySealed,
      created_at: key.createdAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id']).doNothing())
    .execute()
}
