import { findViewer } from '#features/visibility/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-event.ts'
import { newNonce, ownActionId } from './action-id.ts'
import { findStoredAction, insertAction, setStatus } from './action-store.ts'
import { tokenPayload } from './action-token.ts'
import { findShown } from './feed-store.ts'
import type { ActionRequest } from './get-action.ts'
import { isIssuer } from './issuer.ts'
import { listHolderTags } from './recipients.ts'
import { hooksOf } from './types/index.ts'

/** Deletes one's own action here and, by a token that says so, wherever it was received. */
export async function deleteAction(ports: ActionPorts, request: ActionRequest): Promise<void> {
  const action = await getOwnAction(ports, request)
  const { tenant } = request
  const tombstone = action.token === undefined ? undefined : await makeTombstone(ports, tenant, action)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    // Of two deletions at the same time the later one finds nothing any more.
    const current = await findStoredAction(tx, action.actionId)
    if (!current || current.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    await setStatus(tx, action.actionId, 'D')
    if (tombstone) await publish(ports, tx, { tenant, action: current, tombstone })
    await ports.onStored(tx, { kind: 'deleted', tenant, action: { ...current, status: 'D' } })
  })
}

/** The action, for its issuer alone. `E-ACTION-NOTFOUND` where the caller sees none, `E-AUTH-FORBIDDEN` where it is
 * another's. */
export async function getOwnAction(
  ports: Pick<ActionPorts, 'db' | 'clock'>,
  { tenant, caller, actionId }: ActionRequest,
): Promise<StoredAction> {
  const reader = ports.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  const isShown = await findShown(reader, { viewer, actionId, now: nowSecs(ports.clock) })
  const action = isShown && (await findStoredAction(reader, actionId))
  if (!action) throw new Failure('E-ACTION-NOTFOUND')
  if (!isIssuer(tenant, caller, action)) throw new Failure('E-AUTH-FORBIDDEN')
  return action
}

type Tombstone = StoredAction & { readonly token: string }

async function makeTombstone(ports: ActionPorts, tenant: Tenant, action: StoredAction): Promise<Tombstone> {
  const now = nowSecs(ports.clock)
  const nonce = newNonce()
  const unsigned = {
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
    status: 'D' as const,
    createdAt: now,
    // Never before what it ends, whatever the clock says.
    issuedAt: Math.max(now, action.issuedAt),
    publishedAt: now,
    nonce,
  }
  return { ...unsigned, token: await ports.keys.sign(tenant.tenantId, tokenPayload(unsigned)) }
}

async function publish(
  ports: ActionPorts,
  tx: Writer,
  how: { readonly tenant: Tenant; readonly action: StoredAction; readonly tombstone: Tombstone },
): Promise<void> {
  const { tenant, action, tombstone } = how
  await insertAction(tx, tombstone)
  const at = nowSecs(ports.clock)
  if (action.status === 'A' || action.status === 'C')
    await hooksOf(action.type).onEnd?.({ tx, tenant, action, at })
  const recipients = await listHolderTags(tx, action)
  const { actionId, issuerTag } = tombstone
  if (recipients.length > 0) await ports.deliver(tx, { actionId, issuerTag, recipients })
}
