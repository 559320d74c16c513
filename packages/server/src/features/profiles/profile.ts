import type { IdTag } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'

/** What an identity says of itself. Times are Unix seconds. */
export interface StoredProfile {
  readonly idTag: IdTag
  readonly name: string
  readonly type: 'person' | 'community'
  readonly profilePic: string | undefined
  readonly coverPic: string | undefined
  /** Free members: biography, location, … */
  readonly x: Readonly<Record<string, unknown>> | undefined
  readonly createdAt: number
  readonly updatedAt: number
  /** When its server was last asked; undefined for tenants of this server. */
  readonly refreshedAt: number | undefined
  readonly etag: string | undefined
}

/** What followers see of a profile. */
export type ProfileMember = 'name' | 'profilePic' | 'coverPic' | 'x'

const profileMembers: readonly ProfileMember[] = ['name', 'profilePic', 'coverPic', 'x']

/** Which of these differ. */
export function changedMembers(before: StoredProfile, now: StoredProfile): ProfileMember[] {
  return profileMembers.filter((member) => JSON.stringify(before[member]) !== JSON.stringify(now[member]))
}

/** Largest `x`, as JSON in UTF-8. */
const maxProfileExtraBytes = 16_384

/** Fails with `E-VALIDATION` when the free members are too large. */
export function assertExtra(x: Readonly<Record<string, unknown>>): void {
  if (!isExtra(x)) throw invalid('/x', `must be at most ${maxProfileExtraBytes} bytes of JSON`)
}

export function isExtra(x: Readonly<Record<string, unknown>>): boolean {
  return Buffer.byteLength(JSON.stringify(x)) <= maxProfileExtraBytes
}
