import type { Reader, TenantId, Writer } from '#infra/db/index.ts'

/** How the owner of a tenant signs in; a community has none. */
export interface Account {
  readonly email?: string
  readonly emailVerifiedAt?: number
  readonly passwordHash?: string
  readonly passwordSetAt?: number
  readonly swKeySealed: Uint8Array
  readonly createdAt: number
}

interface AccountTables {
  accounts: {
    tenant_id: number
    email: string | null
    email_verified_at: number | null
    password_hash: string | null
    password_set_at: number | null
    sw_key_sealed: Uint8Array
    created_at: number
  }
}

/** The account of the reader's tenant. */
export async function findAccount(reader: Reader): Promise<Account | undefined> {
  const row = await reader
    .tables<AccountTables>()
    .selectFrom('accounts')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return (
    row && {
      swKeySealed: row.sw_key_sealed,
      createdAt: row.created_at,
      ...(row.email === null ? {} : { email: row.email }),
      ...(row.email_verified_at === null ? {} : { emailVerifiedAt: row.email_verified_at }),
      ...(row.password_hash === null ? {} : { passwordHash: row.password_hash }),
      ...(row.password_set_at === null ? {} : { passwordSetAt: row.password_set_at }),
    }
  )
}

/** NOTE: over all tenants: the first of those whose account has no address, and how many there are. */
export async function listWithoutEmail(
  reader: Reader,
  limit: number,
): Promise<{ tenantIds: TenantId[]; total: number }> {
  const without = () => reader.tables<AccountTables>().selectFrom('accounts').where('email', 'is', null)
  const rows = await without().select('tenant_id').orderBy('tenant_id').limit(limit).execute()
  const { total } = await without()
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { tenantIds: rows.map((row) => row.tenant_id as TenantId), total: Number(total) }
}

export async function insertAccount(
  tx: Writer,
  account: Pick<Account, 'email' | 'swKeySealed' | 'createdAt'>,
): Promise<void> {
  await tx
    .tables<AccountTables>()
    .insertInto('accounts')
    .values({
      tenant_id: tx.tenantId,
      email: account.email ?? null,
      email_verified_at: null,
      password_hash: null,
      password_set_at: null,
      sw_key_sealed: account.swKeySealed,
      created_at: account.createdAt,
    })
    .execute()
}

export async function updatePassword(tx: Writer, password: { hash: string; setAt: number }): Promise<void> {
  await tx
    .tables<AccountTables>()
    .updateTable('accounts')
    .set({ password_hash: password.hash, password_set_at: password.setAt })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

export async function updateEmailVerified(tx: Writer, verifiedAt: number): Promise<void> {
  await tx
    .tables<AccountTables>()
    .updateTable('accounts')
    .set({ email_verified_at: verifiedAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('email', 'is not', null)
    .where('email_verified_at', 'is', null)
    .execute()
}

export async function updateEmail(tx: Writer, to: { email: string; verifiedAt: number }): Promise<void> {
  await tx
    .tables<AccountTables>()
    .updateTable('accounts')
    .set({ email: to.email, email_verified_at: to.verifiedAt })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}
