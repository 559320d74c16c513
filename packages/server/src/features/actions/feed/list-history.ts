import { type ActionId, historyLimits } from '@kith/protocol'
import { findViewer } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type HistoryRow, listComments, listOffers, listPublished } from './history-store.ts'

export interface ListHistoryDeps {
  readonly db: Database
  readonly clock: Clock
  /** The counts tokens for these actions; none for actions without counts. */
  readonly listCountTokens: (tenant: Tenant, actionIds: readonly ActionId[]) => Promise<readonly string[]>
}

interface HistoryQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  /** Unix seconds. */
  readonly since?: number
  readonly limit?: number
}

// Fifty counts tokens take at most this, which is kept free for them.
const countChars = 50_000

/** What a tenant published lately and the caller may read: the newest, in the order of publication, after the apps that
 * it has offered longer ago; then the comments on it, oldest first; last the counts. An announcement follows the action
 * that it announces. */
export async function listHistory(deps: ListHistoryDeps, question: HistoryQuestion): Promise<string[]> {
  const { tenant, caller, since = 0, limit = historyLimits.maxItems } = question
  const reader = deps.db.reader(tenant.tenantId)
  const now = nowSecs(deps.clock)
  const viewer = await findViewer(reader, tenant, caller)
  const budget = { chars: historyLimits.maxChars - countChars }
  const query = {
    viewer,
    since: Math.max(since, now - historyLimits.maxAgeSecs),
    now,
    limit: Math.min(limit, historyLimits.maxItems),
  }
  const published = newestWithin(await listPublished(reader, query), budget).reverse()
  const actionIds = published.map(({ actionId }) => actionId)
  const comments = await listComments(reader, { viewer, now, rootIds: actionIds })
  const said = newestWithin(comments.reverse().slice(0, historyLimits.maxComments), budget)
  const older = (await listOffers(reader, query)).filter(({ actionId }) => !actionIds.includes(actionId))
  const offers = newestWithin(older, budget)
  return [
    ...[...offers.reverse(), ...published, ...said.reverse()].flatMap(tokensOf),
    ...(await deps.listCountTokens(tenant, actionIds)),
  ]
}

function tokensOf({ token, announcement }: HistoryRow): string[] {
  return announcement === undefined ? [token] : [token, announcement]
}

// The server that asks accepts an answer of at most one mebibyte (docs/protocol/delivery.md).
function newestWithin(rows: readonly HistoryRow[], budget: { chars: number }): HistoryRow[] {
  return rows.filter((row) => {
    budget.chars -= tokensOf(row).reduce((chars, token) => chars + token.length + 3, 0)
    return budget.chars >= 0
  })
}
