import {
  type ErrorCode,
  type Requirements,
  roleLevel,
  type Scope,
  type ScopeRequirement,
  scopeAllows,
} from '@kith/protocol'
import { type AnyCaller, type Identified, isPersonal } from '#infra/caller/index.ts'
import { Failure, tooNarrow, unauthenticated } from '#lib/failure.ts'

/** Why the requirements do not let this caller in, or undefined when they do. What a caller may do with one thing of
 * many (its own file, the file of its reference) is for the use case. */
export function authorize(requirements: Requirements, caller: AnyCaller): ErrorCode | undefined {
  if (requirements.auth === 'none') return undefined
  switch (caller.kind) {
    case 'guest':
      return requirements.auth !== 'optional' || requirements.role ? 'E-AUTH-UNAUTH' : undefined
    case 'reference':
      if (!requirements.guests || requirements.role || requirements.auth === 'personal')
        return 'E-AUTH-FORBIDDEN'
      return isWithinScope(requirements, caller.scope) ? undefined : 'E-AUTH-FORBIDDEN'
    case 'identity':
      if (requirements.orFileToken && isFileToken(caller)) return undefined
      if (requirements.auth === 'personal' && !isPersonal(caller)) return 'E-AUTH-FORBIDDEN'
      return isWithinScope(requirements, caller.scope) && hasRequiredRole(requirements, caller)
        ? undefined
        : 'E-AUTH-FORBIDDEN'
    case 'key':
      return requirements.identityKeys ? undefined : 'E-AUTH-FORBIDDEN'
  }
}

/** The same as the failure that the caller is told: with the scope that its token lacks, if there is one that would do. */
export function refusalOf(requirements: Requirements, caller: AnyCaller): Failure | undefined {
  const code = authorize(requirements, caller)
  if (code === undefined) return undefined
  if (code === 'E-AUTH-UNAUTH') return unauthenticated('missing')
  return isTooNarrow(requirements, caller) ? tooNarrow(lackedBy(requirements)) : new Failure(code)
}

function isTooNarrow(requirements: Requirements, caller: AnyCaller): boolean {
  if (caller.kind === 'reference')
    return requirements.guests === true && !isWithinScope(requirements, caller.scope)
  return caller.kind === 'identity' && !isWithinScope(requirements, caller.scope)
}

function lackedBy({ auth, unscoped, scope }: Requirements): string | undefined {
  if (auth === 'personal' || unscoped === 'strictly') return undefined
  return unscoped ? 'admin' : scope
}

function isFileToken({ isOwner, tokenUse, scope }: Identified): boolean {
  return (
    isOwner &&
    tokenUse === 'access' &&
    scope?.length !== 0 &&
    scope?.every((item) => 'fileId' in item) === true
  )
}

function isWithinScope(requirements: Requirements, held: Scope | undefined): boolean {
  const { auth, scope: requirement, unscoped, guests } = requirements
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

function hasRequiredRole({ role, orAdmin }: Requirements, caller: Identified): boolean {
  if (!role || (orAdmin && caller.isAdmin)) return true
  return role === 'SADM' ? caller.isAdmin : roleLevel(caller.role) >= roleLevel(role)
}
