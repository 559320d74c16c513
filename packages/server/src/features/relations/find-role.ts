import type { CommunityRole, IdTag } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { isSuspendedOrBanned, noRelation, roleOf, withServerStatus } from './relation.ts'
import { findEffectiveRelation, findRelations } from './relation-store.ts'

/** The role of an identity at the tenant of the reader, after the server's decisions. */
export async function findRole(reader: Reader, idTag: IdTag): Promise<CommunityRole> {
  const relation = await findEffectiveRelation(reader, idTag)
  return relation ? roleOf(relation) : 'public'
}

/** The role of an identity that acts; undefined when the server has suspended or banned it, and it may not act. */
export async function findActingRole(reader: Reader, idTag: IdTag): Promise<CommunityRole | undefined> {
  const { own, server } = await findRelations(reader, idTag)
  if (server && isSuspendedOrBanned(server)) return undefined
  return roleOf(withServerStatus(own ?? noRelation(idTag), server))
}

/** Has an administrator blocked, suspended or banned this identity for the whole server? Every tenant's reader will
 * do. */
export async function isBlockedByServer(reader: Reader, idTag: IdTag): Promise<boolean> {
  return (await findRelations(reader, idTag)).server?.isBlocked === true
}
