import { busWindow } from '@kith/protocol'
import Type from 'typebox'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { jobKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { deleteEventsBefore } from './event-log-store.ts'

/** Forgets events that nobody can ask for any more. */
export const sweepBusJob = jobKind({
  name: 'bus.sweep',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 120_000,
  keepDoneMs: 0,
})

// Others write between portions of some milliseconds.
const eventsAtOnce = 1000

/** Does the work of `sweepBusJob`. */
export async function sweepBus({
  db,
  clock,
}: {
  readonly db: Database
  readonly clock: Clock
}): Promise<void> {
  const at = nowSecs(clock) - busWindow.seconds
  const deletePortion = () =>
    db.transact(serverTenant, (tx) => deleteEventsBefore(tx, { at, limit: eventsAtOnce }))
  while ((await deletePortion()) === eventsAtOnce);
}
