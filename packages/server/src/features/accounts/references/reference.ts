import { randomInt } from 'node:crypto'
import type { IdTag, ReferenceType, RefId } from '@kith/protocol'

/** A right in the form of a text: whoever knows the id may use it. */
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

/** Those that give an account to whoever has them, and how long they may live, in seconds. They serve once, and no list
 * shows them: nobody but whom they were sent to needs the id. */
export const recoveryLifeSecs: Readonly<Partial<Record<ReferenceType, number>>> = {
  'password-reset': daySecs,
  'email-verify': daySecs,
  'idp-activate': daySecs,
  welcome: 30 * daySecs,
}

export function isRecovery(type: ReferenceType): boolean {
  return recoveryLifeSecs[type] !== undefined
}

/** Can it be used no more, because it was used up or has expired? */
export function isSpent({ count, expiresAt }: Reference, now: number): boolean {
  return count === 0 || (expiresAt !== undefined && expiresAt <= now)
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24

/** 142 bits of chance. */
export function newRefId(): RefId {
  return Array.from({ length: idLength }, () => alphabet[randomInt(alphabet.length)]).join('') as RefId
}
