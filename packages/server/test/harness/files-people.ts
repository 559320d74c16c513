import { type CommunityRole, type IdTag, parseScope, type RefId } from '@kith/protocol'
import { type Caller, type Identified, identified, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'

export const aliceTag = 'alice.example' as IdTag
export const bobTag = 'bob.example' as IdTag
export const clubTag = 'club.example' as IdTag

export const alice: Tenant = { tenantId: 1 as TenantId, idTag: aliceTag, type: 'person' }
export const bob: Tenant = { tenantId: 2 as TenantId, idTag: bobTag, type: 'person' }
export const club: Tenant = { tenantId: 3 as TenantId, idTag: clubTag, type: 'community' }

/** An identity, on whatever host: its owner there, or a member with this role. */
export function identity(
  idTag: IdTag,
  tenant: Tenant,
  options: { role?: CommunityRole; scope?: string; sessionId?: string } = {},
): Identified {
  const isOwner = idTag === tenant.idTag
  const { role = isOwner ? 'leader' : 'public', scope, sessionId } = options
  const parsed = scope === undefined ? undefined : parseScope(scope)
  const session = sessionId === undefined ? {} : { sessionId }
  return identified(idTag, { tokenUse: 'login', scope: parsed, role, isOwner, ...session })
}

/** A guest who holds nothing but the token of a reference, which may be gone. */
export function holder(scope: string, refId = '0123456789ABCDEFabcdefgh'): Caller {
  return { kind: 'reference', refId: refId as RefId, scope: parseScope(scope) ?? [] }
}
