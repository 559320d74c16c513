import Type, { type Static } from 'typebox'
import { decodeBase64Url } from './base64url.ts'
import { type ActionId, type IdTag, parseActionId, parseIdTag } from './ids.ts'

/** Largest token that is taken, in characters. */
export const maxActionTokenLength = 262_144

/** The payload of a published action (SPEC "Action", DECISIONS part 11): a compact JWS, ES384. All times are Unix seconds. */
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
  expiresAt: Type.Optional(Type.Integer()),
  x: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  nonce: Type.String({
    minLength: 22,
    maxLength: 22,
    description: '16 bytes, base64url; hashed as text into actionId',
  }),
  createdAt: Type.Integer({ minimum: 0, maximum: 99_999_999_999 }),
  iat: Type.Integer({ minimum: 0, maximum: 99_999_999_999 }),
  exp: Type.Integer({ minimum: 0, maximum: 99_999_999_999 }),
})
export type ActionTokenPayload = Static<typeof ActionTokenPayload>

/** A token taken apart; nothing about it is verified yet. */
export interface ParsedActionToken {
  readonly kid: string
  readonly issuerTag: IdTag
  readonly actionId: ActionId
  /** Unchecked against `ActionTokenPayload` but for the members above. */
  readonly payload: unknown
  /** `header.payload` as it was signed. */
  readonly signingInput: string
  /** 96 bytes: r and s of P-384. */
  readonly signature: Uint8Array
}

/** Why a text is not an action token. */
export type TokenProblem = 'form' | 'header' | 'algorithm' | 'payload' | 'issuer' | 'action-id'

const kidForm = /^[A-Za-z0-9_-]{1,64}$/
const headerMembers = new Set(['alg', 'typ', 'kid'])

/** Takes a compact JWS apart and checks its form. Only `alg`, `typ` and `kid` are known in the header: anything that
 * could point the verifier at another key (`jwk`, `jku`, `x5u`, `crit`, …) is refused. */
export function parseActionToken(text: string): ParsedActionToken | { readonly problem: TokenProblem } {
  const [headerText, payloadText, signatureText, rest] =
    text.length > maxActionTokenLength ? [] : text.split('.', 4)
  if (!headerText || !payloadText || !signatureText || rest !== undefined) return { problem: 'form' }
  const signature = decodeBase64Url(signatureText)
  const header = decodeObject(headerText)
  if (!header || !signature) return { problem: 'form' }
  if (header.alg !== 'ES384' || signature.length !== 96) return { problem: 'algorithm' }
  if (!isHeader(header)) return { problem: 'header' }
  const payload = decodeObject(payloadText)
  if (!payload) return { problem: 'payload' }
  const issuerTag = typeof payload.issuerTag === 'string' ? parseIdTag(payload.issuerTag) : undefined
  if (!issuerTag || issuerTag !== payload.issuerTag) return { problem: 'issuer' }
  const actionId = typeof payload.actionId === 'string' ? parseActionId(payload.actionId) : undefined
  if (!actionId) return { problem: 'action-id' }
  return {
    kid: header.kid,
    issuerTag,
    actionId,
    payload,
    signingInput: `${headerText}.${payloadText}`,
    signature,
  }
}

function isHeader(header: Record<string, unknown>): header is { alg: 'ES384'; typ: 'JWT'; kid: string } {
  const { typ, kid } = header
  return (
    typ === 'JWT' &&
    typeof kid === 'string' &&
    kidForm.test(kid) &&
    Object.keys(header).every((name) => headerMembers.has(name))
  )
}

function decodeObject(text: string): Record<string, unknown> | undefined {
  const bytes = decodeBase64Url(text)
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
