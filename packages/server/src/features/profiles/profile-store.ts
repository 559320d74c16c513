import { foldText, type IdTag } from '@kith/protocol'
import {
  contains,
  type Reader,
  serverTenant,
  statement,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'
import type { StoredProfile } from './profile.ts'
import { searchNameOf } from './search-name.ts'

/** A row of the table `profiles`. */
export interface ProfileRow {
  tenant_id: TenantId
  id_tag: IdTag
  name: string
  /** `searchNameOf`. */
  search_name: string
  type: string
  profile_pic: string | null
  cover_pic: string | null
  x: string | null
  created_at: number
  updated_at: number
  refreshed_at: number | null
  etag: string | null
}
interface ProfileTables {
  profiles: ProfileRow
}

// NOTE: by identity alone: a profile is public, and each identity has one row on the whole server.
const selectProfile = statement<ProfileTables, { idTag: IdTag }, ProfileRow>((tables, value) =>
  tables.selectFrom('profiles').selectAll().where('id_tag', '=', value('idTag')),
)

/** The profile of a tenant of this server, or what is remembered of an identity elsewhere. */
export async function findStoredProfile(reader: Reader, idTag: IdTag): Promise<StoredProfile | undefined> {
  const row = await reader.first(selectProfile, { idTag })
  return row && fromRow(row)
}

/** The tenant's own profile, of a tenant's reader. */
export async function findOwnProfile(reader: Reader): Promise<StoredProfile | undefined> {
  const row = await reader
    .tables<ProfileTables>()
    .selectFrom('profiles')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The names of identities, as far as they are known here. */
export async function findNames(
  reader: Reader,
  idTags: readonly IdTag[],
): Promise<ReadonlyMap<IdTag, string>> {
  if (idTags.length === 0) return new Map()
  const rows = await reader
    .tables<ProfileTables>()
    .selectFrom('profiles')
    .select(['id_tag', 'name'])
    .where('id_tag', 'in', idTags)
    .execute()
  return new Map(rows.map((row) => [row.id_tag, row.name]))
}

/** The identities of this server with these characters in their name or in their identity as it is written, the first of
 * them. */
export async function listOwnWithName(reader: Reader, part: string, limit: number): Promise<IdTag[]> {
  const rows = await reader
    .tables<ProfileTables>()
    .selectFrom('profiles')
    .select('id_tag')
    .where('tenant_id', '!=', serverTenant)
    .where(contains(reader.dialect, 'search_name', foldText(part)))
    .orderBy('id_tag')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id_tag)
}

/** What is known of several identities. */
export async function findStoredProfiles(
  reader: Reader,
  idTags: readonly IdTag[],
): Promise<ReadonlyMap<IdTag, StoredProfile>> {
  if (idTags.length === 0) return new Map()
  const rows = await reader
    .tables<ProfileTables>()
    .selectFrom('profiles')
    .selectAll()
    .where('id_tag', 'in', idTags)
    .execute()
  return new Map(rows.map((row) => [row.id_tag, fromRow(row)]))
}

/** Writes the own profile of the handle's tenant; what was remembered of the identity before it lived here goes. */
export async function insertOwnProfile(tx: Writer, profile: StoredProfile): Promise<void> {
  await forgetRemoteProfile(tx, profile.idTag)
  await tx.tables<ProfileTables>().insertInto('profiles').values(toRow(tx.tenantId, profile)).execute()
}

/** Drops what is remembered of an identity elsewhere, because it comes to live here. */
export async function forgetRemoteProfile(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<ProfileTables>()
    .deleteFrom('profiles')
    .where('tenant_id', '=', serverTenant)
    .where('id_tag', '=', idTag)
    .execute()
}

interface ProfileChange {
  /** Its new name, and whose profile it is. */
  readonly named?: { readonly idTag: IdTag; readonly name: string }
  readonly x?: Readonly<Record<string, unknown>>
  /** null removes it. */
  readonly profilePic?: string | null
  readonly coverPic?: string | null
  readonly updatedAt: number
}

export async function updateOwnProfile(
  tx: Writer,
  { named, x, profilePic, coverPic, updatedAt }: ProfileChange,
): Promise<void> {
  await tx
    .tables<ProfileTables>()
    .updateTable('profiles')
    .set({
      ...(named && { name: named.name, search_name: searchNameOf(named) }),
      ...(x === undefined ? {} : { x: JSON.stringify(x) }),
      ...(profilePic === undefined ? {} : { profile_pic: profilePic }),
      ...(coverPic === undefined ? {} : { cover_pic: coverPic }),
      updated_at: updatedAt,
    })
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

/** Remembers a profile of another server; `tx` is the server's own. The own profile of a tenant is never touched. */
export async function putRemoteProfile(tx: Writer, profile: StoredProfile): Promise<void> {
  const row = toRow(tx.tenantId, profile)
  await tx
    .tables<ProfileTables>()
    .insertInto('profiles')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['id_tag']).doUpdateSet(row).where('profiles.tenant_id', '=', row.tenant_id),
    )
    .execute()
}

function toRow(tenantId: TenantId, profile: StoredProfile): ProfileRow {
  return {
    tenant_id: tenantId,
    id_tag: profile.idTag,
    name: profile.name,
    search_name: searchNameOf(profile),
    type: profile.type,
    profile_pic: profile.profilePic ?? null,
    cover_pic: profile.coverPic ?? null,
    x: profile.x === undefined ? null : JSON.stringify(profile.x),
    created_at: profile.createdAt,
    updated_at: profile.updatedAt,
    refreshed_at: profile.refreshedAt ?? null,
    etag: profile.etag ?? null,
  }
}

function fromRow(row: ProfileRow): StoredProfile {
  return {
    idTag: row.id_tag,
    name: row.name,
    type: row.type === 'community' ? 'community' : 'person',
    profilePic: row.profile_pic ?? undefined,
    coverPic: row.cover_pic ?? undefined,
    x: row.x === null ? undefined : (JSON.parse(row.x) as Record<string, unknown>),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    refreshedAt: row.refreshed_at ?? undefined,
    etag: row.etag ?? undefined,
  }
}
