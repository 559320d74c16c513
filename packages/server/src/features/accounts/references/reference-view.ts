import type { ReferenceInfo, ReferenceView } from '@kith/protocol'
import { type Reference, stateOf } from './reference.ts'

export function toView(reference: Reference): ReferenceView {
  const { refId, type, description, createdAt, expiresAt, count, resourceId, accessLevel } = reference
  return {
    refId,
    type,
    createdAt,
    count,
    ...(description === undefined ? {} : { description }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(resourceId === undefined ? {} : { resourceId }),
    ...(accessLevel === undefined ? {} : { accessLevel }),
  }
}

/** For a caller who has nothing but the id. */
export function toInfo(reference: Reference, now: number): ReferenceInfo {
  const { refId, type } = reference
  return { refId, type, state: stateOf(reference, now) }
}
