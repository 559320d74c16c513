import { Readable } from 'node:stream'
import {
  type FileId,
  getProfileCover,
  getProfileImage,
  type IdTag,
  parseFileId,
  type VariantName,
} from '@kith/protocol'
import { servingHeaders } from '#features/files/index.ts'
import { type FindProfileDeps, findProfile, listProfiles } from '#features/profiles/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type Caller, isOwner, type Tenant } from '#infra/caller/index.ts'
import { type ByteReply, bind, type Call, type Endpoint, rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { type Conditions, hasCurrent } from '#lib/preconditions.ts'
import type { Picture } from './fetch-picture.ts'
import { KeptPictures, type KeptPicturesDeps } from './kept-pictures.ts'

interface Asked {
  readonly variant?: VariantName
  readonly conditions: PictureCall['headers']
  readonly isHead: boolean
}

export interface PictureEndpointDeps extends FindProfileDeps, KeptPicturesDeps {
  readonly egress: FindProfileDeps['egress'] & KeptPicturesDeps['egress']
  readonly tenants: { find(idTag: IdTag): Promise<HostedTenant | undefined> }
  /** Does the tenant hold an action of this issuer that its lists show the caller? */
  hasActionBy(question: { tenant: Tenant; caller: Caller; issuer: IdTag }): Promise<boolean>
  /** The bytes of a file of a tenant of this server that everybody may read. */
  openPublic(tenant: Tenant, fileId: FileId, asked: Asked): Promise<ByteReply>
}

type PictureCall = Call<typeof getProfileImage>

/** The pictures of profiles, of this server and of others, at the host of the tenant who shows them. */
export function pictureEndpoints(deps: PictureEndpointDeps): Endpoint[] {
  const pictures = new KeptPictures(deps)
  return [
    bind(getProfileImage, (call) => showPicture({ ...deps, pictures }, call, 'profilePic')),
    bind(getProfileCover, (call) => showPicture({ ...deps, pictures }, call, 'coverPic')),
  ]
}

async function showPicture(
  deps: PictureEndpointDeps & { readonly pictures: KeptPictures },
  call: PictureCall,
  place: 'profilePic' | 'coverPic',
): Promise<ByteReply> {
  const { tenant, caller, query } = call
  const { idTag } = call.params
  if (!(await mayAsk(deps, { tenant, caller, idTag }))) throw new Failure('E-PROFILE-NOTFOUND')
  const fileId = await findPictureId(deps, call, place)
  const hosted = await deps.tenants.find(idTag)
  if (hosted) {
    const asked = { isHead: call.isHead, conditions: call.headers }
    const variant = query.variant ? { variant: query.variant } : {}
    return withMaxAge(await deps.openPublic(hosted, fileId, { ...asked, ...variant }))
  }
  const picture = await deps.pictures.get(idTag, fileId)
  if (!picture) throw new Failure('E-FILE-NOTFOUND')
  return replyOf(picture, call.headers)
}

/** The owner may ask for anybody's. Others are shown the pictures of those whom they are shown anyway: nobody makes this server
 * fetch what they choose, or learns from a picture whom the tenant knows. */
async function mayAsk(
  deps: PictureEndpointDeps,
  { tenant, caller, idTag }: { readonly tenant: Tenant; readonly caller: Caller; readonly idTag: IdTag },
): Promise<boolean> {
  if (isOwner(caller) || idTag === tenant.idTag) return true
  if (await deps.hasActionBy({ tenant, caller, issuer: idTag })) return true
  return (await listProfiles(deps, { tenant, caller, filter: { idTag }, limit: 1 })).items.length > 0
}

async function findPictureId(
  deps: PictureEndpointDeps,
  { tenant, caller, params: { idTag }, ip }: PictureCall,
  place: 'profilePic' | 'coverPic',
): Promise<FileId> {
  const asker = isOwner(caller)
    ? ({ cause: 'owner', key: tenant.idTag } as const)
    : ({ cause: 'guest', key: rateKeyOf(ip) } as const)
  const found = await findProfile(deps, idTag, asker)
  if (found.kind !== 'found')
    throw new Failure(found.kind === 'unknown' ? 'E-PROFILE-NOTFOUND' : 'E-UNAVAILABLE')
  const fileId = parseFileId(found.profile[place] ?? '')
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  return fileId
}

function replyOf({ bytes, contentType, etag }: Picture, conditions: Conditions): ByteReply {
  const headers = {
    ...servingHeaders({ contentType, fileName: 'picture', etag, caching: 'private', forceDownload: false }),
    'accept-ranges': 'none',
  }
  if (hasCurrent(conditions, { etag })) return withMaxAge({ status: 304, headers })
  const body = async () => Readable.from([bytes], { objectMode: false })
  return withMaxAge({ status: 200, headers: { ...headers, 'content-length': `${bytes.length}` }, body })
}

/** The address stays while the picture changes. */
function withMaxAge(reply: ByteReply): ByteReply {
  return { ...reply, headers: { ...reply.headers, 'cache-control': 'private, max-age=300' } }
}
