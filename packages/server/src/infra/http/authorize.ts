import {
  type Contract,
  type ErrorCode,
  roleLevel,
  type Scope,
  type ScopeRequirement,
  scopeAllows,
} from '@kith/protocol'
import { type AnyCaller, type Identified, isPersonal } from '#infra/caller/index.ts'

/** Why the contract does not let this caller in, or undefined when it does. What a caller may do with one thing of
 * many (its own file, the file of its reference) is for the use case. */
export function authorize(contract: Contract, caller: AnyCaller): ErrorCode | undefined {
  if (contract.auth === 'none') return undefined
  switch (caller.kind) {
    case 'guest':
      return contract.auth !== 'optional' || contract.role ? 'E-AUTH-UNAUTH' : undefined
    case 'reference':
      if (!contract.guests || contract.role || contract.auth === 'personal') return 'E-AUTH-FORBIDDEN'
      return isWithinScope(contract, caller.scope) ? undefined : 'E-AUTH-FORBIDDEN'
    case 'identity':
      if (contract.auth === 'personal' && !isPersonal(caller)) return 'E-AUTH-FORBIDDEN'
      return isWithinScope(contract, caller.scope) && hasRequiredRole(contract, caller)
        ? undefined
        : 'E-AUTH-FORBIDDEN'
    case 'key':
      return contract.identityKeys ? undefined : 'E-AUTH-FORBIDDEN'
  }
}

function isWithinScope(contract: Contract, held: Scope | undefined): boolean {
  const { auth, scope: requirement, unscoped, guests } = contract
  if (held === undefined) return true
  if (unscoped === 'strictly') return false
  if (unscoped) return held.some((item) => 'area' in item && item.area === '*' && item.level === 'admin')
  if (!requirement) return auth !== 'personal'
  if (scopeAllows(held, requirement)) return true
  // A scope for single files passes where guests do: those use cases look at the file that the scope names.
  return (
    guests === true &&
    held.some((item) => 'fileId' in item && fileRequirements[item.level].includes(requirement))
  )
}

const fileRequirements: Record<'read' | 'write', readonly ScopeRequirement[]> = {
  read: ['read:files'],
  write: ['read:files', 'write:files'],
}

function hasRequiredRole({ role, orAdmin }: Contract, caller: Identified): boolean {
  if (!role || (orAdmin && caller.isAdmin)) return true
  return role === 'SADM' ? caller.isAdmin : roleLevel(caller.role) >= roleLevel(role)
}
