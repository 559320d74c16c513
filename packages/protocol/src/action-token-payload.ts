import Type, { type Static } from 'typebox'
import { maxTimestamp } from './timestamps.ts'

const Seconds = Type.Integer({
  minimum: 0,
  maximum: maxTimestamp,
  description: 'Unix seconds (milliseconds are refused)',
})

const TokenHash = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'SHA-256 of the text of a token, base64url',
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
  parentHash: Type.Optional(TokenHash),
  rootHash: Type.Optional(TokenHash),
  subjectHash: Type.Optional(TokenHash),
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
