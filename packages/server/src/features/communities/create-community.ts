import { type communityCreationTypes, type FileId, type IdTag, parseFileId, parseRefId } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import {
  changeOwnProfile,
  getOwnProfile,
  type ProfileEvent,
  type StoredProfile,
} from '#features/profiles/index.ts'
import type { RelationEvent } from '#features/relations/index.ts'
import {
  assertFreeSlot,
  type CreateTenantDeps,
  createTenant,
  type HostedTenant,
  type Tenants,
} from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { Failure } from '#lib/failure.ts'
import { useInvitation } from './community-invitation.ts'
import { foundCommunity } from './found-community.ts'

export interface CreateCommunityDeps extends CreateTenantDeps {
  readonly emit: Emit<ProfileEvent | RelationEvent>
  readonly db: Database
  readonly tenants: Tenants
  /** Who may make communities (the setting `community.creation`). */
  findCreationPolicy(): Promise<'open' | 'invite'>
  /** The largest number of tenants here; 0 means no limit. */
  findMaxTenants(): Promise<number>
  /** Fails with `E-PROFILE-EXISTS` or `E-VALIDATION` when the names cannot be used here, with `E-UNAVAILABLE` when that
   * cannot be found out now. */
  assertNames(wanted: Pick<CreateCommunity, 'idTag' | 'kind' | 'appDomain'>, asker: IdTag): Promise<void>
  hasIdentity(idTag: IdTag): Promise<boolean>
  /** Fails with `E-FILE-NOTFOUND` unless the caller may read this picture. */
  assertPicture(tenant: Tenant, caller: Identified, fileId: FileId): Promise<void>
  copyPicture(copy: {
    readonly from: Tenant
    readonly caller: Identified
    readonly fileId: FileId
    readonly to: Tenant
  }): Promise<void>
  /** Asks an identity on another server for a connection with the community. */
  askToConnect(community: Tenant, idTag: IdTag): Promise<void>
}

interface CreateCommunity {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly idTag: IdTag
  /** Where the name comes from. */
  readonly kind: (typeof communityCreationTypes)[number]
  readonly name: string | undefined
  readonly bio: string | undefined
  readonly appDomain: IdTag | undefined
  readonly profilePic: string | undefined
  /** The leader, if that is not the caller. */
  readonly ownerTag: IdTag | undefined
  /** The refId of an invitation. */
  readonly token: string | undefined
  readonly ip: string
}

interface Plan {
  readonly leaderTag: IdTag
  readonly leader: HostedTenant | undefined
  readonly pictureId: FileId | undefined
  /** The caller has the right to make it only by the invitation. */
  readonly usesInvitation: boolean
  /** 0, no limit, for administrators. */
  readonly maxTenants: number
}

/** Makes a community on this server, led by the caller or by an identity that an administrator names
 * (docs/protocol/profiles.md). */
export async function createCommunity(
  deps: CreateCommunityDeps,
  request: CreateCommunity,
): Promise<StoredProfile> {
  const plan = await planOf(deps, request)
  await deps.assertNames(request, request.caller.idTag)
  const base = await deps.tenants.base()
  const community = await deps.db.transact(serverTenant, async (tx) => {
    if (plan.usesInvitation) await spend(deps, tx.as(base.tenantId), request)
    await assertFreeSlot(tx, plan.maxTenants)
    return make(deps, tx, request, plan)
  })
  await complete(deps, request, plan, community)
  return getOwnProfile(deps.db.reader(community.tenantId), community.idTag)
}

async function planOf(deps: CreateCommunityDeps, request: CreateCommunity): Promise<Plan> {
  const { tenant, caller, ownerTag, token, profilePic } = request
  const leaderTag = ownerTag ?? caller.idTag
  if (leaderTag !== caller.idTag && !caller.isAdmin) throw new Failure('E-AUTH-FORBIDDEN')
  const leader = await deps.tenants.find(leaderTag)
  await assertMayFound(deps, request, { leaderTag, leader })
  const isFree = caller.isAdmin || (await deps.findCreationPolicy()) === 'open'
  if (!isFree && token === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  return {
    leaderTag,
    leader,
    pictureId: profilePic === undefined ? undefined : await pictureOf(deps, { tenant, caller, profilePic }),
    usesInvitation: !isFree,
    maxTenants: caller.isAdmin ? 0 : await deps.findMaxTenants(),
  }
}

/** Persons of this server make communities, on their own host or on that of the base tenant; administrators make them
 * for any identity. */
async function assertMayFound(
  deps: CreateCommunityDeps,
  { tenant, caller }: CreateCommunity,
  { leaderTag, leader }: Pick<Plan, 'leaderTag' | 'leader'>,
): Promise<void> {
  if (leader?.type === 'community' || leader?.suspendedAt !== undefined) throw new Failure('E-AUTH-FORBIDDEN')
  if (caller.isAdmin) {
    if (!leader && !(await deps.hasIdentity(leaderTag))) throw new Failure('E-PROFILE-NOTFOUND')
    return
  }
  const { tenantId } = await deps.tenants.base()
  const isAtHome = caller.isOwner || tenant.tenantId === tenantId
  if (!leader || !isAtHome) throw new Failure('E-AUTH-FORBIDDEN')
}

async function pictureOf(
  deps: CreateCommunityDeps,
  {
    tenant,
    caller,
    profilePic,
  }: Pick<CreateCommunity, 'tenant' | 'caller'> & { readonly profilePic: string },
): Promise<FileId> {
  const fileId = parseFileId(profilePic)
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  await deps.assertPicture(tenant, caller, fileId)
  return fileId
}

async function spend(
  deps: CreateCommunityDeps,
  tx: Writer,
  { token = '', caller }: CreateCommunity,
): Promise<void> {
  const refId = parseRefId(token)
  if (!refId) throw new Failure('E-NOTFOUND')
  await useInvitation(deps, tx, { refId, founderTag: caller.idTag })
}

async function make(
  deps: CreateCommunityDeps,
  tx: Writer,
  { idTag, name, appDomain, bio, caller, ip }: CreateCommunity,
  { leaderTag, leader }: Plan,
): Promise<HostedTenant> {
  const community = await createTenant(deps, tx, {
    idTag,
    type: 'community',
    name: name === undefined ? idTag : acceptName(name),
    ownerTag: leaderTag,
    ...(appDomain === undefined ? {} : { appDomain }),
  })
  const own = tx.as(community.tenantId)
  if (bio !== undefined) await changeOwnProfile(deps, own, { idTag, x: { bio } })
  await foundCommunity(deps, tx, { community, leaderTag, leader })
  const details = { leaderTag }
  await audit(deps, own, { event: 'community.created', actorTag: caller.idTag, ip, details })
  return community
}

/** The steps after the creation, which may fail without undoing it. */
async function complete(
  deps: CreateCommunityDeps,
  { tenant, caller }: CreateCommunity,
  { leaderTag, leader, pictureId }: Plan,
  community: HostedTenant,
): Promise<void> {
  try {
    if (!leader) await deps.askToConnect(community, leaderTag)
    if (pictureId) await deps.copyPicture({ from: tenant, caller, fileId: pictureId, to: community })
  } catch (error) {
    // The community exists by now: a second attempt would fail with a taken name.
    if (!(error instanceof Failure)) throw error
  }
}
