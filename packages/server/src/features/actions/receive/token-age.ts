import { type Failure, invalid } from '#lib/failure.ts'
import type { ReceivedAction } from './received-action.ts'

/** How old an action may be that comes for the first time. What was deleted is remembered for longer, so a token that is
 * sent again cannot bring it back. Deliveries are tried for a week, and history reaches a month. */
export const maxTokenAgeSecs = 180 * 86_400

/** Why an action that is not known here is not taken any more; undefined when it is. `now`: Unix seconds. */
export function tooOld({ payload }: Pick<ReceivedAction, 'payload'>, now: number): Failure | undefined {
  if (payload.iat > now - maxTokenAgeSecs) return undefined
  return invalid('/iat', 'lies 180 days back or more')
}
