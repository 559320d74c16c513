import {
  getIdentityDocument,
  getMe,
  getProfile,
  type IdTag,
  listProfiles as listContract,
  type Me,
  updateMe,
  updateMyCover,
  updateMyImage,
  updateRelationship,
} from '@kith/protocol'
import { actsAsTenant, findRelations, noRelation } from '#features/relations/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import { type Caller, hasRole, isOwner, type Tenant } from '#infra/caller/index.ts'
import { bind, type Endpoint, Reshaped, rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { findProfile } from './find-profile.ts'
import { describeIdentity, etagOf, type IdentityDocumentDeps } from './identity-document.ts'
import { listProfiles } from './list-profiles.ts'
import { getOwnProfile, updateProfile } from './own-profile.ts'
import type { StoredProfile } from './profile.ts'
import { ownerMeView, profileView, publicMeView, relationshipView, type ServerInfo } from './profile-view.ts'
import { type SetPictureDeps, setPicture } from './set-picture.ts'
import { type SetRelationshipDeps, setRelationship } from './set-relationship.ts'

interface ProfileEndpointDeps
  extends SetRelationshipDeps,
    Omit<SetPictureDeps, 'emit'>,
    IdentityDocumentDeps {
  /** `DISCOVERY_NAME`. */
  readonly discoveryName: string
  readonly tenants: Pick<Tenants, 'find'>
  readonly serverInfo: ServerInfo
}

const documentMaxAgeSecs = 300

export function profileEndpoints(deps: ProfileEndpointDeps): Endpoint[] {
  return [
    bind(getMe, async ({ tenant, caller }) => {
      const profile = await getOwnProfile(deps.db.reader(tenant.tenantId), tenant.idTag)
      return meView(deps, profile, { tenant, caller })
    }),
    bind(updateMe, async ({ tenant, caller, body }) =>
      meView(deps, await updateProfile(deps, tenant, body), { tenant, caller }),
    ),
    bind(updateMyImage, async ({ tenant, caller, body: bytes, signal }) => {
      const fileId = await setPicture(deps, { tenant, caller, place: 'profilePic', bytes, signal })
      return { profilePic: fileId, fileId }
    }),
    bind(updateMyCover, async ({ tenant, caller, body: bytes, signal }) => {
      const fileId = await setPicture(deps, { tenant, caller, place: 'coverPic', bytes, signal })
      return { coverPic: fileId, fileId }
    }),
    bind(getProfile, async ({ tenant, caller, params, ip }) => {
      const profile = await viewProfile(deps, { tenant, caller, ip, idTag: params.idTag })
      return new Reshaped(profile, { headers: { etag: etagOf(profile) } })
    }),
    bind(listContract, ({ tenant, caller, query }) => {
      const { limit, cursor, offset, sort, sortDir: direction, ...filter } = query
      return listProfiles(deps, { tenant, caller, filter, limit, cursor, offset, direction })
    }),
    bind(updateRelationship, async ({ tenant, caller, params: { idTag }, body }) => {
      const relation = await setRelationship(deps, { tenant, caller, idTag, change: body.relationship })
      return relationshipView(relation, nowSecs(deps.clock))
    }),
    bind(documentContract(deps.discoveryName), async ({ tenant, query }) => {
      const document = await describeIdentity(deps, await getHosted(deps, query.idTag ?? tenant?.idTag))
      const headers = { 'cache-control': `public, max-age=${documentMaxAgeSecs}`, etag: etagOf(document) }
      return new Reshaped(document, { headers })
    }),
  ]
}

/** A server answers under its own word and under `service`, where those ask who do not know its word. */
function documentContract(discoveryName: string) {
  const own = `/.well-known/${discoveryName}/id-tag`
  return own === getIdentityDocument.path ? getIdentityDocument : { ...getIdentityDocument, aliases: [own] }
}

async function meView(
  deps: ProfileEndpointDeps,
  profile: StoredProfile,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
): Promise<Me> {
  const [current] = await deps.keys.list(tenant.tenantId)
  if (!current) throw new Failure('E-PROFILE-NOTFOUND')
  const view = publicMeView(profile, current.publicKey, deps.serverInfo)
  if (caller.kind !== 'identity' || !hasRole(caller, 'leader')) return view
  return { ...view, ...ownerMeView(profile, tenant, caller) }
}

async function viewProfile(
  deps: ProfileEndpointDeps,
  {
    tenant,
    caller,
    ip,
    idTag,
  }: { readonly tenant: Tenant; readonly caller: Caller; readonly ip: string; readonly idTag: IdTag },
) {
  const found = await findProfile(
    deps,
    idTag,
    isOwner(caller) ? { cause: 'owner', key: tenant.idTag } : { cause: 'guest', key: rateKeyOf(ip) },
  )
  if (found.kind !== 'found')
    throw new Failure(found.kind === 'unknown' ? 'E-PROFILE-NOTFOUND' : 'E-UNAVAILABLE')
  const hosted = await deps.tenants.find(idTag)
  const knowsRelations = actsAsTenant(caller, tenant) && idTag !== tenant.idTag
  const { own, server } = await findRelations(deps.db.reader(tenant.tenantId), idTag)
  return profileView(found.profile, {
    server,
    isForAdmin: caller.kind === 'identity' && caller.isAdmin,
    ...(hosted ? { tenantId: hosted.tenantId, isSuspended: hosted.suspendedAt !== undefined } : {}),
    ...(knowsRelations ? { relation: own ?? noRelation(idTag) } : {}),
    ...(tenant.type === 'community' && hasRole(caller, 'follower') ? { role: own?.role } : {}),
  })
}

async function getHosted(deps: ProfileEndpointDeps, idTag: IdTag | undefined): Promise<HostedTenant> {
  const hosted = idTag && (await deps.tenants.find(idTag))
  if (!hosted || hosted.suspendedAt !== undefined) throw new Failure('E-PROFILE-NOTFOUND')
  return hosted
}
