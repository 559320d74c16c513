import { sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'
import type { ActionTables } from './action-tables.ts'

export interface IndexedAction {
  readonly seq: number
  readonly content: Readonly<Record<string, unknown>> | undefined
  /** Deleted ones are not found. */
  readonly isFound: boolean
}

/** The tenant's actions in the order of their arrival, for whoever makes or removes the index of their words. */
export async function listIndexedActions(
  reader: Reader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<IndexedAction[]> {
  const rows = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['seq', 'content', 'status'])
    .where('tenant_id', '=', reader.tenantId)
    .where(sql<number>`seq`, '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map(({ seq, content, status }) => ({
    seq,
    content: content === null ? undefined : (JSON.parse(content) as Record<string, unknown>),
    isFound: status !== 'D' && status !== 'T',
  }))
}
