import { addSweep, type SweepDeps, sweepKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteRestedNames } from './resting-name-store.ts'

const hourMs = 3_600_000

const sweepNamesJob = sweepKind('registration.sweep-names')

/** Forgets names that have rested. */
export function addNameSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  addSweep(deps, { kind: sweepNamesJob, periodMs: hourMs }, (tx, limit) =>
    deleteRestedNames(tx, { upTo: nowSecs(clock), limit }),
  )
}
