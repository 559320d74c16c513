import type { StoredAction } from './action.ts'
import type { ActionChange } from './events.ts'

const circleTypes: ReadonlySet<string> = new Set(['FLLW', 'CONN'])

/** Can this change the roles that people have at the tenant? Those in a community follow from what binds. */
export function changesRoles({ tenant, action }: Pick<ActionChange, 'tenant' | 'action'>): boolean {
  return tenant.type === 'community' && circleTypes.has(action.type)
}

/** Does this action let its issuer, or for a connection also its receiver, read more of what the other publishes? */
export function opensHistory({ type, subType, status }: StoredAction): boolean {
  return circleTypes.has(type) && subType === undefined && status === 'A'
}
