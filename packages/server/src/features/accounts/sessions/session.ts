import { hash, randomBytes } from 'node:crypto'
import type { IdTag, Scope } from '@kith/protocol'

/** The methods by which a person signs in to their own tenant. */
export const personalMethods = ['password', 'passkey', 'qr', 'set-up'] as const

/** How a session began. Only sessions of the personal methods are listed. */
export type SessionMethod = (typeof personalMethods)[number] | 'proxy' | 'apikey' | 'reference' | 'app'

export function isPersonal(method: SessionMethod): boolean {
  const personal: readonly SessionMethod[] = personalMethods
  return personal.includes(method)
}

/** `lastUsedAt` of an API key with which nothing was asked yet. */
export const neverUsed = 0

/** The revocable row behind a token, which every use of the token reads. */
export interface Session {
  readonly sid: string
  /** Undefined for those who hold a reference and have no identity. */
  readonly callerTag?: IdTag
  readonly method: SessionMethod
  /** No token of this session is worth more; undefined = no limit. */
  readonly scope?: Scope
  readonly createdAt: number
  /** When the person last proved who they are; of a visitor when the proxy token was issued. */
  readonly signedInAt: number
  /** Unix seconds, or `neverUsed`. */
  readonly lastUsedAt: number
  /** Undefined = never. */
  readonly expiresAt?: number
  /** The session at the caller's own tenant with which this one ends: of a visitor from a tenant of this server, and of an
   * app. */
  readonly homeSid?: string
  readonly ip: string
  readonly userAgent?: string
  /** What the person calls it: of API keys. Which one it is: of apps. */
  readonly label?: string
  /** How the secret of an API key begins. */
  readonly secretPrefix?: string
}

/** How long things last, in seconds (docs/protocol/credentials.md). */
export interface TokenLifetimes {
  readonly loginSecs: number
  /** From sign-in to the last refresh. */
  readonly sessionSecs: number
  readonly accessSecs: number
  readonly referenceSecs: number
  readonly proxySecs: number
}

export function newSessionId(): string {
  return randomBytes(16).toString('base64url')
}

/** The stored hash of a secret. Secrets have at least 128 random bits, so one round of SHA-256 is enough. */
export function secretHash(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** The earliest of the times that are there. */
export function earliest(first: number, ...others: (number | undefined)[]): number {
  return others.reduce<number>((least, time) => (time === undefined ? least : Math.min(least, time)), first)
}
