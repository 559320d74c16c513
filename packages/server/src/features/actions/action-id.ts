import { createHash, hash, randomBytes } from 'node:crypto'
import { type ActionId, actionIdOf, type IdTag } from '@kith/protocol'

/** 16 random bytes as base64url text. It is this text that `ownActionId` hashes. */
export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** The id that no other issuer can make with this nonce (docs/protocol/conventions.md). */
export function ownActionId(issuerTag: IdTag, nonce: string): ActionId {
  return actionIdOf(createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url'))
}

/** The SHA-256 of a token's text, by which an announcement names the token that is delivered with it. */
export function hashOfToken(text: string): string {
  return hash('sha256', text, 'base64url')
}
