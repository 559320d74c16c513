import { sql } from 'kysely'
import { isLive, isReadableBy, type ReadableTables, type Viewer } from '#features/visibility/index.ts'
import type { Reader } from '#infra/db/index.ts'

interface HistoryTables extends ReadableTables {
  actions: ReadableTables['actions'] & {
    seq: number
    created_at: number
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

/** The tokens of what the tenant itself has published and the viewer may read, newest first. */
export async function listTokens(
  reader: Reader,
  { viewer, since, now, limit }: HistoryQuery,
): Promise<string[]> {
  const rows = await reader
    .tables<HistoryTables>()
    .selectFrom('actions as a')
    .select('a.token')
    .where('a.tenant_id', '=', reader.tenantId)
    .where('a.issuer_tag', '=', viewer.tenantTag)
    .where('a.created_at', '>=', since)
    .where('a.token', 'is not', null)
    .where(isLive('a', sql<number>`${now}`))
    .where(isReadableBy(viewer, 'a'))
    .orderBy('a.created_at', 'desc')
    .orderBy('a.seq', 'desc')
    .limit(limit)
    .execute()
  return rows.flatMap(({ token }) => (token === null ? [] : [token]))
}
