import type { CommunityRole, IdTag } from '@kith/protocol'
import { findRole, isLastLeader } from '#features/relations/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Tenants } from './open-tenants.ts'
import { findTenantByIdTag } from './tenant-store.ts'

/** The role of an identity in a community of this server; undefined when the community lives elsewhere. */
export async function findRoleHere(
  tx: Writer,
  communityTag: IdTag,
  idTag: IdTag,
): Promise<CommunityRole | undefined> {
  const community = await findTenantByIdTag(tx, communityTag)
  return community?.type === 'community' ? await findRole(tx.as(community.tenantId), idTag) : undefined
}

/** Would a community of this server be without a leader if this one left? */
export async function leadsAlone(
  { db, tenants }: { readonly db: Pick<Database, 'reader'>; readonly tenants: Pick<Tenants, 'find'> },
  leaderTag: IdTag,
  communityTag: IdTag,
): Promise<boolean> {
  const community = await tenants.find(communityTag)
  return community?.type === 'community' && (await isLastLeader(db.reader(community.tenantId), leaderTag))
}
