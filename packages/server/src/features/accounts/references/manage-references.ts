import {
  type OffsetPage,
  type ReferenceInfo,
  type ReferenceType,
  type ReferenceView,
  type RefId,
  scopeAllows,
} from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { RevokeDeps } from '../sessions/start-session.ts'
import { dropReference } from './drop-reference.ts'
import { isRecovery, type Reference } from './reference.ts'
import { findReference, listReferenceRows, type ReferenceFilter } from './reference-store.ts'
import { toInfo, toView } from './reference-view.ts'

interface ListDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
}

interface ListInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly type?: ReferenceType
  readonly filter?: ReferenceFilter['state']
  readonly resourceId?: string
  readonly limit: number
  readonly offset: number
}

/** What the caller made; for an administrator everything on the tenant. References that recover an
 * account are not listed, except activations of an identity by their owner, who may have no other way to find them. */
export async function listReferences(
  { db, vault, clock }: ListDeps,
  input: ListInput,
): Promise<OffsetPage<ReferenceView>> {
  const { tenant, caller, type, filter: state = 'active', resourceId, limit, offset } = input
  const { references, total } = await listReferenceRows(vault, db.reader(tenant.tenantId), {
    state,
    now: nowSecs(clock),
    withoutRecovery: true,
    ...(seesActivations(caller) ? { activationsOf: caller.idTag } : {}),
    limit,
    offset,
    ...(caller.isAdmin ? {} : { createdBy: caller.idTag }),
    ...(type === undefined ? {} : { type }),
    ...(resourceId === undefined ? {} : { resourceId }),
  })
  return { items: references.map(toView), total, offset, limit }
}

/** A program with a key, or with a part of its owner's rights, activates nothing. */
function seesActivations({ scope, tokenUse }: Identified): boolean {
  return scope === undefined && tokenUse !== 'apikey'
}

export interface GetReferenceDeps extends Pick<ListDeps, 'db' | 'clock'> {
  readonly tenants: Pick<Tenants, 'base'>
}

/** In full for a caller who may manage it, else only its purpose and whether it can be used. */
export async function getReference(
  { db, clock, tenants }: GetReferenceDeps,
  { tenant, caller, refId }: { tenant: Tenant; caller: Caller; refId: RefId },
): Promise<ReferenceInfo> {
  const reference = await findReference(db.reader(tenant.tenantId), refId)
  if (!reference) return toInfo(await getInvitation({ db, tenants }, refId), nowSecs(clock))
  const isFull = !isRecovery(reference.type) && mayManage(caller, reference)
  const info = toInfo(reference, nowSecs(clock))
  // Used up, over and unknown are one answer (docs/protocol/profiles.md, Joining by a link).
  if (reference.type === 'community.join' && !isFull && info.state !== 'active')
    throw new Failure('E-NOTFOUND')
  return isFull ? { ...toView(reference), ...info } : info
}

/** An invitation is the base tenant's, and its link may lead to the host of whom it invites. */
async function getInvitation(
  { db, tenants }: Pick<GetReferenceDeps, 'db' | 'tenants'>,
  refId: RefId,
): Promise<Reference> {
  const { tenantId } = await tenants.base()
  const reference = await findReference(db.reader(tenantId), refId)
  if (reference?.type !== 'invite') throw new Failure('E-NOTFOUND')
  return reference
}

/** Removes a reference and ends every token that was given for it. */
export async function deleteReference(
  deps: RevokeDeps & { readonly db: Database },
  { tenant, caller, refId, ip }: { tenant: Tenant; caller: Identified; refId: RefId; ip: string },
): Promise<void> {
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const reference = await findReference(tx, refId)
    if (!reference) throw new Failure('E-NOTFOUND')
    if (!mayManage(caller, reference)) throw new Failure('E-AUTH-FORBIDDEN')
    await dropReference(deps, tx, refId)
    const details = { type: reference.type }
    await audit(deps, tx, { event: 'reference.deleted', actorTag: caller.idTag, ip, details })
  })
}

/** Only its maker and administrators may. Others do not see the id, as it gives the right itself. */
export function mayManage(caller: Caller, { createdBy }: Pick<Reference, 'createdBy'>): boolean {
  if (caller.kind !== 'identity' || !scopeAllows(caller.scope, 'admin:refs')) return false
  return caller.isAdmin || caller.idTag === createdBy
}
