import type { IdTag, OffsetPage } from '@kith/protocol'
import type { Selectable } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'

interface KeyTable {
  key_id: number
  tenant_id: number
  id_tag: IdTag
  key_hash: string
  key_prefix: string
  name: string | null
  created_at: number
  last_used_at: number | null
  expires_at: number | null
}
interface KeyTables {
  identity_keys: KeyTable
  managed_identities: {
    tenant_id: number
    id_tag: IdTag
    registrar_tag: string
    owner_tag: string | null
    status: string
  }
}

/** A key of a managed identity, without the key itself. */
export interface IdentityKey {
  readonly keyId: number
  readonly idTag: IdTag
  readonly prefix: string
  readonly name?: string
  readonly createdAt: number
  readonly lastUsedAt?: number
  readonly expiresAt?: number
}

export async function insertKey(
  tx: Writer,
  { keyHash, ...key }: Omit<IdentityKey, 'keyId'> & { readonly keyHash: string },
): Promise<IdentityKey> {
  const row = await tx
    .tables<{ identity_keys: Omit<KeyTable, 'key_id'> & { key_id?: number } }>()
    .insertInto('identity_keys')
    .values({
      tenant_id: tx.tenantId,
      id_tag: key.idTag,
      key_hash: keyHash,
      key_prefix: key.prefix,
      name: key.name ?? null,
      created_at: key.createdAt,
      last_used_at: null,
      expires_at: key.expiresAt ?? null,
    })
    .returning('key_id')
    .executeTakeFirstOrThrow()
  return { ...key, keyId: Number(row.key_id) }
}

export async function findKeyByHash(reader: Reader, keyHash: string): Promise<IdentityKey | undefined> {
  const row = await reader
    .tables<KeyTables>()
    .selectFrom('identity_keys')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('key_hash', '=', keyHash)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findKey(reader: Reader, keyId: number): Promise<IdentityKey | undefined> {
  const row = await reader
    .tables<KeyTables>()
    .selectFrom('identity_keys')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function countKeys(reader: Reader, idTag: IdTag): Promise<number> {
  const { total } = await reader
    .tables<KeyTables>()
    .selectFrom('identity_keys')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', reader.tenantId)
    .where('id_tag', '=', idTag)
    .executeTakeFirstOrThrow()
  return Number(total)
}

interface KeyFilter {
  readonly idTag?: IdTag | undefined
  /** Only keys of identities that this identity may change; all when absent. */
  readonly changeableBy?: IdTag | undefined
  readonly offset: number
  readonly limit: number
}

/** Oldest first, with the number of all that the filter lets through. */
export async function listKeys(reader: Reader, filter: KeyFilter): Promise<OffsetPage<IdentityKey>> {
  const { offset, limit } = filter
  const { total } = await matching(reader, filter)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await matching(reader, filter)
    .selectAll('identity_keys')
    .orderBy('key_id')
    .offset(offset)
    .limit(limit)
    .execute()
  return { items: rows.map(fromRow), total: Number(total), offset, limit }
}

/** The rule of `roleOnIdentity` and `assertMayChange`, for lists. */
function matching(reader: Reader, { idTag, changeableBy }: KeyFilter) {
  let query = reader
    .tables<KeyTables>()
    .selectFrom('identity_keys')
    .innerJoin('managed_identities', (join) =>
      join
        .onRef('managed_identities.tenant_id', '=', 'identity_keys.tenant_id')
        .onRef('managed_identities.id_tag', '=', 'identity_keys.id_tag'),
    )
    .where('identity_keys.tenant_id', '=', reader.tenantId)
  if (idTag !== undefined) query = query.where('identity_keys.id_tag', '=', idTag)
  if (changeableBy !== undefined)
    query = query.where((row) =>
      row.or([
        row('owner_tag', '=', changeableBy),
        row.and([row('managed_identities.id_tag', '=', changeableBy), row('owner_tag', 'is', null)]),
        row.and([row('registrar_tag', '=', changeableBy), row('status', '=', 'pending')]),
      ]),
    )
  return query
}

export async function updateKeyUse(
  tx: Writer,
  { keyId, lastUsedAt }: { readonly keyId: number; readonly lastUsedAt: number },
): Promise<void> {
  await tx
    .tables<KeyTables>()
    .updateTable('identity_keys')
    .set({ last_used_at: lastUsedAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .execute()
}

export async function deleteKey(tx: Writer, keyId: number): Promise<void> {
  await tx
    .tables<KeyTables>()
    .deleteFrom('identity_keys')
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .execute()
}

export async function deleteKeysOf(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<KeyTables>()
    .deleteFrom('identity_keys')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

function fromRow(row: Selectable<KeyTable>): IdentityKey {
  return {
    keyId: row.key_id,
    idTag: row.id_tag,
    prefix: row.key_prefix,
    createdAt: row.created_at,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  }
}
