import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ProfileEvent } from './events.ts'
import { assertExtra, type StoredProfile } from './profile.ts'
import { findStoredProfile, insertOwnProfile, updateOwnProfile } from './profile-store.ts'

/** Writes a new tenant's own profile; `tx` is bound to it. */
export async function createOwnProfile(
  deps: { readonly clock: Clock },
  tx: Writer,
  { idTag, name, type }: { readonly idTag: IdTag } & Pick<StoredProfile, 'name' | 'type'>,
): Promise<void> {
  const now = nowSecs(deps.clock)
  await insertOwnProfile(tx, {
    idTag,
    name,
    type,
    profilePic: undefined,
    coverPic: undefined,
    x: undefined,
    createdAt: now,
    updatedAt: now,
    refreshedAt: undefined,
    etag: undefined,
  })
}

/** The tenant's own profile. */
export async function getOwnProfile(reader: Reader, idTag: IdTag): Promise<StoredProfile> {
  const profile = await findStoredProfile(reader, idTag)
  if (!profile) throw new Failure('E-PROFILE-NOTFOUND')
  return profile
}

/** The name and the picture that a tenant shows after signing in. */
export async function findShownProfile(
  reader: Reader,
  idTag: IdTag,
): Promise<{ readonly name: string; readonly profilePic?: string }> {
  const { name, profilePic } = await getOwnProfile(reader, idTag)
  return { name, ...(profilePic === undefined ? {} : { profilePic }) }
}

/** What a tenant shows of itself to everybody. */
export async function getPublicProfile(reader: Reader, idTag: IdTag) {
  const { name, type, x, profilePic: pictureId } = await getOwnProfile(reader, idTag)
  return { idTag, name, type, bio: typeof x?.bio === 'string' ? x.bio : undefined, pictureId }
}

/** What everything needs that changes profiles. */
export interface ProfileEmitter {
  readonly emit: Emit<ProfileEvent>
}

/** What a tenant may say of itself. */
interface OwnProfileChange {
  readonly name?: string
  readonly x?: Readonly<Record<string, unknown>>
}

/** Changes what is given, and answers the profile as it is then. */
export async function updateProfile(
  deps: ProfileEmitter & { readonly db: Database; readonly clock: Clock },
  tenant: Tenant,
  change: OwnProfileChange,
): Promise<StoredProfile> {
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await changeOwnProfile(deps, tx, { ...change, idTag: tenant.idTag })
    return getOwnProfile(tx, tenant.idTag)
  })
}

/** The same within a transaction of the tenant's. */
export async function changeOwnProfile(
  { clock, emit }: ProfileEmitter & { readonly clock: Clock },
  tx: Writer,
  { idTag, ...change }: OwnProfileChange & { readonly idTag: IdTag },
): Promise<void> {
  const { name, x } = change
  if (x !== undefined) assertExtra(x)
  await updateOwnProfile(tx, {
    ...(name === undefined ? {} : { named: { idTag, name: acceptName(name) } }),
    ...(x === undefined ? {} : { x }),
    updatedAt: nowSecs(clock),
  })
  const members = (['name', 'x'] as const).filter((member) => change[member] !== undefined)
  if (members.length > 0) await emit(tx, { kind: 'profile.changed', idTag, members })
}
