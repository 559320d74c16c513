import { historyLimits } from '@kith/protocol'
import { findViewer } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { listTokens } from './history-store.ts'

export interface ListHistoryDeps {
  readonly db: Database
  readonly clock: Clock
}

export interface HistoryQuestion {
  readonly tenant: Tenant
  readonly caller: Caller
  /** Unix seconds. */
  readonly since?: number
  readonly limit?: number
}

/** What a tenant published lately, as the caller may read it: the newest of it, in the order in which it was published. */
export async function listHistory(deps: ListHistoryDeps, question: HistoryQuestion): Promise<string[]> {
  const { tenant, caller, since = 0, limit = historyLimits.maxItems } = question
  const reader = deps.db.reader(tenant.tenantId)
  const now = nowSecs(deps.clock)
  const tokens = await listTokens(reader, {
    viewer: await findViewer(reader, tenant, caller),
    since: Math.max(since, now - historyLimits.maxAgeSecs),
    now,
    limit: Math.min(limit, historyLimits.maxItems),
  })
  return newestWithin(tokens, historyLimits.maxChars).reverse()
}

// Who asks takes an answer of a mebibyte and no more (DECISIONS part 11, "Egress").
function newestWithin(tokens: readonly string[], maxChars: number): string[] {
  let chars = 0
  return tokens.filter((token) => {
    chars += token.length
    return chars <= maxChars
  })
}
