import type { CommunityRole, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { type Reader, serverTenant, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import {
  isSuspendedOrBanned,
  noRelation,
  type Relation,
  rankOf,
  roleOf,
  withServerStatus,
} from './relation.ts'
import { type RelationRow, relationOf } from './relation-row.ts'

export interface RelationTables {
  relations: RelationRow
}

const selectRelation = statement<RelationTables, { tenantId: number; idTag: string }, RelationRow>(
  (tables, value) =>
    tables
      .selectFrom('relations')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('id_tag', '=', value('idTag')),
)

const selectWithServers = statement<RelationTables, { tenantId: number; idTag: string }, RelationRow>(
  (tables, value) =>
    tables
      .selectFrom('relations')
      .selectAll()
      .where('tenant_id', 'in', [value('tenantId'), sql.lit(serverTenant)])
      .where('id_tag', '=', value('idTag')),
)

const upsertRelation = statement<RelationTables, Omit<RelationRow, 'claimed_role'>, unknown>(
  (tables, value) =>
    tables
      .insertInto('relations')
      .values({
        tenant_id: value('tenant_id'),
        id_tag: value('id_tag'),
        following: value('following'),
        follower: value('follower'),
        connection: value('connection'),
        blocked: value('blocked'),
        muted: value('muted'),
        role: value('role'),
        standing: value('standing'),
        standing_until: value('standing_until'),
        standing_reason: value('standing_reason'),
        reached: value('reached'),
        updated_at: value('updated_at'),
        in_circle: value('in_circle'),
        is_source: value('is_source'),
        is_blocked_or_muted: value('is_blocked_or_muted'),
      })
      .onConflict((conflict) =>
        conflict.columns(['tenant_id', 'id_tag']).doUpdateSet((row) => ({
          following: row.ref('excluded.following'),
          follower: row.ref('excluded.follower'),
          connection: row.ref('excluded.connection'),
          blocked: row.ref('excluded.blocked'),
          muted: row.ref('excluded.muted'),
          role: row.ref('excluded.role'),
          standing: row.ref('excluded.standing'),
          standing_until: row.ref('excluded.standing_until'),
          standing_reason: row.ref('excluded.standing_reason'),
          reached: sql<number>`relations.reached | excluded.reached`,
          updated_at: row.ref('excluded.updated_at'),
          in_circle: row.ref('excluded.in_circle'),
          is_source: row.ref('excluded.is_source'),
          is_blocked_or_muted: row.ref('excluded.is_blocked_or_muted'),
        })),
      ),
)

// Literals, as in the conditions of the partial indexes: a database cannot match a bound value to an index.
export const isInCircle = sql<boolean>`in_circle = 1`

// Identities that the server blocks cannot lead.
const selectLeaders = statement<RelationTables, { tenantId: number }, { id_tag: string }>((tables, value) =>
  tables
    .selectFrom('relations')
    .select('id_tag')
    .where('tenant_id', '=', value('tenantId'))
    .where(isInCircle)
    .where('role', '=', sql.lit('leader'))
    .where(
      sql<boolean>`not exists (select 1 from relations as decided
        where decided.tenant_id = ${sql.lit(serverTenant)} and decided.id_tag = relations.id_tag and decided.blocked = 1)`,
    ),
)

// NOTE: over all tenants.
const selectLed = statement<RelationTables, { idTag: string }, { tenant_id: number }>((tables, value) =>
  tables
    .selectFrom('relations')
    .select('tenant_id')
    .where('id_tag', '=', value('idTag'))
    .where('role', '=', sql.lit('leader'))
    .where(isInCircle),
)

const selectMutedOrBlocked = statement<RelationTables, { tenantId: number }, { id_tag: string }>(
  (tables, value) =>
    tables
      .selectFrom('relations')
      .select('id_tag')
      .where('tenant_id', 'in', [value('tenantId'), sql.lit(serverTenant)])
      .where(sql<boolean>`is_blocked_or_muted = 1`)
      .limit(1),
)

/** Does the tenant, or the server for all tenants, block or mute anybody? */
export async function findsBlocksOrMutes(reader: Reader): Promise<boolean> {
  return (await reader.first(selectMutedOrBlocked, { tenantId: reader.tenantId })) !== undefined
}

/** The relation between the handle's tenant and an identity, if there ever was one. */
export async function findRelation(reader: Reader, idTag: IdTag): Promise<Relation | undefined> {
  const row = await reader.first(selectRelation, { tenantId: reader.tenantId, idTag })
  return row && relationOf(row)
}

/** The same, and the server's decision on the identity for all its tenants. */
export async function findRelations(
  reader: Reader,
  idTag: IdTag,
): Promise<{ readonly own: Relation | undefined; readonly server: Relation | undefined }> {
  const rows = await reader.run(selectWithServers, { tenantId: reader.tenantId, idTag })
  const of = (tenantId: TenantId) => {
    const row = rows.find(({ tenant_id }) => tenant_id === tenantId)
    return row && relationOf(row)
  }
  return { own: of(reader.tenantId), server: of(serverTenant) }
}

/** Those of these identities that the server has suspended or banned. */
export async function listSuspendedOrBanned(reader: Reader, idTags: readonly IdTag[]): Promise<IdTag[]> {
  const rows = await reader
    .tables<RelationTables>()
    .selectFrom('relations')
    .selectAll()
    .where('tenant_id', '=', serverTenant)
    .where('id_tag', 'in', idTags)
    .where(sql<boolean>`is_blocked_or_muted = 1`)
    .execute()
  return rows.map(relationOf).flatMap((relation) => (isSuspendedOrBanned(relation) ? [relation.idTag] : []))
}

/** The identities about which the reader's tenant has decided, by name. */
export async function listDecided(reader: Reader, limit: number): Promise<Relation[]> {
  const rows = await reader
    .tables<RelationTables>()
    .selectFrom('relations')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where((either) => either.or([sql<boolean>`is_blocked_or_muted = 1`, either('standing', 'is not', null)]))
    .orderBy('id_tag')
    .limit(limit)
    .execute()
  return rows.map(relationOf)
}

/** The effective relation, which applies the server's decision as well. Undefined when there never was a relation or a
 * decision. */
export async function findEffectiveRelation(reader: Reader, idTag: IdTag): Promise<Relation | undefined> {
  const { own, server } = await findRelations(reader, idTag)
  return own || server ? withServerStatus(own ?? noRelation(idTag), server) : undefined
}

/** The relations that each of these tenants has with each of these identities, after the server's decisions. */
export async function listEffectiveRelations(
  reader: Reader,
  tenantIds: readonly TenantId[],
  idTags: readonly IdTag[],
): Promise<(tenantId: TenantId, idTag: IdTag) => Relation | undefined> {
  const rows = await reader
    .tables<RelationTables>()
    .selectFrom('relations')
    .selectAll()
    .where('tenant_id', 'in', [...tenantIds, serverTenant])
    .where('id_tag', 'in', idTags)
    .execute()
  const found = new Map(rows.map((row) => [`${row.tenant_id} ${row.id_tag}`, relationOf(row)]))
  return (tenantId, idTag) => {
    const own = found.get(`${tenantId} ${idTag}`)
    const server = found.get(`${serverTenant} ${idTag}`)
    return own || server ? withServerStatus(own ?? noRelation(idTag), server) : undefined
  }
}

/** The leaders of the community of the reader that neither the community nor the server blocks. */
export async function listLeaders(reader: Reader): Promise<IdTag[]> {
  const rows = await reader.run(selectLeaders, { tenantId: reader.tenantId })
  return rows.map((row) => row.id_tag as IdTag)
}

/** The communities of this server that an identity leads. */
export async function listLed(reader: Reader, idTag: IdTag): Promise<TenantId[]> {
  const rows = await reader.run(selectLed, { idTag })
  return rows.map((row) => row.tenant_id as TenantId)
}

/** Changes members of a relation, keeps the others, and answers the new relation. `at`: Unix seconds. */
export async function changeRelation(
  tx: Writer,
  idTag: IdTag,
  { at, ...change }: Partial<Omit<Relation, 'idTag' | 'updatedAt'>> & { readonly at: number },
): Promise<Relation> {
  const before = (await findRelation(tx, idTag)) ?? noRelation(idTag)
  const relation = { ...before, ...change, updatedAt: at }
  await tx.change(upsertRelation, toRow(tx.tenantId, relation, at))
  return relation
}

/** The role that an import says the identity has in this community. */
export async function findClaimedRole(reader: Reader, idTag: IdTag): Promise<CommunityRole | undefined> {
  const row = await reader
    .tables<RelationTables>()
    .selectFrom('relations')
    .select('claimed_role')
    .where('tenant_id', '=', reader.tenantId)
    .where('id_tag', '=', idTag)
    .executeTakeFirst()
  return (row?.claimed_role ?? undefined) as CommunityRole | undefined
}

/** Notes what an import says beside the relation itself: a role, and whether the identity was a follower or connection
 * at some time. */
export async function setClaims(
  tx: Writer,
  idTag: IdTag,
  claims: { readonly role?: CommunityRole | undefined; readonly wasReached?: boolean },
): Promise<void> {
  await tx
    .tables<RelationTables>()
    .updateTable('relations')
    .set({ claimed_role: claims.role ?? null, ...(claims.wasReached ? { reached: 1 } : {}) })
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

/** The restrictions of the reader's tenant that end by themselves. */
export async function listStandingEnds(reader: Reader): Promise<{ idTag: IdTag; until: number }[]> {
  const rows = await reader
    .tables<RelationTables>()
    .selectFrom('relations')
    .select(['id_tag', 'standing_until'])
    .where('tenant_id', '=', reader.tenantId)
    .where('standing_until', 'is not', null)
    .execute()
  return rows.map((row) => ({ idTag: row.id_tag as IdTag, until: row.standing_until ?? 0 }))
}

/** Removes the relation with an identity, as if there had never been one. */
export async function removeRelation(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<RelationTables>()
    .deleteFrom('relations')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

function toRow(tenantId: TenantId, relation: Relation, at: number): Omit<RelationRow, 'claimed_role'> {
  const { isFollowing, isFollower, isBlocked, isMuted } = relation
  const isConnected = relation.connection === 'connected'
  return {
    tenant_id: tenantId,
    id_tag: relation.idTag,
    following: Number(isFollowing),
    follower: Number(isFollower),
    connection: relation.connection,
    blocked: Number(isBlocked),
    muted: Number(isMuted),
    role: relation.role ?? null,
    standing: relation.standing ?? null,
    standing_until: relation.standingUntil ?? null,
    standing_reason: relation.standingReason ?? null,
    reached: Number(rankOf(relation) !== 'public'),
    updated_at: at,
    in_circle: Number(roleOf(relation) !== 'public'),
    is_source: Number(!isBlocked && (isFollowing || isConnected)),
    is_blocked_or_muted: Number(isBlocked || isMuted),
  }
}
