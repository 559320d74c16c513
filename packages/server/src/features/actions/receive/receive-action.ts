import {
  type ActionTokenPayload,
  type ActionTypeName,
  findActionType,
  type IdTag,
  parseActionId,
  parseIdTag,
} from '@kith/protocol'
import { findEffectiveRelation, isStranger, type Relation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { CountDeps, KnownTypeDeps, ReceiveDeps, SettingDeps, StoreDeps } from '../action-ports.ts'
import { findStoredAction, findSuperseded, insertAction } from '../action-store.ts'
import { isAnnouncement, openAnnouncement } from '../community/receive-announcement.ts'
import { mayReceiveDirectly } from '../community/thread-authority.ts'
import { parseAction } from '../compose/parse-action.ts'
import { extraMembers } from '../compose/sign-action.ts'
import { countAction } from '../counts/count-actions.ts'
import { isStat, receiveCounts } from '../counts/tell-counts.ts'
import { hashesOf } from '../endorsement/target.ts'
import { dropCopiesLater } from '../removal/drop-copies.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { hooksOf } from '../types/index.ts'
import { mayReceiveFromStranger, StrangerRefusal } from '../types/strangers.ts'
import { isNewer } from '../unique-key.ts'
import { type Arrival, admitAction, applyReceived, isLate, relay } from './admit-action.ts'
import { awaitAttachments } from './pending-action.ts'
import type { ReceivedAction, ReceiveOutcome } from './received-action.ts'
import { chargeStranger } from './stranger-budget.ts'
import { tooOld } from './token-age.ts'

interface Receiving {
  readonly tenant: Tenant
  readonly received: ReceivedAction
  /** The community or the owner of the thread that announced it. */
  readonly via?: IdTag | undefined
}

/** Stores another identity's action at one tenant that it concerns, with its effects there. Receiving it again has no
 * effect. `tx` is bound to the tenant. */
export async function receiveAction(
  ports: ReceiveDeps,
  tx: Writer,
  { tenant, received, via }: Receiving,
): Promise<ReceiveOutcome> {
  const { actionId, issuerTag, payload } = received
  if (issuerTag === tenant.idTag || (await findStoredAction(tx, actionId))) return { kind: 'known' }
  const relation = await findEffectiveRelation(tx, issuerTag)
  if (relation?.isBlocked) return { kind: 'blocked' }
  const failure = tooOld(received, nowSecs(ports.clock))
  if (failure) return { kind: 'refused', failure }
  const isFromStranger = isStrangers(tenant, relation, via)
  const refusal = isFromStranger && (await refuseStranger(ports, tx, { tenant, received, relation }))
  if (refusal) return refusal
  try {
    if (isStat(payload)) return { kind: await receiveCounts(ports, tx, { tenant, received }) }
    if (isAnnouncement(received)) return await receiveAnnounced(ports, tx, { tenant, received })
    const deletion = await readDeletion(tx, received)
    if (deletion) return await receiveDeletion(ports, tx, { tenant, ...deletion })
    const action = await withoutServerMembers(ports, tx, readAction(received))
    // Not stored as refused, because it may come again as an announcement.
    if (action.type === 'CMNT' && via === undefined && !(await mayReceiveDirectly(tx, tenant, action)))
      return { kind: 'known' }
    return await receivePublished(ports, tx, { tenant, action, via, isFromStranger })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Not stored either: it may come again once the two know each other.
    if (error instanceof StrangerRefusal) return { kind: 'stranger' }
    const type = findActionType(payload.type)?.type as ActionTypeName | undefined
    if (type) await insertAction(tx, refusedAction(received, type, error))
    return { kind: 'refused', failure: error }
  }
}

/** What is announced to a person is not a stranger's: its announcer knows the issuer. */
function isStrangers(tenant: Tenant, relation: Relation | undefined, via: IdTag | undefined): boolean {
  return (via === undefined || tenant.type === 'community') && isStranger(tenant.type, relation)
}

/** Refuses what the tenant does not accept from strangers, and what exceeds today's budget of the issuer's domain.
 * Deleting what is held already is always possible. */
async function refuseStranger(
  ports: SettingDeps & CountDeps,
  tx: Writer,
  {
    tenant,
    received,
    relation,
  }: Pick<Receiving, 'tenant' | 'received'> & { readonly relation: Relation | undefined },
): Promise<ReceiveOutcome | undefined> {
  const { payload } = received
  // Announced comments are checked in `openAnnouncement`, where their thread is known.
  const isInThread = isAnnouncement(received) && received.announced?.payload.type === 'CMNT'
  if (!isInThread && !(await mayReceiveFromStranger(ports, tx, { tenant, action: payload })))
    return { kind: 'stranger' }
  // Counts change an action that is held, and leave at most one row for it.
  if (isStat(payload)) return undefined
  const limit = await chargeStranger(ports, tx, { received, relation })
  if (!limit || (await endsWhatIsHeld(tx, received))) return undefined
  return { kind: 'limited', ...limit }
}

async function endsWhatIsHeld(tx: Writer, { payload, issuerTag }: ReceivedAction): Promise<boolean> {
  const endedId = payload.subType === endingSubType && parseActionId(payload.subject ?? '')
  const ended = endedId ? await findStoredAction(tx, endedId) : undefined
  return ended?.issuerTag === issuerTag && ended.status !== 'D'
}

/** Every outcome but `stored` is answered as `known`, because the announcer has nothing more to send. */
async function receiveAnnounced(
  ports: ReceiveDeps,
  tx: Writer,
  { tenant, received }: Receiving,
): Promise<ReceiveOutcome> {
  const announced = await openAnnouncement(ports, tx, { tenant, received })
  if (!announced) return { kind: 'known' }
  const outcome = await receiveAction(ports, tx, { tenant, received: announced, via: received.issuerTag })
  return outcome.kind === 'stored' ? outcome : { kind: 'known' }
}

/** The action that a token says, as it arrives where nothing is known of it. */
export function readAction({
  token,
  payload,
  actionId,
  issuerTag,
}: Omit<ReceivedAction, 'issuerDomain' | 'announced'>): StoredAction {
  const body = parseAction(payload)
  hooksOf(body.type).check?.(body)
  return {
    ...body,
    actionId,
    issuerTag,
    authorTag: undefined,
    withinId: undefined,
    visibility: body.visibility ?? null,
    status: findActionType(body.type)?.arrivesAs ?? 'A',
    isMarked: false,
    ...timesOf(payload),
    nonce: payload.nonce,
    token,
    ...hashesOf(body, payload),
  }
}

/** Removes members of `x` that a server sets only for its own actions, such as what became of an action there. `author`
 * stays if the issuer is a community. */
async function withoutServerMembers(
  ports: KnownTypeDeps,
  tx: Writer,
  action: StoredAction,
): Promise<StoredAction> {
  const { author } = action.x ?? {}
  const authorTag = typeof author === 'string' ? parseIdTag(author) : undefined
  const isSaid = authorTag !== undefined && (await ports.findKnownType(tx, action.issuerTag)) === 'community'
  return { ...action, x: extraMembers(action.x, isSaid ? authorTag : undefined) }
}

// An action with a later `createdAt` would stay on top of every list.
function timesOf({ createdAt, iat }: ActionTokenPayload) {
  return { createdAt: Math.min(createdAt, iat), issuedAt: iat, publishedAt: iat, publishAt: undefined }
}

/** An action without content, which keeps that it was here and who issued it. */
function emptyAction({ payload, actionId, issuerTag }: ReceivedAction, type: ActionTypeName): StoredAction {
  return {
    type,
    // Others may be any words.
    subType: payload.subType === endingSubType ? endingSubType : undefined,
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
    isMarked: false,
    ...timesOf(payload),
    nonce: undefined,
    token: undefined,
  }
}

function refusedAction(received: ReceivedAction, type: ActionTypeName, { code }: Failure): StoredAction {
  return { ...emptyAction(received, type), x: { refused: code } }
}

interface Deletion {
  readonly record: StoredAction
  /** Undefined when it has not arrived yet. */
  readonly deleted: StoredAction | undefined
}

/** Reads a token that deletes an action of its issuer: `subType: 'DEL'` with the action as its subject. If the type has
 * endings of its own and the subject is no such action, the token is such an ending, and this answers undefined; an
 * ending of a file share names a file. */
async function readDeletion(tx: Writer, received: ReceivedAction): Promise<Deletion | undefined> {
  const { payload, issuerTag } = received
  const type = findActionType(payload.type)
  const deletedId = parseActionId(payload.subject ?? '')
  if (payload.subType !== endingSubType || !type || !deletedId) return undefined
  const deleted = await findStoredAction(tx, deletedId)
  const isIts = deleted?.issuerTag === issuerTag && deleted.type === type.type
  if (!isIts && type.canEnd && type.subject !== 'file') return undefined
  if (deleted && !isIts) throw new Failure('E-AUTH-FORBIDDEN')
  const empty = emptyAction(received, type.type as ActionTypeName)
  const record: StoredAction = { ...empty, subject: deletedId, status: 'T', token: received.token }
  return { record, deleted }
}

async function receiveDeletion(
  ports: StoreDeps,
  tx: Writer,
  { tenant, record, deleted }: Deletion & { readonly tenant: Tenant },
): Promise<ReceiveOutcome> {
  await insertAction(tx, record)
  // A deletion is not taken back: what it deleted must not come again.
  if (!deleted || deleted.status === 'D' || deleted.status === 'T') return { kind: 'stored' }
  await eraseAction(tx, deleted.actionId)
  await dropCopiesLater(ports, tx, deleted)
  if (deleted.status === 'P') return { kind: 'stored' }
  await endDeleted(ports, tx, { tenant, action: deleted })
  await relay(ports, tx, { tenant, about: deleted, sent: record })
  return { kind: 'stored' }
}

async function endDeleted(ports: StoreDeps, tx: Writer, { tenant, action }: Arrival): Promise<void> {
  await countAction(ports, tx, { tenant, action, by: -1 })
  await hooksOf(action.type).onEnd?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
  await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...action, status: 'D' } })
}

/** Stores an action that arrives too late, without its text, so that it keeps out older ones with its unique key;
 * nobody may read it. A live action that it would have replaced ends here too. */
async function keepOutOlder(ports: StoreDeps, tx: Writer, { tenant, action }: Arrival): Promise<void> {
  const superseded = await findSuperseded(tx, action)
  await insertAction(tx, { ...action, status: 'D' })
  await eraseAction(tx, action.actionId)
  if (!superseded || !isNewer(action, superseded)) return
  await eraseAction(tx, superseded.actionId)
  await endDeleted(ports, tx, { tenant, action: superseded })
}

async function receivePublished(ports: ReceiveDeps, tx: Writer, arrival: Arrival): Promise<ReceiveOutcome> {
  if (await isLate(tx, arrival.action)) {
    await keepOutOlder(ports, tx, arrival)
    return { kind: 'stored' }
  }
  const received = { ...arrival, action: await applyReceived(ports, tx, arrival) }
  if (!(await awaitAttachments(ports, tx, received)))
    await admitAction(ports, tx, { ...received, write: insertAction })
  return { kind: 'stored' }
}
