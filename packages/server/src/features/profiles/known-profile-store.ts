import { type CommunityRole, foldText, type IdTag, type ProfileStatus } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import {
  noRelation,
  type Relation,
  type RelationColumns,
  relationOf,
  type ServerStatus,
} from '#features/relations/index.ts'
import { contains, type Reader, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { StoredProfile } from './profile.ts'
import type { ProfileRow } from './profile-store.ts'

interface RelationRow extends RelationColumns {
  tenant_id: TenantId
  standing: ServerStatus | null
}
interface KnownTables {
  relations: RelationRow
  profiles: ProfileRow
}

/** What a list of known identities is narrowed to. */
export interface KnownFilter {
  /** Only members of the community. */
  readonly membersOnly: boolean
  /** For a caller who does not act for the tenant: the tenant's private blocks and mutes must not show. */
  readonly isOutside: boolean
  /** What the server has decided is listed as well: for its administrators. */
  readonly withServers: boolean
  readonly type?: string | undefined
  readonly status?: readonly ProfileStatus[] | undefined
  readonly connected?: 'disconnected' | 'pending' | 'connected' | undefined
  readonly following?: boolean | undefined
  readonly follower?: boolean | undefined
  readonly q?: string | undefined
  readonly idTag?: IdTag | undefined
  readonly role?: CommunityRole | undefined
}

interface KnownIdentity {
  readonly profile: StoredProfile
  readonly relation: Relation
  /** The server's own decision about it, if there is one. */
  readonly server: Relation | undefined
  /** Of tenants of this server. */
  readonly tenantId: TenantId | undefined
}

/** Identities with which something holds, in the order of their names. */
export async function listKnown(
  reader: Reader,
  filter: KnownFilter,
  page: {
    readonly after?: string | undefined
    readonly offset?: number | undefined
    readonly limit: number
    readonly direction: 'asc' | 'desc'
  },
): Promise<KnownIdentity[]> {
  const { after, offset, limit, direction } = page
  const rows = await known(reader, filter)
    .select([
      'r.id_tag',
      'r.following',
      'r.follower',
      'r.connection',
      'r.blocked',
      'r.muted',
      'r.role',
      'r.standing',
      'r.standing_until',
      'r.standing_reason',
      'r.updated_at as changed_at',
      's.blocked as server_blocked',
      's.muted as server_muted',
      's.standing as server_standing',
      's.standing_until as server_until',
      's.standing_reason as server_reason',
      'p.tenant_id as home',
      'p.name',
      'p.type',
      'p.profile_pic',
      'p.cover_pic',
      'p.x',
      'p.created_at',
      'p.updated_at',
    ])
    .$if(after !== undefined, (query) =>
      query.where('r.id_tag', direction === 'asc' ? '>' : '<', after ?? ''),
    )
    .orderBy('r.id_tag', direction)
    .limit(limit)
    .$if(offset !== undefined, (query) => query.offset(offset ?? 0))
    .execute()
  return rows.map(fromRow)
}

export async function countKnown(reader: Reader, filter: KnownFilter): Promise<number> {
  const row = await known(reader, filter)
    .select((query) => query.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(row.total)
}

function known(reader: Reader, filter: KnownFilter) {
  const tenantIds = filter.withServers ? [reader.tenantId, serverTenant] : [reader.tenantId]
  let query = reader
    .tables<KnownTables>()
    .selectFrom('relations as r')
    .leftJoin('relations as s', (join) =>
      join.onRef('s.id_tag', '=', 'r.id_tag').on('s.tenant_id', '=', serverTenant),
    )
    .leftJoin('profiles as p', 'p.id_tag', 'r.id_tag')
    .where('r.tenant_id', 'in', tenantIds)
  for (const condition of conditions(reader, filter)) query = query.where(condition)
  return query
}

const isSomething = sql<SqlBool>`(r.following = 1 or r.follower = 1 or r.connection <> 'disconnected'
  or r.blocked = 1 or r.muted = 1 or r.standing is not null or r.role is not null)`

const isDecided = sql<SqlBool>`(s.blocked = 1 or s.muted = 1 or s.standing is not null)`

/** The server's row stands for an identity only where the tenant has none. */
function isOwnOrElse({ tenantId }: Reader): Expression<SqlBool> {
  return sql<SqlBool>`(r.tenant_id = ${tenantId} or not exists (select 1 from relations as o
    where o.tenant_id = ${tenantId} and o.id_tag = r.id_tag))`
}

const isMember = sql<SqlBool>`(r.role is not null and r.role <> 'public')`

// `statusOf` and `publicStatusOf`, for rows.
const statusWord = sql<string>`(case
  when s.standing in ('Suspended', 'Banned') then s.standing
  when r.standing in ('Suspended', 'Banned') then r.standing
  when r.blocked = 1 or s.blocked = 1 then 'Blocked'
  when r.muted = 1 or s.muted = 1 then 'Muted'
  else coalesce(r.standing, s.standing, 'Active') end)`
const publicStatusWord = sql<string>`coalesce(s.standing, 'Active')`

function conditions(reader: Reader, filter: KnownFilter): Expression<SqlBool>[] {
  const {
    membersOnly,
    isOutside,
    withServers,
    type,
    status,
    connected,
    following,
    follower,
    q,
    idTag,
    role,
  } = filter
  const all: (Expression<SqlBool> | false)[] = [
    membersOnly ? isMember : withServers ? sql<SqlBool>`(${isSomething} or ${isDecided})` : isSomething,
    withServers && isOwnOrElse(reader),
    isOutside && sql<SqlBool>`r.blocked = 0`,
    type !== undefined && sql<SqlBool>`coalesce(p.type, 'person') = ${type}`,
    status !== undefined &&
      anyOf(status.map((word) => sql<SqlBool>`${isOutside ? publicStatusWord : statusWord} = ${word}`)),
    connected === 'pending' && sql<SqlBool>`r.connection in ('requested', 'asked')`,
    connected !== undefined && connected !== 'pending' && sql<SqlBool>`r.connection = ${connected}`,
    following !== undefined && sql<SqlBool>`r.following = ${Number(following)}`,
    follower !== undefined && sql<SqlBool>`r.follower = ${Number(follower)}`,
    q !== undefined &&
      anyOf([
        contains(reader.dialect, 'r.id_tag', foldText(q)),
        contains(reader.dialect, 'p.search_name', foldText(q)),
      ]),
    idTag !== undefined && sql<SqlBool>`r.id_tag = ${idTag}`,
    role !== undefined && sql<SqlBool>`r.role = ${role}`,
  ]
  return all.filter((condition) => condition !== false)
}

function anyOf(parts: readonly Expression<SqlBool>[]): Expression<SqlBool> {
  return parts.length === 0 ? sql<SqlBool>`false` : sql<SqlBool>`(${sql.join(parts, sql` or `)})`
}

interface KnownRow extends Omit<RelationRow, 'tenant_id' | 'updated_at'> {
  readonly changed_at: number
  readonly server_blocked: number | null
  readonly server_muted: number | null
  readonly server_standing: ServerStatus | null
  readonly server_until: number | null
  readonly server_reason: string | null
  readonly home: TenantId | null
  readonly name: string | null
  readonly type: string | null
  readonly profile_pic: string | null
  readonly cover_pic: string | null
  readonly x: string | null
  readonly created_at: number | null
  readonly updated_at: number | null
}

function fromRow(row: KnownRow): KnownIdentity {
  const idTag = row.id_tag as IdTag
  return {
    tenantId: row.home === null || row.home === serverTenant ? undefined : row.home,
    profile: {
      idTag,
      name: row.name ?? idTag,
      type: row.type === 'community' ? 'community' : 'person',
      profilePic: row.profile_pic ?? undefined,
      coverPic: row.cover_pic ?? undefined,
      x: row.x === null ? undefined : (JSON.parse(row.x) as Record<string, unknown>),
      createdAt: row.created_at ?? row.changed_at,
      updatedAt: row.updated_at ?? row.changed_at,
      refreshedAt: undefined,
      etag: undefined,
    },
    relation: relationOf({ ...row, updated_at: row.changed_at }),
    server: serverRelationIn(row),
  }
}

function serverRelationIn(row: KnownRow): Relation | undefined {
  if (row.server_blocked === null) return undefined
  return {
    ...noRelation(row.id_tag as IdTag),
    isBlocked: row.server_blocked === 1,
    isMuted: row.server_muted === 1,
    standing: row.server_standing ?? undefined,
    standingUntil: row.server_until ?? undefined,
    standingReason: row.server_reason ?? undefined,
  }
}
