import { type AdminTenant, foldText, type IdTag, type Page, toIso } from '@kith/protocol'
import { listLastSignIns } from '#features/accounts/index.ts'
import { listUsage } from '#features/files/index.ts'
import { findStoredProfiles, listOwnWithName } from '#features/profiles/index.ts'
import { type HostedTenant, listTenantsAt, pageTenants } from '#features/tenants/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'

interface ListTenants {
  readonly q?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly offset?: number | undefined
}

const defaultLimit = 20
// Of names that contain what is looked for; an identity is looked for among all.
const maxNamed = 1000

/** The tenants of the server by identity, those with `q` in their identity or their name. */
export async function listTenants(
  { db }: { readonly db: Database },
  { q, limit = defaultLimit, cursor, offset }: ListTenants,
): Promise<Page<AdminTenant>> {
  const reader = db.reader(serverTenant)
  const part = foldText(q?.trim() ?? '')
  const filter = part ? { part, idTags: await listOwnWithName(reader, part, maxNamed) } : {}
  if (offset !== undefined) {
    const { items, total } = await listTenantsAt(reader, filter, { offset, limit })
    return { items: await adminViews(reader, items), total, offset, limit }
  }
  const { items, nextCursor } = await pageTenants(reader, filter, { limit, cursor })
  return { items: await adminViews(reader, items), nextCursor }
}

/** What an administrator sees of tenants: three queries, however many they are. */
export async function adminViews(reader: Reader, tenants: readonly HostedTenant[]): Promise<AdminTenant[]> {
  const tenantIds = tenants.map(({ tenantId }) => tenantId)
  const idTags: IdTag[] = tenants.map(({ idTag }) => idTag)
  const [profiles, usage, signIns] = await Promise.all([
    findStoredProfiles(reader, idTags),
    listUsage(reader, tenantIds),
    listLastSignIns(reader, tenantIds),
  ])
  return tenants.map(({ tenantId, idTag, type, isBase, createdAt, suspendedAt }) => {
    const profile = profiles.get(idTag)
    const signedInAt = signIns.get(tenantId)
    return {
      tnId: tenantId,
      idTag,
      name: profile?.name ?? idTag,
      type,
      isBase,
      createdAt: toIso(createdAt),
      status: suspendedAt === undefined ? 'active' : 'suspended',
      ...(profile?.profilePic === undefined ? {} : { profilePic: profile.profilePic }),
      ...(suspendedAt === undefined ? {} : { suspendedAt: toIso(suspendedAt) }),
      ...(signedInAt === undefined ? {} : { lastSignInAt: toIso(signedInAt) }),
      ...(usage.get(tenantId) ?? { usedBytes: 0, files: 0 }),
    }
  })
}
