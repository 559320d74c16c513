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
