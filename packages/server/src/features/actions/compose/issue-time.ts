import { findActionType } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { findNewest, supersedeAction } from '../action-store.ts'
import { uniqueKeyOf } from '../unique-key.ts'

type Issued = Pick<StoredAction, 'issuedAt' | 'createdAt'>

/** Chooses the `iat` of the next action with a unique key, given the newest one: no two of them are sent with the same
 * `iat`. When the current second is taken, the action gets the next second and is sent only then. Actions made in the
 * meantime replace the one that waits, so a burst does not reach into the future. Requests are not replaced but
 * numbered on, at most five seconds ahead, because a request made again after its end awaits an answer again. */
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

/** Was it signed for a second that has not come yet? */
function isWaiting({ issuedAt, createdAt }: Issued, now: number): boolean {
  return issuedAt > createdAt && issuedAt > now
}

/** The chosen time is taken: another action with the same unique key was stored, or the second has begun. */
export class IssueTimeTaken extends Failure {
  constructor() {
    super('E-RATELIMIT', { retryAfterSecs: 1 })
  }
}

/** In the transaction that stores a signed action of the tenant: makes sure that no other action with its unique key
 * was or will be sent with its `iat`. A waiting action that it replaces loses its token before that is sent. */
export async function claimIssueTime(tx: Writer, action: StoredAction, now: number): Promise<void> {
  if (uniqueKeyOf(action) === undefined) return
  const newest = await findNewest(tx, action)
  if (!newest || newest.actionId === action.actionId || newest.issuedAt < action.issuedAt) return
  const takesPlace = newest.issuedAt === action.issuedAt && isWaiting(newest, now) && isWaiting(action, now)
  if (!takesPlace || isRequest(action.type)) throw new IssueTimeTaken()
  await supersedeAction(tx, newest.actionId)
}

// Of several attempts at the same time all but one must sign again; within a second each has found a time.
const maxTries = 8

/** Signs and stores, and repeats both when another action was faster. In the end fails with `E-RATELIMIT`, to be
 * retried after a second. */
export async function withIssueTime<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof IssueTimeTaken) || tries === maxTries) throw error
    }
}
