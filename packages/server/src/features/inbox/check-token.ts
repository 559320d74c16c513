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
  return { text, parsed, payload, actionId, issuerTag }
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
