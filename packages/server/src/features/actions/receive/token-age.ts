import { type Failure, invalid } from '#lib/failure.ts'
import type { ReceivedAction } from './received-action.ts'

/** The age up to which an action is accepted that arrives for the first time. Deletions are remembered for longer, so a
 * token that is sent again cannot bring an action back. Deliveries are retried for a week, and histories go back a
 * month. */
export const maxTokenAgeSecs = 180 * 86_400

/** Why an action that is not held here is too old to be accepted; undefined when it is not. `now`: Unix seconds. */
export function tooOld({ payload }: Pick<ReceivedAction, 'payload'>, now: number): Failure | undefined {
  if (payload.iat > now - maxTokenAgeSecs) return undefined
  return invalid('/iat', 'lies 180 days back or more')
}
