import type { IdTag } from '@kith/protocol'
import Type from 'typebox'
import { exhaustReferences } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Jobs, jobKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { ManagedNameEvent } from './events.ts'
import { type Ask, getManaged, idTagOf } from './find-managed.ts'
import { assertMayChange, isProvider, type ManagedIdentity, quarantineSecs } from './managed-identity.ts'
import { deleteIdentity } from './managed-identity-store.ts'
import { deleteReleased, findReleased, putReleased } from './released-identity-store.ts'

interface RemoveDeps {
  readonly clock: Clock
  readonly emit: Emit<ManagedNameEvent>
  readonly jobs: Pick<Jobs, 'enqueue'>
}

interface Deps extends RemoveDeps {
  readonly db: Database
}

/** Removes the relations and rights of a name at the tenants of this server: its next owner is another one. */
export const forgetNameJob = jobKind({
  name: 'idp.forget-name',
  payload: Type.Object({ idTag: Type.String() }),
  retry: { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 600_000 },
  concurrency: 1,
})

/** Removes an identity for good and keeps its name unavailable for a while; for a name that is released already the
 * provider's owner ends that time. Answers the name. */
export async function releaseIdentity(deps: Deps, request: Ask & { readonly ip: string }): Promise<IdTag> {
  const { tenant, caller, ip } = request
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const resting = isProvider(caller, tenant) ? await findQuarantined(deps, tx, request) : undefined
    if (resting !== undefined) {
      await deleteReleased(tx, resting)
      const details = { idTag: resting }
      await audit(deps, tx, { event: 'identity.freed', actorTag: caller.idTag, ip, details })
      return resting
    }
    const { identity, ownRole } = await getManaged(tx, request)
    assertMayChange(ownRole, identity)
    const { idTag, status } = identity
    await removeIdentity(deps, tx, identity)
    const details = { idTag, status }
    await audit(deps, tx, { event: 'identity.released', actorTag: caller.idTag, ip, details })
    return idTag
  })
}

async function findQuarantined(
  { clock }: Pick<Deps, 'clock'>,
  tx: Writer,
  { tenant, id }: Pick<Ask, 'tenant' | 'id'>,
): Promise<IdTag | undefined> {
  const idTag = idTagOf(tenant, id)
  return idTag && (await findReleased(tx, { idTag, now: nowSecs(clock) }))?.idTag
}

/** Removes an identity with its keys, makes its references worthless, and keeps the name from others for a while. A
 * registrar whose name was still pending may have it again: it was never in use. */
export async function removeIdentity(
  { clock, jobs, emit }: RemoveDeps,
  tx: Writer,
  { idTag, status, registrarTag }: ManagedIdentity,
): Promise<void> {
  await exhaustReferences(tx, ['idp-activate'], idTag)
  await deleteIdentity(tx, idTag)
  await emit(tx, { kind: 'managed-name.changed', idTag })
  if (status !== 'pending') await jobs.enqueue(tx, forgetNameJob, { idTag })
  const until = nowSecs(clock) + quarantineSecs
  await putReleased(tx, { idTag, until, registrarTag: status === 'pending' ? registrarTag : undefined })
}
