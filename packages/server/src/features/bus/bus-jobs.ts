import { busWindow } from '@kith/protocol'
import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteEvents, deleteNumberedEvents } from './event-log-store.ts'

const hourMs = 3_600_000
const daySecs = 86_400

/** Removes events of all tenants that no client can ask for any more. */
export function addBusSweep({ clock, ...deps }: SweepDeps & { readonly clock: Clock }): void {
  const upTo = () => nowSecs(clock) - busWindow.seconds - 1
  addSweep(
    deps,
    { name: 'bus.sweep', everyMs: hourMs },
    // No client has listened meanwhile, or it would have a number.
    (tx, limit) => deleteEvents(tx, { upTo: upTo() - daySecs, limit }),
    (tx, limit) => deleteNumberedEvents(tx, { upTo: upTo(), limit }),
  )
}
