import { type Database, serverTenant } from '#infra/db/index.ts'
import { dayOf } from '#lib/clock.ts'
import { listLastUses, noteActiveDay } from './activity-store.ts'

const tenantsAtOnce = 500

/** Notes on which day each person of the server was here last: sessions are kept for a day after their end, and activity is
 * counted over thirty. */
export async function noteActiveDays(db: Database, signal?: AbortSignal): Promise<void> {
  let after = serverTenant
  while (!signal?.aborted) {
    const uses = await listLastUses(db.reader(serverTenant), after, tenantsAtOnce)
    await db.transact(
      serverTenant,
      async (tx) => {
        for (const { tenantId, usedAt } of uses) await noteActiveDay(tx.as(tenantId), dayOf(usedAt * 1000))
      },
      { isolation: 'read-committed', isBackground: true },
    )
    const last = uses.at(-1)
    if (!last || uses.length < tenantsAtOnce) return
    after = last.tenantId
  }
}
