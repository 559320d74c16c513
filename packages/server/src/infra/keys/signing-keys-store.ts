import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { SigningKeyInfo } from './keys.ts'

interface SigningKeyTables {
  signing_keys: {
    tenant_id: number
    kid: string
    public_key: string
    sealed_private_key: Uint8Array
    created_at: number
    retired_at: number | null
    revoked_at: number | null
  }
}

/** The current key as it is stored. */
export interface StoredSigningKey {
  readonly kid: string
  readonly sealedPrivateKey: Uint8Array
}

interface KeyRow {
  readonly kid: string
  readonly public_key: string
  readonly retired_at: number | null
  readonly revoked_at: number | null
}

const maxListed = 100

const selectCurrent = statement<
  SigningKeyTables,
  { tenantId: TenantId },
  { kid: string; sealed_private_key: Uint8Array }
>((tables, value) =>
  tables
    .selectFrom('signing_keys')
    .select(['kid', 'sealed_private_key'])
    .where('tenant_id', '=', value('tenantId'))
    .where('retired_at', 'is', null),
)

const selectAll = statement<SigningKeyTables, { tenantId: TenantId }, KeyRow>((tables, value) =>
  tables
    .selectFrom('signing_keys')
    .select(['kid', 'public_key', 'retired_at', 'revoked_at'])
    .where('tenant_id', '=', value('tenantId'))
    .orderBy((by) => by.case().when('retired_at', 'is', null).then(0).else(1).end())
    .orderBy('retired_at', 'desc')
    .orderBy('kid', 'desc')
    .limit(maxListed),
)

export async function findCurrentSigningKey(reader: Reader): Promise<StoredSigningKey | undefined> {
  const row = await reader.first(selectCurrent, { tenantId: reader.tenantId })
  return row && { kid: row.kid, sealedPrivateKey: row.sealed_private_key }
}

export async function listSigningKeys(reader: Reader): Promise<SigningKeyInfo[]> {
  const rows = await reader.run(selectAll, { tenantId: reader.tenantId })
  return rows.map(fromRow)
}

/** Any key of the tenant, also one that is too old to be listed. */
export async function findSigningKey(reader: Reader, kid: string): Promise<SigningKeyInfo | undefined> {
  const row = await reader
    .tables<SigningKeyTables>()
    .selectFrom('signing_keys')
    .select(['kid', 'public_key', 'retired_at', 'revoked_at'])
    .where('tenant_id', '=', reader.tenantId)
    .where('kid', '=', kid)
    .executeTakeFirst()
  return row && fromRow(row)
}

function fromRow({ kid, public_key, retired_at, revoked_at }: KeyRow): SigningKeyInfo {
  return {
    kid,
    publicKey: public_key,
    ...(retired_at === null ? {} : { expiresAt: retired_at }),
    ...(revoked_at === null ? {} : { revokedAt: revoked_at }),
  }
}

export async function insertSigningKey(
  tx: Writer,
  key: StoredSigningKey & { readonly publicKey: string; readonly createdAt: number },
): Promise<void> {
  await tx
    .tables<SigningKeyTables>()
    .insertInto('signing_keys')
    .values({
      tenant_id: tx.tenantId,
      kid: key.kid,
      public_key: key.publicKey,
      sealed_private_key: key.sealedPrivateKey,
      created_at: key.createdAt,
      retired_at: null,
      revoked_at: null,
    })
    .execute()
}

export async function retireSigningKey(tx: Writer, retiredAt: number): Promise<void> {
  await tx
    .tables<SigningKeyTables>()
    .updateTable('signing_keys')
    .set({ retired_at: retiredAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('retired_at', 'is', null)
    .execute()
}

export async function setRevokedAt(tx: Writer, kid: string, revokedAt: number): Promise<void> {
  await tx
    .tables<SigningKeyTables>()
    .updateTable('signing_keys')
    .set({ revoked_at: revokedAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('kid', '=', kid)
    .execute()
}
