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

interface StoredVapidKey {
  /** The uncompressed point, base64url. */
  readonly publicKey: string
  readonly privateKeySealed: Uint8Array
}

/** The key of the reader's tenant. */
export async function findStoredVapidKey(reader: Reader): Promise<StoredVapidKey | undefined> {
  const row = await reader
    .tables<PushTables>()
    .selectFrom('vapid_keys')
    .select(['public_key', 'private_key_sealed'])
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row && { publicKey: row.public_key, privateKeySealed: row.private_key_sealed }
}

/** The first one stays. */
export async function insertVapidKey(
  tx: Writer,
  key: StoredVapidKey & { readonly createdAt: number },
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
