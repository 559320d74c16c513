import Type, { type Static } from 'typebox'
import { type ActionId, type IdTag, parseActionId, parseIdTag } from './ids.ts'
import { parseSignedToken, type SignedToken, type SignedTokenProblem } from './signed-token.ts'
import { maxTimestamp } from './timestamps.ts'

/** Largest token that is taken, in characters. */
export const maxActionTokenLength = 262_144

/** How long a token is good that says nothing of an end, in seconds, unless its type has a lifetime of its own: ten
 * years of 365 days. */
export const actionLifetimeSecs = 10 * 365 * 86_400

const Seconds = Type.Integer({
  minimum: 0,
  maximum: maxTimestamp,
  description: 'Unix seconds (milliseconds are refused)',
})

/** The payload of a published action (docs/protocol/action-tokens.md): a compact JWS, ES384. Times are Unix seconds. */
export const ActionTokenPayload = Type.Object({
  actionId: Type.String(),
  type: Type.String({ minLength: 1, maxLength: 16 }),
  subType: Type.Optional(Type.String({ maxLength: 32 })),
  issuerTag: Type.String({ maxLength: 253 }),
  parentId: Type.Optional(Type.String({ maxLength: 300 })),
  rootId: Type.Optional(Type.String({ maxLength: 300 })),
  audienceTag: Type.Optional(Type.String({ maxLength: 253 })),
  audience: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100 })),
  content: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  attachments: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
  subject: Type.Optional(Type.String({ maxLength: 300 })),
  visibility: Type.Optional(
    Type.Unsafe<'P' | 'V' | 'F' | 'C'>({ type: 'string', enum: ['P', 'V', 'F', 'C'] }),
  ),
  flags: Type.Optional(Type.String({ maxLength: 32 })),
  expiresAt: Type.Optional(Seconds),
  x: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  nonce: Type.String({
    pattern: '^[A-Za-z0-9_-]{21}[AQgw]$',
    description: '16 bytes, base64url; hashed as text into actionId',
  }),
  createdAt: Seconds,
  iat: Seconds,
  exp: Seconds,
})
export type ActionTokenPayload = Static<typeof ActionTokenPayload>

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
