import { type CommunityRole, type IdTag, type RefId, roleLevel, type Scope } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'

/** The tenant on whose host a request arrived, or for whom a job runs. */
export interface Tenant {
  readonly tenantId: TenantId
  readonly idTag: IdTag
  readonly type: 'person' | 'community'
}

/** A caller without any credential. */
export interface Guest {
  readonly kind: 'guest'
}

/** A caller with a reference to one resource, and without an identity. */
export interface ReferenceGuest {
  readonly kind: 'reference'
  readonly refId: RefId
  readonly scope: Scope
  readonly sessionId?: string
}

/** An authenticated identity, of this server or another. */
export interface Identified {
  readonly kind: 'identity'
  readonly idTag: IdTag
  readonly tokenUse: 'login' | 'access' | 'apikey' | 'proxy' | 'ref'
  /** Undefined: the full authority of the identity. */
  readonly scope: Scope | undefined
  /** The community role on this host; the tenant's owner counts as `leader`. */
  readonly role: CommunityRole
  /** Owner of this tenant: the tenant itself, when it is a person. */
  readonly isOwner: boolean
  /** System administrator; only ever true on the base tenant's host, and never of an API key. */
  readonly isAdmin: boolean
  readonly sessionId?: string
  /** When the person last proved who they are, Unix seconds. */
  readonly signedInAt?: number
}

/** A machine with a key of an identity that this tenant manages: it may read that identity and change its address,
 * nothing else. */
export interface KeyHolder {
  readonly kind: 'key'
  readonly idTag: IdTag
  readonly keyId: number
}

/** Who asks, whatever the transport: HTTP, WebSocket, federation or a job. */
export type Caller = Guest | ReferenceGuest | Identified

/** The callers that a bearer can prove; a key holder reaches only the endpoints whose contract takes `identityKeys`. */
export type AnyCaller = Caller | KeyHolder

export const guest: Guest = { kind: 'guest' }

/** The caller's identity, if it is one. */
export function idTagOf(caller: AnyCaller): IdTag | undefined {
  return caller.kind === 'identity' ? caller.idTag : undefined
}

/** Whether the owner signed in personally: only then may credentials be changed, not with an API key or a proxy token. */
export function isPersonal(caller: Caller): boolean {
  if (caller.kind !== 'identity' || !caller.isOwner || caller.signedInAt === undefined) return false
  return caller.tokenUse === 'login' || caller.tokenUse === 'access'
}

export function hasRole(caller: Caller, role: CommunityRole): boolean {
  return caller.kind === 'identity' && roleLevel(caller.role) >= roleLevel(role)
}

export function isOwner(caller: Caller): boolean {
  return caller.kind === 'identity' && caller.isOwner
}

/** Makes the caller that an identity is: the one place where rights are put together. What is not named it does not have. */
export function identified(
  idTag: IdTag,
  rights: Pick<Identified, 'tokenUse' | 'role'> & Partial<Omit<Identified, 'kind' | 'idTag'>>,
): Identified {
  return { kind: 'identity', idTag, scope: undefined, isOwner: false, isAdmin: false, ...rights }
}

/** The tenant itself, where a job or another tenant's request does something in its name. */
export function ownerOf({ idTag }: Pick<Tenant, 'idTag'>): Identified {
  return identified(idTag, { tokenUse: 'login', role: 'leader', isOwner: true })
}

/** Somebody at the server's command line, who may do what the owner of the base tenant may, at each tenant. */
export function operatorOf({ idTag }: Pick<Tenant, 'idTag'>): Identified {
  return identified(idTag, { tokenUse: 'login', role: 'leader', isOwner: true, isAdmin: true })
}

/** An identity as a proxy token shows it to a tenant where it has this role. */
export function visitor(idTag: IdTag, role: CommunityRole): Identified {
  return identified(idTag, { tokenUse: 'proxy', role })
}
