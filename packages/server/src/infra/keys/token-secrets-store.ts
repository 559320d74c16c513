import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'

interface TokenSecretTables {
  token_secrets: {
    tenant_id: number
    kid: string
    sealed_secret: Uint8Array
    created_at: number
    retired_at: number | null
  }
}

export interface StoredTokenSecret {
  readonly kid: string
  readonly sealedSecret: Uint8Array
  /** Unix seconds. */
  readonly retiredAt: number | undefined
}

type Row = Pick<TokenSecretTables['token_secrets'], 'kid' | 'sealed_secret' | 'retired_at'>

const selectByKid = statement<TokenSecretTables, { tenantId: TenantId; kid: string }, Row>((tables, value) =>
  tables
    .selectFrom('token_secrets')
    .select(['kid', 'sealed_secret', 'retired_at'])
    .where('tenant_id', '=', value('tenantId'))
    .where('kid', '=', value('kid')),
)

const selectCurrent = statement<TokenSecretTables, { tenantId: TenantId }, Row>((tables, value) =>
  tables
    .selectFrom('token_secrets')
    .select(['kid', 'sealed_secret', 'retired_at'])
    .where('tenant_id', '=', value('tenantId'))
    .where('retired_at', 'is', null),
)

export async function findTokenSecret(reader: Reader, kid: string): Promise<StoredTokenSecret | undefined> {
  return fromRow(await reader.first(selectByKid, { tenantId: reader.tenantId, kid }))
}

export async function findCurrentTokenSecret(reader: Reader): Promise<StoredTokenSecret | undefined> {
  return fromRow(await reader.first(selectCurrent, { tenantId: reader.tenantId }))
}

export async function insertTokenSecret(
  tx: Writer,
  secret: Omit<StoredTokenSecret, 'retiredAt'> & { readonly createdAt: number },
): Promise<void> {
  await tx
    .tables<TokenSecretTables>()
    .insertInto('token_secrets')
    .values({
      tenant_id: tx.tenantId,
      kid: secret.kid,
      sealed_secret: secret.sealedSecret,
      created_at: secret.createdAt,
      retired_at: null,
    })
    .execute()
}

export async function retireTokenSecret(tx: Writer, retiredAt: number): Promise<void> {
  await tx
    .tables<TokenSecretTables>()
    .updateTable('token_secrets')
    .set({ retired_at: retiredAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('retired_at', 'is', null)
    .execute()
}

export async function deleteTokenSecrets(tx: Writer, retiredBefore: number): Promise<void> {
  await tx
    .tables<TokenSecretTables>()
    .deleteFrom('token_secrets')
    .where('tenant_id', '=', tx.tenantId)
    .where('retired_at', '<', retiredBefore)
    .execute()
}

function fromRow(row: Row | undefined): StoredTokenSecret | undefined {
  return row && { kid: row.kid, sealedSecret: row.sealed_secret, retiredAt: row.retired_at ?? undefined }
}
