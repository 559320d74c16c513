import { type ActionId, type IdTag, parseActionId, parseIdTag } from './ids.ts'
import { parseSignedToken, type SignedToken, type SignedTokenProblem } from './signed-token.ts'

/** Largest token that is taken, in characters. */
export const maxActionTokenLength = 262_144

/** How long a token is good that says nothing of an end, in seconds, unless its type has a lifetime of its own: ten
 * years of 365 days. */
export const actionLifetimeSecs = 10 * 365 * 86_400

/** An action token taken apart; nothing about it is verified yet. */
export interface ParsedActionToken extends Omit<SignedToken, 'payload'> {
  readonly issuerTag: IdTag
  readonly actionId: ActionId
  /** Unchecked against `ActionTokenPayload` but for the members above. */
  readonly payload: unknown
}

/** Why a text is not an action token. */
export type TokenProblem = SignedTokenProblem | 'issuer' | 'action-id'

/** Takes an action token apart and checks its form: that of `parseSignedToken`, and the names in it. */
export function parseActionToken(text: string): ParsedActionToken | { readonly problem: TokenProblem } {
  const token = parseSignedToken(text, maxActionTokenLength)
  if ('problem' in token) return token
  const { payload } = token
  const issuerTag = typeof payload.issuerTag === 'string' ? parseIdTag(payload.issuerTag) : undefined
  if (!issuerTag || issuerTag !== payload.issuerTag) return { problem: 'issuer' }
  const actionId = typeof payload.actionId === 'string' ? parseActionId(payload.actionId) : undefined
  if (!actionId) return { problem: 'action-id' }
  return { ...token, issuerTag, actionId }
}
