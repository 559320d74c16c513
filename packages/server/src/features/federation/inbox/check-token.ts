import { type ActionTokenPayload, actionLifetimeSecs, findServerActionType } from '@kith/protocol'
import { badToken, hashOfToken, type ReadToken, readActionToken } from '#features/actions/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

/** A token whose form, times and id are valid; its signature is not checked yet. */
export interface CheckedToken extends ReadToken {
  /** The announced token, if this is an announcement; it is no announcement itself. */
  readonly announced?: CheckedToken
}

/** A token as it is delivered, and the one delivered beside it. */
export interface Delivery {
  readonly token: string
  /** The token that it announces. */
  readonly beside?: string
}

// Other servers may count the leap days of ten years.
const leapDaysSecs = 3 * 86_400

/** Every check that needs no other server: form, members, times, that `actionId` is the issuer's own, and that an
 * announcement matches the token beside it. */
export function checkToken({ token: text, beside }: Delivery, nowSecs: number): CheckedToken {
  const token = readActionToken(text)
  const { payload } = token
  assertTimes(payload, nowSecs)
  assertNotAhead(payload, nowSecs)
  if (payload.type !== 'ANNC' || payload.subType === 'DEL') return token
  return { ...token, announced: readAnnounced(token, beside, nowSecs) }
}

/** This token cannot be accepted now but others can, so the sender need not pause the whole server. */
export function notNow(when: { readonly message?: string; readonly retryAfterSecs: number }): Failure {
  return new Failure('E-UNAVAILABLE', { ...when, details: { concerns: 'token' } })
}

// A sender is told to wait an hour at most, because the clock may be corrected before.
const longestWaitSecs = 3600
const shortestWaitSecs = 10

/** One of the two clocks is wrong and will be corrected: the sender is asked to retry. */
function assertNotAhead({ iat }: ActionTokenPayload, nowSecs: number): void {
  const aheadSecs = iat - nowSecs - clockSkewSecs
  if (aheadSecs <= 0) return
  const retryAfterSecs = Math.min(Math.max(aheadSecs, shortestWaitSecs), longestWaitSecs)
  const message = `The token is issued ${iat - nowSecs} seconds ahead of this server’s clock.`
  throw notNow({ message, retryAfterSecs })
}

/** Fails for times that no later try mends: the token is over, or they contradict each other. */
function assertTimes({ type, iat, exp, expiresAt }: ActionTokenPayload, nowSecs: number): void {
  const endsAt = iat + longestLifeSecs(type)
  if (exp <= nowSecs) throw badToken('the token has expired', { reason: 'expired' })
  if (endsAt <= nowSecs) throw badToken('the token is too old', { reason: 'expired' })
  if (exp <= iat) throw badToken('exp is not after iat')
  if (expiresAt !== undefined && expiresAt !== exp) throw badToken('exp is not expiresAt')
  if (expiresAt === undefined && exp > endsAt) throw badToken('exp is too long after iat')
}

function longestLifeSecs(type: string): number {
  return findServerActionType(type)?.lifetimeSecs ?? actionLifetimeSecs + leapDaysSecs
}

/** The announced token, which an announcement names by id and hash. Tokens other than comments must have been addressed
 * to the announcer. Who may announce comments is known to the holders of their thread. */
function readAnnounced(
  { payload }: Pick<CheckedToken, 'payload'>,
  beside: string | undefined,
  nowSecs: number,
): CheckedToken {
  const { hash, token: embedded } = payload.content ?? {}
  // Small tokens may be inside. The signature covers them, so they need no hash.
  const inside = hash === undefined && typeof embedded === 'string' ? embedded : undefined
  const text = inside ?? beside
  if (text === undefined) throw badToken('the announced token is missing', { path: '/announced' })
  if (inside === undefined && hash !== hashOfToken(text))
    throw badToken('content.hash is not that of the announced token')
  const announced = checkToken({ token: text }, nowSecs)
  const { actionId, payload: given } = announced
  if (given.type === 'ANNC' || actionId !== payload.subject)
    throw badToken('the announced token is not the subject')
  const isGiven = [given.audienceTag, ...(given.audience ?? [])].includes(payload.issuerTag)
  if (given.type !== 'CMNT' && !isGiven) throw badToken('the announced token was not given to the issuer')
  return announced
}
