import type { IdTag } from '@kith/protocol'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { Identity, PublishedIdentity } from './identity.ts'
import { withKeys } from './identity-key.ts'

/** What is kept of an identity of another server. */
export interface StoredIdentity {
  readonly identity: Identity
  /** The server that was asked; not always where the identity says it lives. */
  readonly server: string
  readonly etag: string | undefined
  /** Unix seconds. */
  readonly fetchedAt: number
  readonly expiresAt: number
}

interface IdentityRow {
  tenant_id: number
  id_tag: string
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

const selectIdentity = statement<IdentityTables, { tenantId: number; idTag: string }, IdentityRow>(
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

// Below the number of values that either database takes in one statement.
const tagsPerQuery = 1000

/** The inboxes of those of these identities that were looked up and have not expired. */
export async function findFreshInboxes(
  reader: Reader,
  idTags: readonly IdTag[],
  now: number,
): Promise<Map<IdTag, string>> {
  const inboxes = new Map<IdTag, string>()
  for (let from = 0; from < idTags.length; from += tagsPerQuery) {
    const rows = await reader
      .tables<IdentityTables>()
      .selectFrom('identities')
      .select(['id_tag', 'inbox_url'])
      .where('tenant_id', '=', reader.tenantId)
      .where('id_tag', 'in', idTags.slice(from, from + tagsPerQuery))
      .where('expires_at', '>', now)
      .execute()
    for (const row of rows) inboxes.set(row.id_tag as IdTag, row.inbox_url)
  }
  return inboxes
}

/** Removes what expired before `expiredBefore`, and the next to expire beyond `maxRows`. Answers how many went. */
export async function pruneIdentities(
  tx: Writer,
  { expiredBefore, maxRows }: { expiredBefore: number; maxRows: number },
): Promise<number> {
  const tables = tx.tables<IdentityTables>()
  const surplus = await tables
    .selectFrom('identities')
    .select('expires_at')
    .where('tenant_id', '=', tx.tenantId)
    .orderBy('expires_at', 'desc')
    .offset(maxRows)
    .limit(1)
    .executeTakeFirst()
  const result = await tables
    .deleteFrom('identities')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<=', Math.max(expiredBefore, surplus?.expires_at ?? 0))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
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
