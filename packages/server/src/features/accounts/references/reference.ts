import { randomInt } from 'node:crypto'
import type { IdTag, ReferenceInfo, ReferenceType, RefId } from '@kith/protocol'
import { acceptName } from '#lib/accept-name.ts'

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

const maxLabelLength = 500

/** The label of a reference as it is kept: others are shown it. Of blanks alone it is none. */
export function labelOf(description: string | undefined): Pick<Reference, 'description'> {
  if (description === undefined || description.trim() === '') return {}
  return { description: acceptName(description, '/description', maxLabelLength) }
}

const daySecs = 86_400

/** The types that are not made as references are: the server makes them with the identity, or for the address, that they are
 * about, and communities their links. */
export const typesMadeElsewhere: readonly ReferenceType[] = ['idp-activate', 'email-change', 'community.join']

/** The types that give their holder an account, and how long they may live, in seconds. They have one use and are in no
 * list: only the recipient needs the id. */
export const recoveryLifeSecs: Readonly<Partial<Record<ReferenceType, number>>> = {
  'password-reset': daySecs,
  'email-verify': daySecs,
  'idp-activate': daySecs,
  'email-change': daySecs,
  welcome: 30 * daySecs,
}

export function isRecovery(type: ReferenceType): boolean {
  return recoveryLifeSecs[type] !== undefined
}

/** Is it used up or expired? */
export function isSpent(reference: Reference, now: number): boolean {
  return stateOf(reference, now) !== 'active'
}

/** Whether it can be used now. */
export function stateOf({ count, expiresAt }: Reference, now: number): ReferenceInfo['state'] {
  if (count === 0) return 'used'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24

/** 142 bits of chance. */
export function newRefId(): RefId {
  return Array.from({ length: idLength }, () => alphabet[randomInt(alphabet.length)]).join('') as RefId
}
