import { createHash } from 'node:crypto'
import type { IdentityDocument, IdTag } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { Failure } from '#lib/failure.ts'
import { getOwnProfile } from './own-profile.ts'

export interface IdentityDocumentDeps {
  readonly db: Database
  readonly keys: Pick<SigningKeys, 'list'>
  /** Where a tenant's API is, without a slash at the end. */
  readonly serverUrl: (idTag: IdTag) => string
  readonly inboxUrl: (idTag: IdTag) => string
}

// A document with more is refused (docs/protocol/discovery.md).
const maxPublishedKeys = 16

/** What a tenant publishes of itself so that others find and verify it. */
export async function describeIdentity(
  deps: IdentityDocumentDeps,
  { tenantId, idTag }: HostedTenant,
): Promise<IdentityDocument> {
  const [profile, keys] = await Promise.all([
    getOwnProfile(deps.db.reader(tenantId), idTag),
    deps.keys.list(tenantId),
  ])
  const [current] = keys
  if (!current) throw new Failure('E-PROFILE-NOTFOUND')
  return {
    idTag,
    serverUrl: deps.serverUrl(idTag),
    publicKey: current.publicKey,
    inboxUrl: deps.inboxUrl(idTag),
    keys: keys.slice(0, maxPublishedKeys).map(({ kid, publicKey, expiresAt, revokedAt }) => ({
      kid,
      publicKey,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(revokedAt === undefined ? {} : { revokedAt }),
    })),
    name: profile.name,
    type: profile.type,
    ...(profile.profilePic === undefined ? {} : { profilePic: profile.profilePic }),
  }
}

/** Changes whenever the data does; the envelope around it has the time of the answer in it and does not count. */
export function etagOf(data: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22)}"`
}
