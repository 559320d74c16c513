import { createHash, hash, randomBytes } from 'node:crypto'
import { type ActionId, actionIdOf, type IdTag } from '@kith/protocol'

/** 16 random bytes as base64url text; the text is what is hashed. */
export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** The id that only this issuer can have with this nonce (docs/protocol/conventions.md). */
export function ownActionId(issuerTag: IdTag, nonce: string): ActionId {
  return actionIdOf(createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url'))
}

/** By which an announcement names the token that stands beside it: SHA-256 of its text. */
export function hashOfToken(text: string): string {
  return hash('sha256', text, 'base64url')
}
