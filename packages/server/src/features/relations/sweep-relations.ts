import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteEndedRequests, deleteFormerAudience } from './relation-sweep-store.ts'

const hourMs = 3_600_000
const daySecs = 86_400
// For so long deletions are sent to former followers and connections, who may hold what they received.
const formerAudienceSecs = 365 * daySecs

/** Removes relations at all tenants once nothing is left of them. */
export function addRelationSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(
    deps,
    { name: 'relations.sweep', everyMs: hourMs },
    (tx, limit) => deleteEndedRequests(tx, { upTo: nowSecs(clock) - daySecs, limit }),
    (tx, limit) => deleteFormerAudience(tx, { upTo: nowSecs(clock) - formerAudienceSecs, limit }),
  )
}
