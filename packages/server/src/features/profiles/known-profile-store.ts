import type { CommunityRole, IdTag } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { Connection, Relation } from '#features/relations/index.ts'
import { contains, type Reader, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { StoredProfile } from './profile.ts'

interface KnownTables {
  relations: {
    tenant_id: number
    id_tag: string
    following: number
    follower: number
    connection: string
    blocked: number
    muted: number
    role: string | null
    updated_at: number
  }
  profiles: {
    tenant_id: number
    id_tag: string
    name: string
    type: string
    profile_pic: string | null
    cover_pic: string | null
    x: string | null
    created_at: number
    updated_at: number
  }
}

/** What a list of known identities is narrowed to. */
export interface KnownFilter {
  readonly membersOnly: boolean
  readonly type?: string | undefined
  readonly status?: readonly string[] | undefined
  readonly connected?: 'disconnected' | 'pending' | 'connected' | undefined
  readonly following?: boolean | undefined
  readonly follower?: boolean | undefined
  readonly q?: string | undefined
  readonly idTag?: IdTag | undefined
  readonly role?: CommunityRole | undefined
}

export interface KnownIdentity {
  readonly profile: StoredProfile
  readonly relation: Relation
  /** Of tenants of this server. */
  readonly tenantId: TenantId | undefined
}

/** Identities with which something holds, in the order of their names. */
export async function listKnown(
  reader: Reader,
  filter: KnownFilter,
  page: { readonly after?: string | undefined; readonly offset?: number | undefined; readonly limit: number },
): Promise<KnownIdentity[]> {
  const { after, offset, limit } = page
  const rows = await known(reader, filter)
    .select([
      'r.id_tag',
      'r.following',
      'r.follower',
      'r.connection',
      'r.blocked',
      'r.muted',
      'r.role',
      'r.updated_at as changed_at',
      'p.tenant_id as home',
      'p.name',
      'p.type',
      'p.profile_pic',
      'p.cover_pic',
      'p.x',
      'p.created_at',
      'p.updated_at',
    ])
    .$if(after !== undefined, (query) => query.where('r.id_tag', '>', after ?? ''))
    .orderBy('r.id_tag')
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
  let query = reader
    .tables<KnownTables>()
    .selectFrom('relations as r')
    .leftJoin('profiles as p', 'p.id_tag', 'r.id_tag')
    .where('r.tenant_id', '=', reader.tenantId)
  for (const condition of conditions(reader, filter)) query = query.where(condition)
  return query
}

const isSomething = sql<SqlBool>`(r.following = 1 or r.follower = 1 or r.connection <> 'disconnected'
  or r.blocked = 1 or r.muted = 1 or r.role is not null)`

const statusConditions: Readonly<Record<string, Expression<SqlBool>>> = {
  Active: sql<SqlBool>`(r.blocked = 0 and r.muted = 0)`,
  Blocked: sql<SqlBool>`r.blocked = 1`,
  Muted: sql<SqlBool>`(r.muted = 1 and r.blocked = 0)`,
}

function conditions(reader: Reader, filter: KnownFilter): Expression<SqlBool>[] {
  const { membersOnly, type, status, connected, following, follower, q, idTag, role } = filter
  const all: (Expression<SqlBool> | false)[] = [
    membersOnly ? sql<SqlBool>`r.role is not null` : isSomething,
    type !== undefined && sql<SqlBool>`coalesce(p.type, 'person') = ${type}`,
    status !== undefined && anyOf(status.map((word) => statusConditions[word] ?? sql<SqlBool>`false`)),
    connected === 'pending' && sql<SqlBool>`r.connection in ('requested', 'asked')`,
    connected !== undefined && connected !== 'pending' && sql<SqlBool>`r.connection = ${connected}`,
    following !== undefined && sql<SqlBool>`r.following = ${Number(following)}`,
    follower !== undefined && sql<SqlBool>`r.follower = ${Number(follower)}`,
    q !== undefined &&
      anyOf([contains(reader.dialect, 'r.id_tag', q), contains(reader.dialect, 'p.name', q)]),
    idTag !== undefined && sql<SqlBool>`r.id_tag = ${idTag}`,
    role !== undefined && sql<SqlBool>`r.role = ${role}`,
  ]
  return all.filter((condition) => condition !== false)
}

function anyOf(parts: readonly Expression<SqlBool>[]): Expression<SqlBool> {
  return parts.length === 0 ? sql<SqlBool>`false` : sql<SqlBool>`(${sql.join(parts, sql` or `)})`
}

interface KnownRow {
  readonly id_tag: string
  readonly following: number
  readonly follower: number
  readonly connection: string
  readonly blocked: number
  readonly muted: number
  readonly role: string | null
  readonly changed_at: number
  readonly home: number | null
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
    tenantId: row.home === null || row.home === serverTenant ? undefined : (row.home as TenantId),
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
    relation: {
      idTag,
      isFollowing: row.following === 1,
      isFollower: row.follower === 1,
      connection: row.connection as Connection,
      isBlocked: row.blocked === 1,
      isMuted: row.muted === 1,
      role: (row.role ?? undefined) as CommunityRole | undefined,
      updatedAt: row.changed_at,
    },
  }
}
