import {
  decodeCursor,
  encodeCursor,
  type IdTag,
  type Page,
  type Profile,
  type profileStatuses,
  type profileTypes,
  roleLevel,
} from '@kith/protocol'
import { actsAsTenant, findEffectiveRelation, roleOf } from '#features/relations/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { countKnown, type KnownFilter, listKnown } from './known-profile-store.ts'
import { profileView } from './profile-view.ts'

interface ListProfiles {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly filter: Omit<KnownFilter, 'membersOnly' | 'isOutside' | 'withServers'> & {
    readonly status?: readonly (typeof profileStatuses)[number][] | undefined
    readonly type?: (typeof profileTypes)[number] | undefined
    readonly community?: IdTag | undefined
  }
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly offset?: number | undefined
  readonly direction?: 'asc' | 'desc' | undefined
}

interface ListProfilesDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'find'>
}

const sortName = 'idTag'
const defaultLimit = 20
const noProfiles: Page<Profile> = { items: [], nextCursor: null }

/** Identities with a relation to the tenant. Members of a community see its members, and no other relations, on its
 * host and on those of other tenants of this server. */
export async function listProfiles(deps: ListProfilesDeps, request: ListProfiles): Promise<Page<Profile>> {
  const { caller, limit = defaultLimit, offset, direction = 'asc' } = request
  const { community, ...given } = request.filter
  const after = request.cursor === undefined ? undefined : placeOf(request.cursor)
  const isElsewhere = community !== undefined && community !== request.tenant.idTag
  const tenant = isElsewhere ? await getCommunity(deps, community) : request.tenant
  const knowsAll = !isElsewhere && actsAsTenant(caller, tenant)
  if (!knowsAll && !(await isMember(deps, tenant, caller))) return noProfiles
  const filter: KnownFilter = {
    ...given,
    membersOnly: !knowsAll || community !== undefined,
    isOutside: !knowsAll,
    withServers: caller.kind === 'identity' && caller.isAdmin && given.status !== undefined,
  }
  const reader = deps.db.reader(tenant.tenantId)
  const known = await listKnown(reader, filter, { after, offset, limit: limit + 1, direction })
  const items = known.slice(0, limit).map(({ profile, relation, server, tenantId }) =>
    profileView(profile, {
      server,
      isForAdmin: caller.kind === 'identity' && caller.isAdmin,
      ...(tenantId === undefined ? {} : { tenantId }),
      ...(knowsAll ? { relation } : { role: relation.role }),
    }),
  )
  if (offset !== undefined) return { items, total: await countKnown(reader, filter), offset, limit }
  const last = known.length > limit ? known[limit - 1]?.profile.idTag : undefined
  return { items, nextCursor: last ? encodeCursor({ s: sortName, v: last, id: last }) : null }
}

/** Asked on another host a caller's role is not in what they show. */
async function isMember({ db }: ListProfilesDeps, tenant: Tenant, caller: Caller): Promise<boolean> {
  if (tenant.type !== 'community' || caller.kind !== 'identity') return false
  const relation = await findEffectiveRelation(db.reader(tenant.tenantId), caller.idTag)
  return relation !== undefined && roleLevel(roleOf(relation)) >= roleLevel('follower')
}

async function getCommunity({ tenants }: ListProfilesDeps, idTag: IdTag): Promise<Tenant> {
  const tenant = await tenants.find(idTag)
  if (tenant?.type !== 'community' || tenant.suspendedAt !== undefined)
    throw invalid('/query/community', 'is no community of this server: ask on its own host')
  return tenant
}

function placeOf(text: string): string {
  const cursor = decodeCursor(text, sortName)
  if (typeof cursor?.id !== 'string') throw invalid('/query/cursor', 'is not a cursor of this list')
  return cursor.id
}
