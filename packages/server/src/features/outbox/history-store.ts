import { sql } from 'kysely'
import { isLive, isReadableBy, type ReadableTables, type Viewer } from '#features/visibility/index.ts'
import type { Reader } from '#infra/db/index.ts'

interface HistoryTables extends ReadableTables {
  actions: ReadableTables['actions'] & {
    seq: number
    type: string
    sub_type: string | null
    created_at: number
    issued_at: number
    token: string | null
  }
}

interface HistoryQuery {
  readonly viewer: Viewer
  /** Unix seconds. */
  readonly since: number
  readonly now: number
  readonly limit: number
}

interface TokenRow {
  readonly token: string | null
  readonly created_at: number
}

/** The tokens of what the tenant has published, or passes on as a community, and the viewer may read, newest first. */
export async function listTokens(reader: Reader, query: HistoryQuery): Promise<string[]> {
  const own = await listOwn(reader, query)
  const announced = query.viewer.facts.has('community') ? await listAnnounced(reader, query) : []
  return [...own, ...announced]
    .sort((one, other) => other.created_at - one.created_at)
    .slice(0, query.limit)
    .flatMap(({ token }) => (token === null ? [] : [token]))
}

/** The announcements of what members gave to the community. */
function listAnnounced(reader: Reader, { viewer, since, now, limit }: HistoryQuery): Promise<TokenRow[]> {
  return reader
    .tables<HistoryTables>()
    .selectFrom('actions as a')
    .innerJoin('actions as r', (join) =>
      join.onRef('r.tenant_id', '=', 'a.tenant_id').onRef('r.subject', '=', 'a.action_id'),
    )
    .select(['r.token', 'a.created_at'])
    .where('a.tenant_id', '=', reader.tenantId)
    .where('a.created_at', '>=', since)
    .where('r.subject', 'is not', null)
    .where('r.type', '=', 'ANNC')
    .where('r.status', '=', 'T')
    .where('r.issuer_tag', '=', viewer.tenantTag)
    .where('r.sub_type', 'is', null)
    .where(isLive('a', sql<number>`${now}`))
    .where(isReadableBy(viewer, 'a'))
    .orderBy('a.created_at', 'desc')
    .orderBy('a.seq', 'desc')
    .limit(limit)
    .execute()
}

function listOwn(reader: Reader, { viewer, since, now, limit }: HistoryQuery): Promise<TokenRow[]> {
  return (
    reader
      .tables<HistoryTables>()
      .selectFrom('actions as a')
      .select(['a.token', 'a.created_at'])
      .where('a.tenant_id', '=', reader.tenantId)
      .where('a.issuer_tag', '=', viewer.tenantTag)
      .where('a.created_at', '>=', since)
      .where('a.token', 'is not', null)
      // What was signed for the next second may still be replaced.
      .where('a.issued_at', '<=', now)
      .where(isLive('a', sql<number>`${now}`))
      .where(isReadableBy(viewer, 'a'))
      .orderBy('a.created_at', 'desc')
      .orderBy('a.seq', 'desc')
      .limit(limit)
      .execute()
  )
}
