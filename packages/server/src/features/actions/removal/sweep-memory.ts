import type { ActionId } from '@kith/protocol'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { sweep } from '#infra/jobs/index.ts'
import { sweepKeys } from '../compose/idempotency-store.ts'
import { deleteViews } from '../feed/reader-store.ts'
import { deleteStrangerRows } from '../receive/stranger-budget-store.ts'
import { maxTokenAgeSecs } from '../receive/token-age.ts'
import { reindexAction } from '../search/reindex-store.ts'
import { clearSpentTokens, keepDeletedRows, listDeletedRows, purgeDeletedRows } from './deleted-rows-store.ts'
import { countReads, forgetRead, listOldReads } from './read-sweep-store.ts'

const daySecs = 86_400
const readsKeptDays = 180
/** For all tenants together; about 200 bytes each. */
const maxReads = 500_000
// A deleted action, however old, stays visible to its owner for at least 30 days before its row is removed. Rows that
// are still referred to are checked again after the same time.
const deletedRowsAgainSecs = 30 * daySecs
// Finding an inbox, delivering to it and asking whether it has arrived are each tried for a week.
const tokensLeftSecs = 21 * daySecs
// Each takes a few statements.
const perPortion = 50

/** Removes old idempotency keys, views, stranger budgets and reads of comments, for all tenants. */
export async function sweepMemory(
  db: Database,
  { now, maxRows = maxReads }: { readonly now: number; readonly maxRows?: number },
): Promise<void> {
  const today = Math.floor(now / daySecs)
  let surplus = Math.max(0, (await countReads(db.reader(serverTenant), 2 * maxRows)) - maxRows)
  await sweep(db, [
    (tx, limit) => sweepKeys(tx, { now, limit }),
    (tx, limit) => deleteViews(tx, { upTo: today - 1, limit }),
    (tx, limit) => deleteStrangerRows(tx, { upTo: today - 1, limit }),
    (tx) => forgetReads(tx, { upToDay: today - readsKeptDays, limit: perPortion }),
    async (tx) => {
      const forgotten = await forgetReads(tx, { upToDay: today, limit: Math.min(surplus, perPortion) })
      tx.afterCommit(() => {
        surplus -= forgotten
      })
      return forgotten
    },
  ])
}

async function forgetReads(tx: Writer, query: { upToDay: number; limit: number }): Promise<number> {
  const reads = query.limit > 0 ? await listOldReads(tx, query) : []
  for (const read of reads) await forgetRead(tx, read)
  return reads.length
}

/** Removes the tokens of ended actions that stayed because they might still have to be sent. */
export async function sweepSpentTokens(db: Database, now: number): Promise<void> {
  await sweep(db, [(tx, limit) => clearSpentTokens(tx, { upTo: now - tokensLeftSecs, limit })])
}

/** Removes the rows of deleted actions once their tokens are too old to be accepted. */
export async function sweepDeletedRows(db: Database, now: number): Promise<void> {
  const upTo = now - maxTokenAgeSecs
  await sweep(db, [
    async (tx) => {
      const found = await listDeletedRows(tx, { upTo, limit: perPortion })
      for (const { tenantId, actionId, isKnown, isNeeded } of found) {
        const own = tx.as(tenantId)
        if (isNeeded || !isKnown) await keepDeletedRows(own, actionId, upTo + deletedRowsAgainSecs)
        else {
          await reindexAction(own, actionId as ActionId)
          await purgeDeletedRows(own, actionId)
        }
      }
      return found.length
    },
  ])
}
