import {
  type ActionId,
  ActionTokenPayload,
  type IdTag,
  type ParsedActionToken,
  parseActionToken,
  type TokenProblem,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { ownActionId } from './action-id.ts'

/** A token whose form is right and whose id is its issuer's. Neither its times nor its signature have been checked. */
export interface ReadToken {
  readonly text: string
  readonly parsed: ParsedActionToken
  readonly payload: ActionTokenPayload
  readonly actionId: ActionId
  readonly issuerTag: IdTag
}

const payloadSchema = Compile(ActionTokenPayload)

const problems: Record<TokenProblem, string> = {
  form: 'not a compact JWS',
  header: 'the header may hold alg, typ and kid only',
  algorithm: 'the algorithm must be ES384',
  payload: 'the payload is no JSON object, is nested too deeply or contains U+0000',
  issuer: 'issuerTag is no identity in its canonical form',
  'action-id': 'actionId has not the form of an action id',
}

/** Checks what the text of a token says by itself. `E-VALIDATION`; `E-AUTH-UNAUTH` for another algorithm. */
export function readActionToken(text: string): ReadToken {
  const parsed = parseActionToken(text)
  // A token of another algorithm has no valid signature, whatever else is wrong with it.
  if ('problem' in parsed && parsed.problem === 'algorithm') throw unauthenticated('bad-signature')
  if ('problem' in parsed) throw badToken(problems[parsed.problem])
  const { payload, actionId, issuerTag } = parsed
  if (!payloadSchema.Check(payload)) throw badToken(firstIssue(payload))
  if (ownActionId(issuerTag, payload.nonce) !== actionId)
    throw badToken('actionId does not follow from issuerTag and nonce')
  return { text, parsed, payload, actionId, issuerTag }
}

/** `E-VALIDATION` for a token with a lasting fault. */
export function badToken(
  message: string,
  { path = '/token', reason = 'malformed' }: { path?: string; reason?: 'malformed' | 'expired' } = {},
): Failure {
  return new Failure('E-VALIDATION', { details: { reason, issues: [{ path, message }] } })
}

function firstIssue(payload: unknown): string {
  const [issue] = payloadSchema.Errors(payload)
  return issue ? `${issue.instancePath || '/'} ${issue.message}` : 'the payload is not an action'
}
