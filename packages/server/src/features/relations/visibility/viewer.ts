import { type CommunityRole, type IdTag, roleLevel } from '@kith/protocol'
import { type Caller, hasRole, type Tenant } from '#infra/caller/index.ts'
import type { Relation } from '../relation.ts'
import type { Fact } from './visibility-rules.ts'

/** What is known of a caller who reads a tenant's actions. */
export interface Viewer {
  readonly tenantTag: IdTag
  /** Undefined for callers who may read public actions only: guests, and identities that the tenant blocks. */
  readonly idTag: IdTag | undefined
  readonly facts: ReadonlySet<Fact>
}

/** May the caller act for the tenant: its owner, in a community also its moderators? */
export function actsAsTenant(caller: Caller, tenant: Tenant): boolean {
  if (caller.kind !== 'identity') return false
  return caller.isOwner || (tenant.type === 'community' && hasRole(caller, 'moderator'))
}

/** The tenant itself, without a caller. */
export function tenantViewer({ idTag, type }: Tenant): Viewer {
  const community: Fact[] = type === 'community' ? ['community'] : []
  const facts = new Set<Fact>([
    ...community,
    'has-blocks-or-mutes',
    'identified',
    'acts-as-tenant',
    'follows',
    'connected',
  ])
  return { tenantTag: idTag, idTag, facts }
}

/** What decides which viewer a caller is. */
interface ViewerKnowledge {
  /** The relation with a caller who does not act for the tenant. */
  readonly relation?: Relation | undefined
  /** Does the tenant or the server block or mute anybody? Not used for visitors of a person. */
  readonly hasBlocksOrMutes?: boolean
  /** Whom the server does not silence; not used for who acts for the tenant. */
  readonly silences?: readonly Fact[]
}

/** The viewer for a caller, given the relation between the caller and the tenant. */
export function viewerOf(
  tenant: Tenant,
  caller: Caller,
  { relation, hasBlocksOrMutes = false, silences = [] }: ViewerKnowledge,
): Viewer {
  const isCommunity = tenant.type === 'community'
  const actsAs = actsAsTenant(caller, tenant)
  const community: Fact[] = isCommunity ? ['community'] : []
  const blockingOrMuting: Fact[] = hasBlocksOrMutes && (actsAs || isCommunity) ? ['has-blocks-or-mutes'] : []
  const given = [...community, ...blockingOrMuting, ...(actsAs ? [] : silences)]
  const nobody = { tenantTag: tenant.idTag, idTag: undefined, facts: new Set(given) }
  if (caller.kind !== 'identity') return nobody
  if (actsAs)
    return {
      tenantTag: tenant.idTag,
      idTag: caller.idTag,
      facts: new Set<Fact>([...given, 'identified', 'acts-as-tenant', 'follows', 'connected']),
    }
  if (relation?.isBlocked) return nobody
  const reaches = (role: CommunityRole) => isCommunity && roleLevel(caller.role) >= roleLevel(role)
  // A role that was given replaces what follows from the connection, even if it is lower.
  const bond = relation?.role === undefined ? relation : undefined
  const isConnected = bond?.connection === 'connected' || reaches('contributor')
  const follows = isConnected || bond?.isFollower === true || reaches('follower')
  const circles: Fact[] = [
    ...(follows ? ['follows' as const] : []),
    ...(isConnected ? ['connected' as const] : []),
  ]
  return {
    tenantTag: tenant.idTag,
    idTag: caller.idTag,
    facts: new Set<Fact>([...given, 'identified', ...circles]),
  }
}
