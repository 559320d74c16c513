import { findActionType } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { findNewest, supersedeAction } from '../action-store.ts'
import { uniqueKeyOf } from '../unique-key.ts'

type Issued = Pick<StoredAction, 'issuedAt' | 'createdAt'>

/** The `iat` of the next action of a key, after `newest` of that key: no two that leave have the same. In a second that
 * has one already it is the next second, and nothing leaves before that has come; what is made in the meantime takes
 * the place of what waits there, so that a burst does not reach into the future. Of requests each step counts, a few
 * seconds ahead: one that was ended and made anew waits for an answer again. */
export function nextIssueTime(type: string, newest: Issued | undefined, now: number): number {
  if (!newest || newest.issuedAt < now) return now
  if (isWaiting(newest, now) && !isRequest(type)) return newest.issuedAt
  if (isWaiting(newest, now) && newest.issuedAt >= now + maxStepsAhead) throw new IssueTimeTaken()
  return newest.issuedAt + 1
}

const maxStepsAhead = 5

function isRequest(type: string): boolean {
  return findActionType(type)?.arrivesAs === 'C'
}

/** Was it signed for a second that has not come? */
function isWaiting({ issuedAt, createdAt }: Issued, now: number): boolean {
  return issuedAt > createdAt && issuedAt > now
}

/** Another action of the same key was stored, or the second began, since the time was chosen. */
export class IssueTimeTaken extends Failure {
  constructor() {
    super('E-RATELIMIT', { retryAfterSecs: 1 })
  }
}

/** In the transaction that stores a signed action of the tenant's own: makes sure that no other of its key left or leaves
 * with its `iat`. The token of the one whose place it takes is forgotten before it was sent. */
export async function claimIssueTime(tx: Writer, action: StoredAction, now: number): Promise<void> {
  if (uniqueKeyOf(action) === undefined) return
  const newest = await findNewest(tx, action)
  if (!newest || newest.actionId === action.actionId || newest.issuedAt < action.issuedAt) return
  const takesPlace = newest.issuedAt === action.issuedAt && isWaiting(newest, now) && isWaiting(action, now)
  if (!takesPlace || isRequest(action.type)) throw new IssueTimeTaken()
  await supersedeAction(tx, newest.actionId)
}

// Of several at the same time each but one has to be signed again; a second later all have found a place.
const maxTries = 8

/** Signs and stores, and again where another was quicker; in the end `E-RATELIMIT`, which is over after a second. */
export async function withIssueTime<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof IssueTimeTaken) || tries === maxTries) throw error
    }
}
