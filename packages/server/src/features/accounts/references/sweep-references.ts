import type { Writer } from '#infra/db/index.ts'
import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteSession, findLastUse } from '../sessions/session-sweep-store.ts'
import { sidOf } from './reference-store.ts'
import { deleteExpiredReferences, deleteUsedUp, listUsedUp, markUsedUp } from './reference-sweep-store.ts'

const hourMs = 3_600_000
/** How long lists show used up and expired references. */
const keptSecs = 30 * 86_400
// Each costs a look at its session.
const usedUpPerPortion = 100

/** Removes references of all tenants that can be used no more. */
export function addReferenceSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(
    deps,
    { name: 'references.sweep', everyMs: hourMs },
    (tx, limit) => deleteExpiredReferences(tx, { upTo: nowSecs(clock) - keptSecs, limit }),
    (tx) => markSome(tx, nowSecs(clock)),
    (tx) => deleteSome(tx, nowSecs(clock) - keptSecs),
  )
}

async function markSome(tx: Writer, now: number): Promise<number> {
  const found = await listUsedUp(tx, { upTo: 'unmarked', limit: usedUpPerPortion })
  for (const { tenantId, refHash } of found) await markUsedUp(tx.as(tenantId), refHash, now)
  return found.length
}

/** Guests whose tokens come from a reference renew them after it was used up: it stays as long as they do. */
async function deleteSome(tx: Writer, upTo: number): Promise<number> {
  const found = await listUsedUp(tx, { upTo, limit: usedUpPerPortion })
  for (const { tenantId, refHash } of found) {
    const own = tx.as(tenantId)
    const sid = sidOf(refHash)
    const lastUse = await findLastUse(own, sid)
    if (lastUse !== undefined && lastUse > upTo) await markUsedUp(own, refHash, lastUse)
    else {
      await deleteUsedUp(own, refHash)
      await deleteSession(own, sid)
    }
  }
  return found.length
}
