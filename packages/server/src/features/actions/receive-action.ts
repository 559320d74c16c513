import {
  type ActionId,
  type ActionTokenPayload,
  type ActionTypeName,
  findActionType,
  type IdTag,
  parseActionId,
} from '@kith/protocol'
import { findRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-event.ts'
import {
  eraseAction,
  findRival,
  findStoredAction,
  hasTombstone,
  insertAction,
  setStatus,
} from './action-store.ts'
import { parseAction } from './parse-action.ts'
import { hooksOf } from './types/index.ts'
import { isNewer } from './unique-key.ts'

/** An action whose signature is its issuer's. */
export interface ReceivedAction {
  readonly token: string
  readonly payload: ActionTokenPayload
  readonly actionId: ActionId
  readonly issuerTag: IdTag
}

/** What became of an action at one tenant. `refused` is kept as deleted, and shown to nobody. */
export type ReceiveOutcome =
  | { readonly kind: 'stored' | 'known' | 'blocked' }
  | { readonly kind: 'refused'; readonly failure: Failure }

export type ReceivePorts = Pick<ActionPorts, 'clock' | 'onStored'>

interface Arrival {
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** Stores another identity's action at one tenant that it concerns, with its effects there. The same action again has
 * none. `tx` is bound to the tenant. */
export async function receiveAction(
  ports: ReceivePorts,
  tx: Writer,
  { tenant, received }: { readonly tenant: Tenant; readonly received: ReceivedAction },
): Promise<ReceiveOutcome> {
  const { actionId, issuerTag, payload } = received
  if (issuerTag === tenant.idTag || (await findStoredAction(tx, actionId))) return { kind: 'known' }
  if ((await findRelation(tx, issuerTag))?.isBlocked) return { kind: 'blocked' }
  try {
    const deletion = await readDeletion(tx, received)
    if (deletion) return await receiveDeletion(ports, tx, { tenant, ...deletion })
    return await receivePublished(ports, tx, { tenant, action: readAction(received) })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const type = findActionType(payload.type)?.type as ActionTypeName | undefined
    if (type) await insertAction(tx, refusedAction(received, type, error))
    return { kind: 'refused', failure: error }
  }
}

function readAction({ token, payload, actionId, issuerTag }: ReceivedAction): StoredAction {
  const body = parseAction(payload)
  return {
    ...body,
    actionId,
    issuerTag,
    authorTag: undefined,
    withinId: undefined,
    visibility: body.visibility ?? null,
    status: findActionType(body.type)?.arrivesAs ?? 'A',
    ...timesOf(payload),
    nonce: payload.nonce,
    token,
  }
}

// What claims to come from the future would stay on top of every list.
function timesOf({ createdAt, iat }: ActionTokenPayload) {
  return { createdAt: Math.min(createdAt, iat), issuedAt: iat, publishedAt: iat }
}

/** What remains of an action without content: that it was here, and who issued it. */
function emptyAction({ payload, actionId, issuerTag }: ReceivedAction, type: ActionTypeName): StoredAction {
  return {
    type,
    subType: payload.subType,
    parentId: undefined,
    rootId: undefined,
    withinId: undefined,
    audienceTag: undefined,
    audience: [],
    content: undefined,
    attachments: [],
    subject: undefined,
    expiresAt: undefined,
    visibility: null,
    flags: undefined,
    x: undefined,
    actionId,
    issuerTag,
    authorTag: undefined,
    status: 'D',
    ...timesOf(payload),
    nonce: undefined,
    token: undefined,
  }
}

function refusedAction(received: ReceivedAction, type: ActionTypeName, { code }: Failure): StoredAction {
  return { ...emptyAction(received, type), x: { refused: code } }
}

interface Deletion {
  readonly tombstone: StoredAction
  /** Undefined when it has not arrived yet. */
  readonly deleted: StoredAction | undefined
}

/** A token that deletes an action of its issuer: `subType: 'DEL'` with the action as its subject. Where the type knows
 * ends of its own and the subject is not such an action, it is one of those. */
async function readDeletion(tx: Writer, received: ReceivedAction): Promise<Deletion | undefined> {
  const { payload, issuerTag } = received
  const type = findActionType(payload.type)
  const deletedId = parseActionId(payload.subject ?? '')
  if (payload.subType !== endingSubType || !type || !deletedId) return undefined
  const deleted = await findStoredAction(tx, deletedId)
  const isIts = deleted?.issuerTag === issuerTag && deleted.type === type.type
  if (!isIts && type.canEnd) return undefined
  if (deleted && !isIts) throw new Failure('E-AUTH-FORBIDDEN')
  const tombstone = { ...emptyAction(received, type.type as ActionTypeName), subject: deletedId }
  return { tombstone, deleted }
}

async function receiveDeletion(
  ports: ReceivePorts,
  tx: Writer,
  { tenant, tombstone, deleted }: Deletion & { readonly tenant: Tenant },
): Promise<ReceiveOutcome> {
  await insertAction(tx, tombstone)
  if (!deleted || deleted.status === 'D') return { kind: 'stored' }
  await eraseAction(tx, deleted.actionId)
  await hooksOf(deleted.type).onEnd?.({ tx, tenant, action: deleted, at: nowSecs(ports.clock) })
  await ports.onStored(tx, { kind: 'deleted', tenant, action: { ...deleted, status: 'D' } })
  return { kind: 'stored' }
}

async function receivePublished(
  ports: ReceivePorts,
  tx: Writer,
  { tenant, action }: Arrival,
): Promise<ReceiveOutcome> {
  const rival = await findRival(tx, action)
  const isLate = (await hasTombstone(tx, action)) || (rival !== undefined && isNewer(rival, action))
  if (isLate) {
    await insertAction(tx, { ...action, status: 'D' })
    return { kind: 'stored' }
  }
  const at = nowSecs(ports.clock)
  const replaced = rival ? { replaced: rival } : {}
  await hooksOf(action.type).onReceive?.({ tx, tenant, action, at, ...replaced })
  if (rival) await setStatus(tx, rival.actionId, 'D')
  await insertAction(tx, action)
  await ports.onStored(tx, { kind: 'received', tenant, action })
  return { kind: 'stored' }
}
