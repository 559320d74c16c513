import { createHash } from 'node:crypto'
import {
  type ActionId,
  ActionTokenPayload,
  actionIdOf,
  type IdTag,
  type ParsedActionToken,
  parseActionToken,
  type TokenProblem,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { Failure } from '#lib/failure.ts'

/** A token whose form, times and id are right; its signature is not checked yet. */
export interface CheckedToken {
  readonly text: string
  readonly parsed: ParsedActionToken
  readonly payload: ActionTokenPayload
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** What it passes on, when it is a community's announcement; this holds no other. */
  readonly announced?: CheckedToken
}

// How far another server's clock may be ahead of ours (DECISIONS part 11).
const clockSkewSecs = 300

const payloadSchema = Compile(ActionTokenPayload)

const problems: Record<TokenProblem, string> = {
  form: 'not a compact JWS',
  header: 'the header may hold alg, typ and kid only',
  algorithm: 'the algorithm must be ES384',
  payload: 'the payload is no JSON object',
  issuer: 'issuerTag is no identity in its canonical form',
  'action-id': 'actionId has not the form of an action id',
}

/** Every check that needs nobody else: form, members, times, and that `actionId` is the issuer's own. */
export function checkToken(text: string, nowSecs: number): CheckedToken {
  const parsed = parseActionToken(text)
  // A token that is not signed with the one algorithm has no valid signature, whatever else it is.
  if ('problem' in parsed && parsed.problem === 'algorithm') throw new Failure('E-AUTH-UNAUTH')
  if ('problem' in parsed) throw bad(problems[parsed.problem])
  const { payload, actionId, issuerTag } = parsed
  if (!payloadSchema.Check(payload)) throw bad(firstIssue(payload))
  if (payload.iat > nowSecs + clockSkewSecs) throw bad('iat is in the future')
  if (payload.exp <= nowSecs) throw bad('the token has expired')
  if (ownActionId(issuerTag, payload.nonce) !== actionId)
    throw bad('actionId does not follow from issuerTag and nonce')
  const token = { text, parsed, payload, actionId, issuerTag }
  const announced = payload.type === 'ANNC' ? readAnnounced(token, nowSecs) : undefined
  return announced ? { ...token, announced } : token
}

/** An announcement is about what it holds, and that was given to who announces it. */
function readAnnounced(
  { payload }: Pick<CheckedToken, 'payload'>,
  nowSecs: number,
): CheckedToken | undefined {
  const text = payload.content?.token
  if (text === undefined) return undefined
  if (typeof text !== 'string') throw bad('content.token is no token')
  const announced = checkToken(text, nowSecs)
  const { actionId, payload: given } = announced
  if (given.type === 'ANNC' || actionId !== payload.subject) throw bad('content.token is not the subject')
  const isGiven = [given.audienceTag, ...(given.audience ?? [])].includes(payload.issuerTag)
  if (!isGiven) throw bad('content.token was not given to the issuer')
  return announced
}

/** DECISIONS part 4: an action's id commits to its issuer, so nobody can occupy another issuer's id. */
function ownActionId(issuerTag: IdTag, nonce: string): ActionId {
  return actionIdOf(createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url'))
}

function firstIssue(payload: unknown): string {
  const [issue] = payloadSchema.Errors(payload)
  return issue ? `${issue.instancePath || '/'} ${issue.message}` : 'the payload is not an action'
}

function bad(message: string): Failure {
  return new Failure('E-VALIDATION', { details: { issues: [{ path: '/token', message }] } })
}
