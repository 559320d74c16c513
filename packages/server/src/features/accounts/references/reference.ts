import { randomInt } from 'node:crypto'
import type { IdTag, ReferenceType, RefId } from '@kith/protocol'

/** A right bound to a secret id: a caller who knows the id may use it. */
export interface Reference {
  readonly refId: RefId
  readonly type: ReferenceType
  /** Absent when the server itself made it. */
  readonly createdBy?: IdTag
  readonly description?: string
  readonly createdAt: number
  readonly expiresAt?: number
  /** Uses that are left; null = without limit. */
  readonly count: number | null
  readonly resourceId?: string
  readonly accessLevel?: 'read' | 'write'
}

const daySecs = 86_400

/** The types that give their holder an account, and how long they may live, in seconds. They have one use and are in no
 * list: only the recipient needs the id. */
export const recoveryLifeSecs: Readonly<Partial<Record<ReferenceType, number>>> = {
  'password-reset': daySecs,
  'email-verify': daySecs,
  'idp-activate': daySecs,
  welcome: 30 * daySecs,
}

export function isRecovery(type: ReferenceType): boolean {
  return recoveryLifeSecs[type] !== undefined
}

/** Is it used up or expired? */
export function isSpent({ count, expiresAt }: Reference, now: number): boolean {
  return count === 0 || (expiresAt !== undefined && expiresAt <= now)
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24

/** 142 bits of chance. */
export function newRefId(): RefId {
  return Array.from({ length: idLength }, () => alphabet[randomInt(alphabet.length)]).join('') as RefId
}
