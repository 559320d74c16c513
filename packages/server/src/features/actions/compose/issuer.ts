import { actsAsTenant } from '#features/relations/index.ts'
import { type Caller, hasRole, type Identified, type Tenant } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'

/** Fails unless the caller may issue actions in the tenant's name: its owner, or a contributor of the community. */
export function assertMayIssue(tenant: Tenant, caller: Caller): asserts caller is Identified {
  const isMember = tenant.type === 'community' && hasRole(caller, 'contributor')
  if (caller.kind !== 'identity' || !(caller.isOwner || isMember)) throw new Failure('E-AUTH-FORBIDDEN')
}

/** Does the caller count as the action's issuer (docs/protocol/action-life.md, Who is who)? */
export function isIssuer(
  tenant: Tenant,
  caller: Caller,
  action: Pick<StoredAction, 'issuerTag' | 'authorTag'>,
): boolean {
  if (action.issuerTag !== tenant.idTag || caller.kind !== 'identity') return false
  return actsAsTenant(caller, tenant) || action.authorTag === caller.idTag
}
