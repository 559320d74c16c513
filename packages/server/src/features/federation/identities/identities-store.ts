import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { isListed, type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { Identity, PublishedIdentity } from './identity.ts'
import { withKeys } from './identity-key.ts'

/** The stored form of an identity of another server. */
export interface StoredIdentity {
  readonly identity: Identity
  /** The server that was asked; it may differ from the `serverUrl` of the identity. */
  readonly server: string
  readonly etag: string | undefined
  /** Unix seconds. */
  readonly fetchedAt: number
  readonly expiresAt: number
}

interface IdentityRow {
  tenant_id: number
  id_tag: IdTag
  server: string
  inbox_url: string
  /** JSON of `PublishedIdentity`. */
  document: string
  etag: string | null
  fetched_at: number
  expires_at: number
}
interface IdentityTables {
  identities: IdentityRow
}

const selectIdentity = statement<IdentityTables, { tenantId: number; idTag: IdTag }, IdentityRow>(
  (tables, value) =>
    tables
      .selectFrom('identities')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('id_tag', '=', value('idTag')),
)

// All of these take a handle of the server's own tenant.

export async function findStoredIdentity(reader: Reader, idTag: IdTag): Promise<StoredIdentity | undefined> {
  const row = await reader.first(selectIdentity, { tenantId: reader.tenantId, idTag })
  return row && fromRow(row)
}

export async function putIdentity(tx: Writer, stored: StoredIdentity): Promise<void> {
  const { idTag, inboxUrl } = stored.identity
  const columns = {
    server: stored.server,
    inbox_url: inboxUrl,
    document: JSON.stringify(withoutKeyObjects(stored.identity)),
    etag: stored.etag ?? null,
    fetched_at: stored.fetchedAt,
    expires_at: stored.expiresAt,
  }
  await tx
    .tables<IdentityTables>()
    .insertInto('identities')
    .values({ tenant_id: tx.tenantId, id_tag: idTag, ...columns })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id_tag']).doUpdateSet(columns))
    .execute()
}

export async function deleteIdentity(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<IdentityTables>()
    .deleteFrom('identities')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

/** NOTE: each name is looked up by the key. With an index on `expires_at` the database would read everything that is
 * fresh on the whole server, so the comparison must not be one that this index serves. */
const selectInboxes = statement<
  IdentityTables,
  { tenantId: number; idTags: string; freshAt: number },
  { id_tag: IdTag; inbox_url: string }
>((tables, value, dialect) =>
  tables
    .selectFrom('identities')
    .select(['id_tag', 'inbox_url'])
    .where('tenant_id', '=', value('tenantId'))
    .where(isListed(dialect, 'id_tag', value('idTags')))
    .where(sql<number>`expires_at + 0`, '>', value('freshAt')),
)

/** The inboxes of those of these identities that are stored and fresh at a time, in Unix seconds; 0 for all that are
 * stored. */
export async function findFreshInboxes(
  reader: Reader,
  idTags: readonly IdTag[],
  freshAt: number,
): Promise<Map<IdTag, string>> {
  if (idTags.length === 0) return new Map()
  const { tenantId } = reader
  const rows = await reader.run(selectInboxes, { tenantId, idTags: JSON.stringify(idTags), freshAt })
  return new Map(rows.map((row) => [row.id_tag, row.inbox_url]))
}

const selectSurplus = statement<
  IdentityTables,
  { tenantId: number; maxRows: number },
  { expires_at: number }
>((tables, value) =>
  tables
    .selectFrom('identities')
    .select('expires_at')
    .where('tenant_id', '=', value('tenantId'))
    .orderBy('expires_at', 'desc')
    .offset(value('maxRows'))
    .limit(1),
)

/** When the freshest row beyond the first `maxRows` expires; undefined when no more than `maxRows` are stored. */
export async function findSurplusExpiry(reader: Reader, maxRows: number): Promise<number | undefined> {
  return (await reader.first(selectSurplus, { tenantId: reader.tenantId, maxRows }))?.expires_at
}

const deleteSome = statement<
  IdentityTables,
  { tenantId: number; expiredBefore: number; limit: number },
  unknown
>((tables, value) =>
  tables
    .deleteFrom('identities')
    .where('tenant_id', '=', value('tenantId'))
    .where('id_tag', 'in', (eb) =>
      eb
        .selectFrom('identities')
        .select('id_tag')
        .where('tenant_id', '=', value('tenantId'))
        .where('expires_at', '<=', value('expiredBefore'))
        .orderBy('expires_at')
        .limit(value('limit')),
    ),
)

/** Removes some rows that expire up to a time, the oldest first. Answers how many. */
export async function deleteExpired(
  tx: Writer,
  portion: { readonly expiredBefore: number; readonly limit: number },
): Promise<number> {
  return await tx.change(deleteSome, { tenantId: tx.tenantId, ...portion })
}

function fromRow(row: IdentityRow): StoredIdentity {
  return {
    identity: withKeys(JSON.parse(row.document) as PublishedIdentity),
    server: row.server,
    etag: row.etag ?? undefined,
    fetchedAt: row.fetched_at,
    expiresAt: row.expires_at,
  }
}

function withoutKeyObjects(identity: Identity): PublishedIdentity {
  return { ...identity, keys: identity.keys.map(({ key: _, ...published }) => published) }
}
