import type { IdTag } from '@kith/protocol'
import { assertSessionLives, type MakeReferenceDeps } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { findEffectiveRelation } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import { inviteOwner } from './activation-mail.ts'
import { addKey, assertMakesKeys } from './identity-keys.ts'
import { countName } from './idp-buckets.ts'
import { acceptAddress, isProvider, type ManagedIdentity, pendingSecs } from './managed-identity.ts'
import { insertIdentity } from './managed-identity-store.ts'
import { findObjection, isGiven, isQuarantinedName, type ProviderNamesDeps } from './provider-names.ts'
import { deleteReleased } from './released-identity-store.ts'

export interface CreateIdentityDeps extends ProviderNamesDeps, MakeReferenceDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

interface CreateIdentity {
  readonly tenant: Tenant
  /** Becomes the registrar. */
  readonly caller: Identified
  readonly idTag: IdTag
  readonly email?: string | undefined
  readonly ownerTag?: IdTag | undefined
  readonly address?: string | undefined
  /** A key of the identity is made as well. */
  readonly key?: { readonly name: string | undefined } | undefined
  readonly lang?: string | undefined
  readonly ip: string
}

interface Created {
  readonly identity: ManagedIdentity
  readonly key: string | undefined
}

/** Registers a name below the provider's, which is pending until its owner activates it. */
export async function createIdentity(deps: CreateIdentityDeps, request: CreateIdentity): Promise<Created> {
  const { db } = deps
  const { tenant, caller, ip } = request
  if (request.key) assertMakesKeys(caller)
  const identity = await draft(deps, request)
  await assertFree(deps, request)
  // Administrators are not limited.
  if (!caller.isAdmin)
    await countName(deps, { tenantId: tenant.tenantId, ip, isProvider: isProvider(caller, tenant) })
  return db.transact(tenant.tenantId, (tx) => store(deps, tx, { request, identity }))
}

async function draft(deps: CreateIdentityDeps, request: CreateIdentity): Promise<ManagedIdentity> {
  const { tenant, caller, idTag, ownerTag, address } = request
  const email = request.email === undefined ? undefined : parseMailAddress(request.email)
  if (email === undefined && (request.email !== undefined || ownerTag === undefined))
    throw invalid('/email', request.email === undefined ? 'Say who it is for.' : 'This is no e-mail address.')
  const relation = await findEffectiveRelation(deps.db.reader(tenant.tenantId), caller.idTag)
  if (relation?.isBlocked) throw new Failure('E-AUTH-FORBIDDEN')
  const now = nowSecs(deps.clock)
  return {
    idTag,
    registrarTag: caller.idTag,
    status: 'pending',
    isDynamic: false,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + pendingSecs,
    ...(email === undefined ? {} : { email }),
    ...(ownerTag === undefined ? {} : { ownerTag }),
    ...(address === undefined ? {} : { address: acceptAddress(address, idTag), addressUpdatedAt: now }),
  }
}

async function assertFree(deps: CreateIdentityDeps, request: CreateIdentity): Promise<void> {
  const { tenant, idTag } = request
  const objection = await findObjection(deps, { tenant, idTag })
  if (typeof objection === 'object') throw invalid('/idTag', objection.refusal)
  const reader = deps.db.reader(tenant.tenantId)
  if (objection === 'taken' || (await isQuarantinedName(deps, reader, askerOf(request))))
    throw new Failure('E-PROFILE-EXISTS')
}

function askerOf({ tenant, caller, idTag }: CreateIdentity) {
  return { idTag, callerTag: caller.idTag, isProvider: isProvider(caller, tenant) }
}

async function store(
  deps: CreateIdentityDeps,
  tx: Writer,
  { request, identity }: { request: CreateIdentity; identity: ManagedIdentity },
): Promise<Created> {
  const { tenant, caller, key, lang, ip } = request
  const { idTag, ownerTag } = identity
  await assertSessionLives(deps, tx, caller)
  // Checked again within the transaction: of many requests for a name at once one succeeds.
  if ((await isGiven(deps, tx, { tenant, idTag })) || (await isQuarantinedName(deps, tx, askerOf(request))))
    throw new Failure('E-PROFILE-EXISTS')
  if (!(await insertIdentity(tx, identity))) throw new Failure('E-PROFILE-EXISTS')
  await deleteReleased(tx, idTag)
  await inviteOwner(deps, tx, { identity, lang })
  const made = key && (await addKey(deps, tx, { idTag, name: key.name }))
  await audit(deps, tx, {
    event: 'identity.registered',
    actorTag: caller.idTag,
    ip,
    details: { idTag, ...(ownerTag === undefined ? {} : { ownerTag }) },
  })
  return { identity, key: made?.plaintext }
}
