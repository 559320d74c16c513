import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteEndedRequests, deleteFormerAudience } from './relation-sweep-store.ts'

const hourMs = 3_600_000
const daySecs = 86_400
// What they got is deleted with them until then, wherever they keep it.
const formerAudienceSecs = 365 * daySecs

/** Forgets at all tenants with whom nothing holds any more. */
export function addRelationSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(
    deps,
    { name: 'relations.sweep', everyMs: hourMs },
    (tx, limit) => deleteEndedRequests(tx, { upTo: nowSecs(clock) - daySecs, limit }),
    (tx, limit) => deleteFormerAudience(tx, { upTo: nowSecs(clock) - formerAudienceSecs, limit }),
  )
}
