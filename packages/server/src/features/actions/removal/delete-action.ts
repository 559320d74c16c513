import { actsAsTenant, findViewer } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { newNonce, ownActionId } from '../action-id.ts'
import type { DeleteDeps, ReadDeps } from '../action-ports.ts'
import { findNewest, findStoredAction, insertAction } from '../action-store.ts'
import { joined, nobody } from '../audience.ts'
import { claimIssueTime, nextIssueTime, withIssueTime } from '../compose/issue-time.ts'
import { isIssuer } from '../compose/issuer.ts'
import { findPossibleHolders } from '../compose/recipients.ts'
import { type Draft, signToken } from '../compose/sign-action.ts'
import { outgoingOf } from '../compose/store-action.ts'
import { countAction } from '../counts/count-actions.ts'
import { findShown } from '../feed/feed-store.ts'
import type { ActionRequest } from '../feed/get-action.ts'
import { leavesDeleted } from '../find-sendable.ts'
import { hooksOf } from '../types/index.ts'
import { eraseAction, eraseButToken } from './erase-store.ts'
import { assertIsNoMembership, type RemovalRequest, removeAction } from './remove-action.ts'
import { putTombstone } from './tombstone-store.ts'

/** Deletes the caller's own action here and, by a signed deletion, at everybody who received it. For another's action:
 * removes it from the tenant, if the caller acts for the tenant. */
export async function deleteAction(ports: DeleteDeps, request: RemovalRequest): Promise<void> {
  const { tenant, caller } = request
  if (await deleteRefused(ports, request)) return
  const action = await getSeenAction(ports, request)
  if (isIssuer(tenant, caller, action)) {
    // The community's own half of a membership is no more its beginning than the member's.
    assertIsNoMembership(tenant, action)
    return deleteOwn(ports, tenant, action)
  }
  if (!actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
  await removeAction(ports, request, action)
}

/** A scheduled action that could not be published is D with its text, for its issuer alone, who may delete that. */
async function deleteRefused(
  { db }: ReadDeps,
  { tenant, caller, actionId }: ActionRequest,
): Promise<boolean> {
  const isRefused = (action: StoredAction | undefined) =>
    action?.status === 'D' &&
    action.issuedAt === 0 &&
    action.x?.refused !== undefined &&
    isIssuer(tenant, caller, action)
  if (!isRefused(await findStoredAction(db.reader(tenant.tenantId), actionId))) return false
  return await db.transact(tenant.tenantId, async (tx) => {
    if (!isRefused(await findStoredAction(tx, actionId))) return false
    await eraseAction(tx, actionId)
    return true
  })
}

/** The action, for its issuer alone: `E-ACTION-NOTFOUND` when the caller does not see it, `E-AUTH-FORBIDDEN` when it is
 * another's. */
export async function getOwnAction(ports: ReadDeps, request: ActionRequest): Promise<StoredAction> {
  const action = await getSeenAction(ports, request)
  if (!isIssuer(request.tenant, request.caller, action)) throw new Failure('E-AUTH-FORBIDDEN')
  return action
}

/** The stored action, for everybody who may see it. */
export async function getSeenAction(
  ports: ReadDeps,
  { tenant, caller, actionId }: ActionRequest,
): Promise<StoredAction> {
  const reader = ports.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller, 'one')
  const isShown = await findShown(reader, { viewer, actionId, now: nowSecs(ports.clock) })
  const action = isShown && (await findStoredAction(reader, actionId))
  if (!action) throw new Failure('E-ACTION-NOTFOUND')
  return action
}

/** Deletes an action of the tenant, without regard to the caller. */
export async function deleteOwn(ports: DeleteDeps, tenant: Tenant, action: StoredAction): Promise<void> {
  await hooksOf(action.type).assertMayDelete?.(ports, tenant, action)
  await withIssueTime(() => signAndDelete(ports, tenant, action))
}

async function signAndDelete(ports: DeleteDeps, tenant: Tenant, action: StoredAction): Promise<void> {
  const record = action.token === undefined ? undefined : await makeRecord(ports, tenant, action)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    // Of two deletions at the same time the second finds the action deleted.
    const current = await findStoredAction(tx, action.actionId)
    if (!current || current.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    const erase = (await leavesDeleted(tx, current)) ? eraseButToken : eraseAction
    await erase(tx, action.actionId)
    if (record) {
      // Tenants of this server that were not told of the deletion refuse the action when others pass it on.
      await putTombstone(tx.as(serverTenant), current, { now: nowSecs(ports.clock) })
      await endAndTell(ports, tx, { tenant, action: current, record })
    }
    await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...current, status: 'D' } })
  })
}

/** The signed record of a deletion. */
async function makeRecord(ports: DeleteDeps, tenant: Tenant, action: StoredAction): Promise<StoredAction> {
  const now = nowSecs(ports.clock)
  const former = await findNewest(ports.db.reader(tenant.tenantId), {
    ...action,
    subject: action.actionId,
  })
  const nonce = newNonce()
  const unsigned: Draft = {
    type: action.type,
    subType: endingSubType,
    subject: action.actionId,
    audienceTag: action.audienceTag,
    audience: action.audience,
    visibility: action.visibility,
    parentId: undefined,
    rootId: undefined,
    withinId: undefined,
    content: undefined,
    attachments: [],
    expiresAt: undefined,
    flags: undefined,
    x: undefined,
    actionId: ownActionId(tenant.idTag, nonce),
    issuerTag: tenant.idTag,
    authorTag: undefined,
    status: 'T',
    isMarked: false,
    createdAt: now,
    // Not before the action it deletes, whatever the clock says.
    issuedAt: Math.max(nextIssueTime(action.type, former, now), action.issuedAt),
    publishedAt: undefined,
    publishAt: undefined,
    nonce,
    token: undefined,
  }
  return { ...unsigned, token: await signToken(ports, tenant, unsigned) }
}

async function endAndTell(
  ports: DeleteDeps,
  tx: Writer,
  { tenant, action, record }: Record<'action' | 'record', StoredAction> & { readonly tenant: Tenant },
): Promise<void> {
  await claimIssueTime(tx, record, nowSecs(ports.clock))
  await insertAction(tx, record)
  const hooks = hooksOf(action.type)
  if (action.status === 'A' || action.status === 'C') {
    await countAction(ports, tx, { tenant, action, by: -1 })
    await hooks.onEnd?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
  }
  const holders = await findPossibleHolders(tx, tenant, action)
  const others = (await hooks.findOthers?.(tx, tenant, action)) ?? nobody
  await ports.deliver(tx, outgoingOf(record, joined(holders, others)))
}
