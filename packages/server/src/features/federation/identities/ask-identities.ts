import type { IdTag } from '@kith/protocol'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { Failure, keyUnavailable } from '#lib/failure.ts'
import { findStoredIdentity } from './identities-store.ts'
import { hasKid, type IdentityKey, type PublishedIdentity } from './identity.ts'
import type { Identities } from './open-identities.ts'

type Asked = Pick<Identities, 'resolve'>
type KeyOrReason = IdentityKey | 'unknown-issuer' | 'key-unavailable'

/** Does this identity exist, and of which type is it? A failure counts against the budget of `owner`, a tenant of this
 * server. */
export async function askIdentity(
  identities: Asked,
  idTag: IdTag,
  owner: IdTag,
): Promise<
  { readonly kind: 'found'; readonly type: PublishedIdentity['type'] } | { kind: 'unknown' | 'unreachable' }
> {
  const resolved = await identities.resolve(idTag, { asker: { cause: 'owner', key: owner } })
  return resolved.kind === 'found' ? { kind: 'found', type: resolved.identity.type } : resolved
}

/** The address of the API of an identity, undefined when there is none, for callers that need the answer now: `E-UNAVAILABLE` when it
 * cannot be found out. A failure counts against the budget of `owner`, a tenant of this server. */
export async function findServerUrl(
  identities: Asked,
  idTag: IdTag,
  owner: IdTag,
): Promise<string | undefined> {
  const resolved = await identities.resolve(idTag, { asker: { cause: 'owner', key: owner } })
  if (resolved.kind === 'unreachable') throw new Failure('E-UNAVAILABLE')
  return resolved.kind === 'found' ? resolved.identity.serverUrl : undefined
}

/** May this identity exist, as far as can be found out now? */
export async function mayExist(identities: Asked, idTag: IdTag): Promise<boolean> {
  return (await identities.resolve(idTag)).kind !== 'unknown'
}

/** The address of the API of an identity. */
export async function findServer(identities: Asked, idTag: IdTag) {
  const resolved = await identities.resolve(idTag)
  if (resolved.kind !== 'found') return resolved
  return { kind: 'found' as const, serverUrl: resolved.identity.serverUrl }
}

/** The key of an identity that a token names, charged to the `address` that sent the token. A key that is not known is
 * asked for again, as often as that is allowed. `unknown-issuer` when there is no such identity, `key-unavailable` when it has no such
 * key, `E-UNAVAILABLE` when that cannot be found out. */
export async function findIdentityKey(
  identities: Asked,
  { idTag, kid, address }: { readonly idTag: IdTag; readonly kid: string; readonly address: string },
): Promise<KeyOrReason> {
  const asker = { cause: 'bearer', key: address } as const
  for (const refresh of [false, true]) {
    const resolved = await identities.resolve(idTag, { refresh, asker })
    if (resolved.kind === 'unreachable') throw keyUnavailable()
    if (resolved.kind === 'unknown') return 'unknown-issuer'
    const key = resolved.identity.keys.find((candidate) => hasKid(candidate, kid))
    if (key) return key
  }
  return 'key-unavailable'
}

/** The same from what was learnt of the identity last, however long ago that was, and only otherwise by asking: its server may not
 * tell its keys any more. */
export async function findLastKnownKey(
  { db, identities }: { readonly db: Database; readonly identities: Asked },
  named: Parameters<typeof findIdentityKey>[1],
): Promise<KeyOrReason> {
  const stored = await findStoredIdentity(db.reader(serverTenant), named.idTag)
  const known = stored?.identity.keys.find((candidate) => hasKid(candidate, named.kid))
  return known ?? (await findIdentityKey(identities, named))
}
