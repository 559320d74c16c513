import { listLiveSessions } from '#features/accounts/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteExpiredSubscriptions, deleteHeld, listHeld } from './subscription-sweep-store.ts'

const hourMs = 3_600_000

/** Removes subscriptions of all tenants that have ended by themselves: with their time, or with a session that expired and
 * that nobody has ended. What notifies a tenant does the same; a quiet tenant is notified of nothing. */
export function addPushSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  // Each run looks at all of them once, by their numbers.
  let after = 0
  addSweep(
    deps,
    { name: 'push.sweep', everyMs: hourMs },
    (tx, limit) => deleteExpiredSubscriptions(tx, { upTo: nowSecs(clock), limit }),
    async () => {
      after = 0
      return 0
    },
    async (tx, limit) => {
      const held = await listHeld(tx, { after, limit })
      await removeEnded(tx, held, nowSecs(clock))
      after = held.at(-1)?.subscriptionId ?? 0
      return held.length
    },
  )
}

async function removeEnded(tx: Writer, held: Awaited<ReturnType<typeof listHeld>>, now: number) {
  const live = await listLiveSessions(tx, held, now)
  const lives = new Set(live.map(({ tenantId, sid }) => `${tenantId} ${sid}`))
  await deleteHeld(
    tx,
    held.filter(({ tenantId, sid }) => !lives.has(`${tenantId} ${sid}`)),
  )
}
