import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteRestedNames } from './quarantined-name-store.ts'

const hourMs = 3_600_000

/** Removes names whose quarantine is over. */
export function addNameSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(deps, { name: 'registration.sweep-names', everyMs: hourMs }, (tx, limit) =>
    deleteRestedNames(tx, { upTo: nowSecs(clock), limit }),
  )
}
