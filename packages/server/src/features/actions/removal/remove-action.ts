import type { FileId } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { DeleteDeps, StoreDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { detachFiles, listUnshown } from '../attachment-store.ts'
import { countAction } from '../counts/count-actions.ts'
import type { ActionRequest } from '../feed/get-action.ts'
import { hooksOf } from '../types/index.ts'
import { eraseAction } from './erase-store.ts'
import { signRemoval, tellRemoval } from './tell-removal.ts'

export interface RemovalRequest extends ActionRequest {
  /** Of another's action, for the audit trail. */
  readonly reason?: string | undefined
}

/** Removes another's action from the tenant, with its files and effects: for the tenant's owner, in a community for its
 * moderators. The row that stays keeps the action from being received again. Its issuer keeps it. */
export async function removeAction(
  ports: DeleteDeps,
  { tenant, caller, reason }: Pick<RemovalRequest, 'tenant' | 'caller' | 'reason'>,
  action: StoredAction,
): Promise<void> {
  const { actionId, type, issuerTag } = action
  assertIsNoMembership(tenant, action)
  const word = await signRemoval(ports, tenant, action)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    const current = await findStoredAction(tx, actionId)
    if (!current || current.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    assertIsNoMembership(tenant, current)
    await takeAway(ports, tx, { tenant, action: current })
    if (word) await tellRemoval(ports, tx, { tenant, action: current, word })
    await audit(ports, tx, {
      event: 'action.removed',
      ...(caller.kind === 'identity' ? { actorTag: caller.idTag } : {}),
      details: { actionId, type, issuerTag, reason },
    })
    await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...current, status: 'D' } })
  })
}

/** A membership is ended at the member's profile, not by removing the request that began it. */
export function assertIsNoMembership(tenant: Tenant, { type, subType, status }: StoredAction): void {
  if (tenant.type === 'community' && type === 'CONN' && subType !== endingSubType && status === 'A')
    throw new Failure('E-STATE', { message: 'This is a membership: end it by the member’s profile.' })
}

async function takeAway(
  ports: StoreDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  const { actionId, issuerTag, attachments } = action
  await eraseAction(tx, actionId)
  const fileIds = attachments as FileId[]
  await detachFiles(tx, { actionId, fileIds })
  for (const fileId of await listUnshown(tx, { issuerTag, fileIds }))
    await ports.fileShares.drop(tx, { subject: fileId, issuerTag })
  // An action that is still being verified (P) has had no effects.
  if (action.status === 'P') return
  await countAction(ports, tx, { tenant, action, by: -1 })
  await hooksOf(action.type).onEnd?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
}
