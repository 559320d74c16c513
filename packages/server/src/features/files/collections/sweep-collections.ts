import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteOldReads } from './collection-sweep-store.ts'

const hourMs = 3_600_000
const readsKeptSecs = 180 * 86_400

/** Forgets at all tenants who opened which file long ago. */
export function addCollectionSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(deps, { name: 'collections.sweep', everyMs: hourMs }, (tx, limit) =>
    deleteOldReads(tx, { upTo: nowSecs(clock) - readsKeptSecs, limit }),
  )
}
