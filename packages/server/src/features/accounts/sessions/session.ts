import { hash, randomBytes } from 'node:crypto'
import type { IdTag, Scope } from '@kith/protocol'

/** How a session began. The methods below the line are no sign-in of a person and are not listed as sessions. */
const sessionMethods = [
  'password',
  'passkey',
  'qr',
  'set-up',
  // ──
  'proxy',
  'apikey',
  'reference',
] as const
export type SessionMethod = (typeof sessionMethods)[number]

/** The methods by which a person signs in to their own tenant. */
export const personalMethods = ['password', 'passkey', 'qr', 'set-up'] as const satisfies SessionMethod[]

export function isPersonal(method: SessionMethod): boolean {
  const personal: readonly SessionMethod[] = personalMethods
  return personal.includes(method)
}

/** What stands behind a token and can be taken back: a row that every use of the token looks at. */
export interface Session {
  readonly sid: string
  /** Undefined for those who hold a reference and have no identity. */
  readonly callerTag?: IdTag
  readonly method: SessionMethod
  /** No token of this session is worth more; undefined = no limit. */
  readonly scope?: Scope
  readonly createdAt: number
  /** When the person last proved who they are. */
  readonly signedInAt: number
  readonly lastUsedAt: number
  /** Undefined = never. */
  readonly expiresAt?: number
  /** Of a visitor from a tenant of this server: the session there, with which this one ends. */
  readonly homeSid?: string
  readonly ip: string
  readonly userAgent?: string
  /** What the person calls it, and how its secret begins: of API keys. */
  readonly label?: string
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

export const defaultLifetimes: TokenLifetimes = {
  loginSecs: 24 * 3600,
  sessionSecs: 30 * 24 * 3600,
  accessSecs: 3600,
  referenceSecs: 24 * 3600,
  proxySecs: 300,
}

export function newSessionId(): string {
  return randomBytes(16).toString('base64url')
}

/** What is kept of a secret: it has at least 128 bits of chance, so one round of SHA-256 is enough. */
export function secretHash(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** The earliest of the times that are there. */
export function earliest(first: number, ...others: (number | undefined)[]): number {
  return others.reduce<number>((least, time) => (time === undefined ? least : Math.min(least, time)), first)
}
