import {
  decodeCursor,
  encodeCursor,
  type IdTag,
  type Page,
  type Profile,
  type profileStatuses,
  type profileTypes,
} from '@kith/protocol'
import { actsAsTenant } from '#features/visibility/index.ts'
import { type Caller, hasRole, type Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { countKnown, type KnownFilter, listKnown } from './known-profile-store.ts'
import { profileView } from './profile-view.ts'

export interface ListProfiles {
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
}

const sortName = 'idTag'
const defaultLimit = 20
const nobody: Page<Profile> = { items: [], nextCursor: null }

/** Whom the tenant has to do with. Members of a community see its members, and nothing else that holds. */
export async function listProfiles(
  deps: { readonly db: Database },
  request: ListProfiles,
): Promise<Page<Profile>> {
  const { tenant, caller, limit = defaultLimit, offset } = request
  const { community, ...given } = request.filter
  const knowsAll = actsAsTenant(caller, tenant)
  const mayList = knowsAll || (tenant.type === 'community' && hasRole(caller, 'follower'))
  const after = request.cursor === undefined ? undefined : placeOf(request.cursor)
  if (!mayList || (community !== undefined && community !== tenant.idTag)) return nobody
  const filter: KnownFilter = {
    ...given,
    membersOnly: !knowsAll || community !== undefined,
    isOutside: !knowsAll,
    withServers: caller.kind === 'identity' && caller.isAdmin && given.status !== undefined,
  }
  const reader = deps.db.reader(tenant.tenantId)
  const known = await listKnown(reader, filter, { after, offset, limit: limit + 1 })
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

function placeOf(text: string): string {
  const cursor = decodeCursor(text, sortName)
  if (typeof cursor?.id !== 'string') throw invalid('/query/cursor', 'is not a cursor of this list')
  return cursor.id
}
