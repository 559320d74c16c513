import type { StoredAction } from './action.ts'

const circleTypes: ReadonlySet<string> = new Set(['FLLW', 'CONN'])

/** Does this action let its issuer, or in the case of a connection its receiver, read more of what the other has
 * published? */
export function opensHistory({ type, subType, status }: StoredAction): boolean {
  return circleTypes.has(type) && subType === undefined && status === 'A'
}
