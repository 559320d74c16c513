import { setImmediate as nextTurnOfLoop } from 'node:timers/promises'
import { Failure } from '#lib/failure.ts'

/** Lets other requests go on: queries of SQLite are synchronous, and never do by themselves. Throws when the request of
 * `signal` has ended. */
export async function nextTurn(signal: AbortSignal): Promise<void> {
  await nextTurnOfLoop()
  if (signal.aborted) throw new Failure('E-UNAVAILABLE')
}
