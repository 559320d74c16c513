import { isIP } from 'node:net'
import { type IdTag, type ManagedStatus, parseIdTag } from '@kith/protocol'
import { hasRole, type Identified, type KeyHolder, type Tenant } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'

/** A name that a provider has given, or is about to give. */
export interface ManagedIdentity {
  readonly idTag: IdTag
  readonly email?: string
  readonly registrarTag: IdTag
  /** Who owns it, when that is not the identity itself. */
  readonly ownerTag?: IdTag
  /** IP address or host name of its server. */
  readonly address?: string
  readonly addressUpdatedAt?: number
  readonly status: ManagedStatus
  readonly isDynamic: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** When it is removed, unless it is activated or, later, seen again. */
  readonly expiresAt: number
  /** When its owner or its key was last seen. */
  readonly lastSeenAt?: number
  /** For a name that had no sign of use in its year: when it is released, unless it is seen before. */
  readonly graceEndsAt?: number
}

const daySecs = 24 * 3600

/** How long a reference is good, a name is pending, an active one lives without a sign of its owner, and a released one
 * rests. */
export const referenceSecs = daySecs
export const pendingSecs = 7 * daySecs
export const activeSecs = 365 * daySecs
export const quarantineSecs = 30 * daySecs
/** How much longer a name is kept for which no server answers, and how soon it is asked again. */
export const graceSecs = 30 * daySecs
export const recheckSecs = daySecs

/** What a caller is to an identity; undefined: the caller may not know of it. */
export type IdentityRole = 'provider' | 'owner' | 'key' | 'registrar'

/** Does the caller own the provider: on a community's host its leaders, on the base tenant's also administrators? */
export function isProvider(caller: Identified | KeyHolder, tenant: Tenant): boolean {
  if (caller.kind === 'key') return false
  return caller.isOwner || caller.isAdmin || (tenant.type === 'community' && hasRole(caller, 'leader'))
}

export function roleOnIdentity(
  caller: Identified | KeyHolder,
  tenant: Tenant,
  { idTag, ownerTag, registrarTag }: Pick<ManagedIdentity, 'idTag' | 'ownerTag' | 'registrarTag'>,
): IdentityRole | undefined {
  if (caller.kind === 'key') return caller.idTag === idTag ? 'key' : undefined
  if (isProvider(caller, tenant)) return 'provider'
  if (caller.idTag === (ownerTag ?? idTag)) return 'owner'
  return caller.idTag === registrarTag ? 'registrar' : undefined
}

/** Fails unless the role allows a change now: a registrar may change a pending identity, and only the
 * provider a suspended one. */
export function assertMayChange(ownRole: IdentityRole, { status }: Pick<ManagedIdentity, 'status'>): void {
  if (ownRole === 'provider') return
  if (ownRole === 'registrar' && status !== 'pending')
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This name already belongs to its owner.' })
  if (status === 'suspended') throw new Failure('E-STATE', { message: 'This name is suspended.' })
}

/** The identity as a role sees it: once it is active, its registrar no longer sees the owner's mail address. */
export function shownTo(ownRole: IdentityRole, identity: ManagedIdentity): ManagedIdentity {
  if (ownRole !== 'registrar' || identity.status === 'pending') return identity
  const { email: _, ...shown } = identity
  return shown
}

/** The address of a server in its one spelling. */
export function acceptAddress(text: string, idTag: IdTag): string {
  if (isIP(text) === 4) return text
  if (isIP(text) === 6 && !text.includes('%')) return new URL(`http://[${text}]/`).hostname.slice(1, -1)
  const host = parseIdTag(text)
  if (host === undefined || host === idTag)
    throw invalid('/address', 'This is no IP address and no name of another host.')
  return host
}
