import { type IdTag, type OffsetPage, scopeAllows } from '@kith/protocol'
import { assertSessionLives, isApiKey, newApiKey, secretHash } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Identified, KeyHolder, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid, tooNarrow, unauthenticated } from '#lib/failure.ts'
import { getManaged } from './find-managed.ts'
import {
  countKeys,
  deleteKey,
  findKey,
  findKeyByHash,
  type IdentityKey,
  insertKey,
  listKeys as listStored,
  updateKeyUse,
} from './identity-key-store.ts'
import { assertMayChange, isProvider } from './managed-identity.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
}

interface Asker {
  readonly tenant: Tenant
  readonly caller: Identified
}

const maxKeys = 20
const shownLength = 8
const usedEverySecs = 3600

/** What every key of an identity begins with. */
export const keyPrefix = 'idp_'

/** Makes a key of an identity of the tenant of `tx`; only its hash is stored. Rights are the caller's to check. */
export async function addKey(
  { clock }: Pick<Deps, 'clock'>,
  tx: Writer,
  { idTag, name, expiresAt }: { idTag: IdTag; name: string | undefined; expiresAt?: number | undefined },
): Promise<{ readonly key: IdentityKey; readonly plaintext: string }> {
  if ((await countKeys(tx, idTag)) >= maxKeys)
    throw new Failure('E-STATE', { message: `There are ${maxKeys} keys already: remove one first.` })
  const plaintext = newApiKey(keyPrefix)
  const key = await insertKey(tx, {
    idTag,
    keyHash: secretHash(plaintext),
    prefix: plaintext.slice(0, shownLength),
    createdAt: nowSecs(clock),
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
  return { key, plaintext }
}

/** `E-AUTH-FORBIDDEN` for callers who make no keys. */
export function assertMakesKeys({ tokenUse, scope }: Pick<Identified, 'tokenUse' | 'scope'>): void {
  // It would outlive the key that made it.
  if (tokenUse === 'apikey') throw new Failure('E-AUTH-FORBIDDEN')
  if (!scopeAllows(scope, 'admin:idp')) throw tooNarrow('admin:idp')
}

/** A key of the named identity, or of the caller's own. Keys make no keys. */
export async function createKey(
  deps: Deps,
  input: Asker & {
    idTag?: IdTag | undefined
    name?: string | undefined
    expiresAt?: number | undefined
    ip: string
  },
): Promise<{ readonly key: IdentityKey; readonly plaintext: string }> {
  const { tenant, caller, idTag: id = caller.idTag, expiresAt, ip } = input
  assertMakesKeys(caller)
  const name = input.name === undefined ? undefined : acceptName(input.name)
  if (expiresAt !== undefined && expiresAt <= nowSecs(deps.clock))
    throw invalid('/expiresAt', 'This time has passed.')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const { identity, ownRole } = await getManaged(tx, { tenant, caller, id })
    assertMayChange(ownRole, identity)
    const { idTag } = identity
    const made = await addKey(deps, tx, { idTag, name, expiresAt })
    const details = { idTag, keyId: made.key.keyId }
    await audit(deps, tx, { event: 'identity-key.created', actorTag: caller.idTag, ip, details })
    return made
  })
}

/** The keys of every identity that the caller may change, or of one of them. */
export async function listKeys(
  { db }: Pick<Deps, 'db'>,
  { tenant, caller, ...page }: Asker & { idTag?: IdTag | undefined; offset: number; limit: number },
): Promise<OffsetPage<IdentityKey>> {
  const changeableBy = isProvider(caller, tenant) ? undefined : caller.idTag
  return listStored(db.reader(tenant.tenantId), { ...page, changeableBy })
}

interface NamedKey extends Asker {
  readonly id: string
  /** Whose key it has to be. */
  readonly idTag?: IdTag | undefined
}

export async function getKey({ db }: Pick<Deps, 'db'>, named: NamedKey): Promise<IdentityKey> {
  return getChangeable(db.reader(named.tenant.tenantId), named)
}

export async function removeKey(deps: Deps, named: NamedKey & { readonly ip: string }): Promise<number> {
  const { tenant, caller, ip } = named
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const { keyId, idTag } = await getChangeable(tx, named)
    await deleteKey(tx, keyId)
    const details = { idTag, keyId }
    await audit(deps, tx, { event: 'identity-key.deleted', actorTag: caller.idTag, ip, details })
    return keyId
  })
}

/** Keys that the caller may not remove are answered like unknown ones. */
async function getChangeable(reader: Reader, { tenant, caller, id, idTag }: NamedKey): Promise<IdentityKey> {
  const key = /^\d{1,15}$/.test(id) ? await findKey(reader, Number(id)) : undefined
  if (!key || (idTag !== undefined && idTag !== key.idTag)) throw new Failure('E-NOTFOUND')
  const { identity, ownRole } = await getManaged(reader, { tenant, caller, id: key.idTag })
  if (ownRole === 'registrar' && identity.status !== 'pending') throw new Failure('E-NOTFOUND')
  return key
}

/** The holder of a presented key. `E-AUTH-UNAUTH` when it is none of this provider. */
export async function authenticateKey(
  { db, clock }: Deps,
  { tenant, bearer }: { readonly tenant: Tenant; readonly bearer: string },
): Promise<KeyHolder> {
  const key = isApiKey(bearer, keyPrefix)
    ? await findKeyByHash(db.reader(tenant.tenantId), secretHash(bearer))
    : undefined
  const now = nowSecs(clock)
  if (!key) throw unauthenticated('revoked')
  if (key.expiresAt !== undefined && key.expiresAt <= now) throw unauthenticated('expired')
  const { keyId, idTag, lastUsedAt } = key
  if (lastUsedAt === undefined || lastUsedAt + usedEverySecs <= now)
    await db.transact(tenant.tenantId, (tx) => updateKeyUse(tx, { keyId, lastUsedAt: now }))
  return { kind: 'key', idTag, keyId }
}
