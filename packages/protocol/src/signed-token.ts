import { decodeBase64Url } from './base64url.ts'
import { readJson } from './json.ts'

/** A compact JWS taken apart; nothing about it is verified yet. */
export interface SignedToken {
  readonly kid: string
  readonly payload: Readonly<Record<string, unknown>>
  /** `header.payload` as it was signed. */
  readonly signingInput: string
  /** 96 bytes: r and s of P-384. */
  readonly signature: Uint8Array
}

/** Why a text is not a token signed with ES384. */
export type SignedTokenProblem = 'form' | 'header' | 'algorithm' | 'payload'

const kidForm = /^[A-Za-z0-9_-]{1,64}$/
const headerMembers = new Set(['alg', 'typ', 'kid'])

/** Takes a compact JWS apart and checks its form; its JSON obeys the rules of `readJson`. Only `alg`, `typ` and `kid` are known in the header: anything that
 * could point the verifier at another key (`jwk`, `jku`, `x5u`, `crit`, …) is refused. */
export function parseSignedToken(
  text: string,
  maxLength: number,
): SignedToken | { readonly problem: SignedTokenProblem } {
  const [headerText, payloadText, signatureText, rest] = text.length > maxLength ? [] : text.split('.', 4)
  if (!headerText || !payloadText || !signatureText || rest !== undefined) return { problem: 'form' }
  const signature = decodeBase64Url(signatureText)
  const header = decodeObject(headerText)
  if (!header || !signature) return { problem: 'form' }
  if (header.alg !== 'ES384' || signature.length !== 96) return { problem: 'algorithm' }
  if (!isHeader(header)) return { problem: 'header' }
  const payload = decodeObject(payloadText)
  if (!payload) return { problem: 'payload' }
  return { kid: header.kid, payload, signingInput: `${headerText}.${payloadText}`, signature }
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
  const read = bytes && readJson(bytes)
  if (!read || 'problem' in read) return undefined
  const { value } = read
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
