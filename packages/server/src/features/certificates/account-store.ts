import type { Reader, Writer } from '#infra/db/index.ts'

interface AccountTables {
  acme_accounts: {
    directory: string
    tenant_id: number
    sealed_key: Uint8Array
    url: string | null
    created_at: number
  }
}

export interface StoredAccount {
  readonly sealedKey: Uint8Array
  /** Undefined until the authority has taken the key. */
  readonly url: string | undefined
}

// All of these take a handle of the server's own tenant: it has one account with each authority.

export async function findAccount(reader: Reader, directory: string): Promise<StoredAccount | undefined> {
  const row = await reader
    .tables<AccountTables>()
    .selectFrom('acme_accounts')
    .select(['sealed_key', 'url'])
    .where('tenant_id', '=', reader.tenantId)
    .where('directory', '=', directory)
    .executeTakeFirst()
  return row && { sealedKey: row.sealed_key, url: row.url ?? undefined }
}

/** The first one stays. */
export async function insertAccount(
  tx: Writer,
  directory: string,
  account: { readonly sealedKey: Uint8Array; readonly now: number },
): Promise<void> {
  const { sealedKey, now } = account
  await tx
    .tables<AccountTables>()
    .insertInto('acme_accounts')
    .values({ directory, tenant_id: tx.tenantId, sealed_key: sealedKey, created_at: now })
    .onConflict((conflict) => conflict.column('directory').doNothing())
    .execute()
}

export async function setAccountUrl(tx: Writer, directory: string, url: string | undefined): Promise<void> {
  await tx
    .tables<AccountTables>()
    .updateTable('acme_accounts')
    .set({ url: url ?? null })
    .where('tenant_id', '=', tx.tenantId)
    .where('directory', '=', directory)
    .execute()
}

/** Puts another key in the place of the former one, where that is still there and was made before a time. The authority does
 * not know the new one yet. */
export async function replaceAccountKey(
  tx: Writer,
  directory: string,
  {
    former,
    sealedKey,
    now,
    madeBefore,
  }: {
    readonly former: Uint8Array
    readonly sealedKey: Uint8Array
    readonly now: number
    readonly madeBefore: number
  },
): Promise<void> {
  await tx
    .tables<AccountTables>()
    .updateTable('acme_accounts')
    .set({ sealed_key: sealedKey, url: null, created_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('directory', '=', directory)
    .where('sealed_key', '=', former)
    .where('created_at', '<', madeBefore)
    .execute()
}
