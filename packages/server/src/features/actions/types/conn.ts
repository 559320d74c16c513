import { type IdTag, parseActionId, roleLevel } from '@kith/protocol'
import {
  findClaimedRole,
  findRelation,
  isLastLeader,
  lastLeader,
  noRelation,
  setClaims,
  setRelation,
} from '#features/relations/index.ts'
import { findHostedSince, leadsAlone } from '#features/tenants/index.ts'
import { hasRole } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { IdentityDeps } from '../action-ports.ts'
import { findStoredAction, findSuperseded, setStatus } from '../action-store.ts'
import { consumeInvitations, findOpenInvitation } from '../community/invitation-store.ts'
import { acceptLaterJob, reconnectJob } from '../job-kinds.ts'
import { eraseAction, eraseButToken } from '../removal/erase-store.ts'
import { type HookScene, otherParty, type TypeHooks } from './type-hooks.ts'

const isEnd = ({ subType }: Pick<StoredAction, 'subType'>) => subType === endingSubType

/** Connections: a request, its acceptance by a request in return, and the end of both. */
export const conn: TypeHooks = {
  type: 'CONN',
  async prepare({ ports, reader, tenant, body, caller }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    if (!isEnd(body)) return {}
    // Whoever acts for a community below its leaders ends memberships where that is decided by roles, and noted.
    const isLeader = !caller || caller.isOwner || hasRole(caller, 'leader')
    if (tenant.type === 'community' && !isLeader && (await isConnected(reader, body.audienceTag)))
      throw new Failure('E-AUTH-FORBIDDEN')
    await assertMayLeave(ports, tenant, body.audienceTag)
    if (body.subject !== undefined) return {}
    // Names the request that is ended: when two requests cross, the other side could not tell which one is meant.
    const ended = await findConnectionRequest(reader, body.audienceTag, tenant.idTag)
    if (ended) return { subject: ended.actionId }
    const withdrawn =
      body.audienceTag && (await findConnectionRequest(reader, tenant.idTag, body.audienceTag))
    return withdrawn ? { x: { ...body.x, withdraws: withdrawn.actionId } } : {}
  },
  assertMayDelete: async (ports, tenant, action) => {
    if (!isEnd(action)) await assertMayLeave(ports, tenant, action.audienceTag)
  },
  async admit(scene) {
    const { tx, tenant, action } = scene
    if (isEnd(action)) {
      if (tenant.type === 'community' && (await isLastLeader(tx, action.issuerTag))) throw lastLeader()
      return { status: 'A' }
    }
    const relation = await findRelation(tx, action.issuerTag)
    const isAnswer = relation?.connection === 'requested' || (await isAnswerToOwn(scene))
    return { status: isAnswer ? 'A' : 'C' }
  },
  async onCreate(scene) {
    if (!isEnd(scene.action)) return meet(scene, 'asked', 'requested')
    const { tx, tenant, action } = scene
    const isLast = action.audienceTag !== undefined && (await isLastLeader(tx, action.audienceTag))
    if (tenant.type === 'community' && isLast) throw lastLeader()
    await disconnect(scene)
  },
  async onReceive(scene) {
    if (isEnd(scene.action)) return disconnect(scene)
    const { tx, action } = scene
    const former = await findRelation(tx, action.issuerTag)
    await meet(scene, 'requested', 'asked')
    if (action.status === 'C') await acceptAutomatically(scene, former?.connection === 'connected')
  },
  async onVerified(scene) {
    const { ports, tx, tenant, action, at } = scene
    if (isEnd(action) || action.audienceTag !== tenant.idTag) return
    const { issuerTag: idTag, status } = action
    const { connection, isBlocked } = (await findRelation(tx, idTag)) ?? noRelation(idTag)
    if (status === 'C' && connection === 'disconnected' && !isBlocked)
      await setRelation(ports, tx, idTag, { connection: 'asked', at })
    if (connection !== 'requested') return
    // Its issuer agreed to a connection, which it may have ended since.
    await ports.jobs.enqueue(tx, reconnectJob, { idTag }, { dedupKey: idTag })
    if (status === 'C') await askAgain(scene, idTag)
  },
  async onEnd(scene) {
    if (!isEnd(scene.action)) await disconnect(scene)
  },
  onReject: (scene) => disconnect(scene),
  answer: ({ issuerTag, actionId }, verdict) => ({
    type: 'CONN',
    audienceTag: issuerTag,
    subject: actionId,
    ...(verdict === 'reject' ? { subType: endingSubType } : {}),
  }),
}

async function isConnected(reader: Reader, idTag: IdTag | undefined): Promise<boolean> {
  return idTag !== undefined && (await findRelation(reader, idTag))?.connection === 'connected'
}

async function assertMayLeave(
  ports: IdentityDeps,
  { idTag }: HookScene['tenant'],
  communityTag: IdTag | undefined,
): Promise<void> {
  if (communityTag !== undefined && (await leadsAlone(ports, idTag, communityTag))) throw lastLeader()
}

/** An answer names the request it answers. When that request was withdrawn in the meantime, the answer is a new
 * request. */
async function isAnswerToOwn(scene: HookScene): Promise<boolean> {
  return (await findAnswered(scene, scene.action)) !== undefined
}

/** The live request of the tenant's own that a CONN of somebody else names. */
async function findAnswered(
  { tx, tenant }: Pick<HookScene, 'tx' | 'tenant'>,
  { subject, issuerTag }: StoredAction,
): Promise<StoredAction | undefined> {
  const answeredId = parseActionId(subject ?? '')
  const answered = answeredId && (await findStoredAction(tx, answeredId))
  if (answered?.type !== 'CONN' || answered.issuerTag !== tenant.idTag) return undefined
  return answered.audienceTag === issuerTag && answered.status === 'A' ? answered : undefined
}

/** Two requests that cross make a connection, whichever came first. A single one waits for an answer. */
async function meet(scene: HookScene, theOther: 'asked' | 'requested', thisOne: 'asked' | 'requested') {
  const { tx, at } = scene
  const other = otherParty(scene)
  if (!other) return
  const { connection } = (await findRelation(tx, other)) ?? noRelation(other)
  if (connection !== theOther && connection !== 'connected') {
    await setRelation(scene.ports, tx, other, { connection: thisOne, at })
    return
  }
  const counterpart = await findCounterpart(scene)
  if (counterpart?.status === 'C') await setStatus(tx, counterpart.actionId, 'A')
  const others = scene.action.issuerTag === other ? scene.action : counterpart
  if (connection !== 'connected' && others && (await isFromBefore(scene, others))) {
    await setRelation(scene.ports, tx, other, { connection: 'requested', at })
    return await askAgain(scene, other)
  }
  await setRelation(scene.ports, tx, other, { connection: 'connected', ...(await memberRole(scene)), at })
}

/** Was a request made before its tenant came to this server, which then does not know whether it was withdrawn? What
 * answers a request of the tenant that was made here is not. */
async function isFromBefore(scene: HookScene, request: StoredAction): Promise<boolean> {
  const hostedSince = await findHostedSince(scene.tx)
  if (!request.isUnverified && request.issuedAt + clockSkewSecs >= hostedSince) return false
  const answered = await findAnswered(scene, request)
  return answered === undefined || answered.issuedAt < hostedSince
}

// By then what the tenant sends now has arrived, as a rule.
const pauseMs = 5 * 60_000

/** Asks for the connection once more when the other has heard of it: an identity that is connected accepts by itself,
 * and only that shows that it still is. */
async function askAgain({ ports, tx, at }: HookScene, idTag: IdTag): Promise<void> {
  const options = { dedupKey: `again ${idTag}`, runAtMs: at * 1000 + pauseMs }
  await ports.jobs.enqueue(tx, reconnectJob, { idTag }, options)
}

async function disconnect(scene: HookScene): Promise<void> {
  const { tx, at } = scene
  const other = otherParty(scene)
  if (!other) return
  const counterpart = await findCounterpart(scene)
  if (counterpart && (await isOutlived(scene, counterpart))) return awaitAgain(scene, counterpart)
  await setRelation(scene.ports, tx, other, { connection: 'disconnected', ...(await formerRole(scene)), at })
  if (scene.tenant.type === 'community')
    await consumeInvitations(tx, { communityTag: scene.tenant.idTag, guestTag: other })
  await setClaims(tx, other, {})
  if (!counterpart) return
  const isOwn = counterpart.issuerTag === scene.tenant.idTag
  await (isOwn ? eraseButToken : eraseAction)(tx, counterpart.actionId)
}

/** Does this request survive an end? An end names the request it answers, or says in `x.withdraws` that it only takes
 * back its issuer's own request. An end that says neither ends every request made before it. */
async function isOutlived({ tx, tenant, action }: HookScene, request: StoredAction): Promise<boolean> {
  if (!isEnd(action)) return false
  const namedId = parseActionId(action.subject ?? '')
  const named = namedId && (await findStoredAction(tx, namedId))
  if (named?.issuerTag === action.audienceTag) return request.actionId !== namedId
  if (action.issuerTag === tenant.idTag) return false
  return action.x?.withdraws !== undefined || request.issuedAt > action.issuedAt
}

/** The connection has ended, and the request that survived waits for an answer again. */
async function awaitAgain(scene: HookScene, request: StoredAction): Promise<void> {
  const { tx, tenant, at } = scene
  const other = otherParty(scene)
  if (!other || (await findRelation(tx, other))?.connection !== 'connected') return
  const isOwn = request.issuerTag === tenant.idTag
  await setRelation(scene.ports, tx, other, {
    connection: isOwn ? 'requested' : 'asked',
    ...(await formerRole(scene)),
    at,
  })
  if (!isOwn) await setStatus(tx, request.actionId, 'C')
}

/** The other side's live request, which this action answers or ends. */
function findCounterpart({ tx, action }: HookScene): Promise<StoredAction | undefined> {
  return findConnectionRequest(tx, action.audienceTag, action.issuerTag)
}

/** The live request of one identity for a connection with another. */
export async function findConnectionRequest(
  reader: Reader,
  issuerTag: IdTag | undefined,
  audienceTag: IdTag,
): Promise<StoredAction | undefined> {
  if (issuerTag === undefined) return undefined
  const live = await findSuperseded(reader, { type: 'CONN', issuerTag, audienceTag, subject: undefined })
  return live && !isEnd(live) ? live : undefined
}

/** A connection with a community makes the other at least a contributor, or gives back the role that it had where the
 * community comes from. */
async function memberRole(scene: HookScene) {
  const other = otherParty(scene)
  if (scene.tenant.type !== 'community' || !other) return {}
  const { role: present = 'public' } = (await findRelation(scene.tx, other)) ?? {}
  const claimed = await findClaimedRole(scene.tx, other)
  if (claimed) await setClaims(scene.tx, other, {})
  const role = claimed ?? 'contributor'
  return roleLevel(present) < roleLevel(role) ? { role } : {}
}

/** A role in a community ends with the connection; followers stay followers. The last leader keeps the role, because a
 * community must not be without one. */
async function formerRole(scene: HookScene) {
  const other = otherParty(scene)
  if (scene.tenant.type !== 'community' || !other) return {}
  const { role, isFollower } = (await findRelation(scene.tx, other)) ?? noRelation(other)
  if (role === undefined || role === 'follower') return {}
  if (role === 'leader' && (await isLastLeader(scene.tx, other))) return {}
  return { role: isFollower ? ('follower' as const) : undefined }
}

/** Accepts a request without asking the tenant: a community accepts whom one of its moderators invited, and who was a
 * member where it comes from; any tenant accepts an identity that it is still connected with, whose server has
 * forgotten that. A job does it, because the answer must be signed. */
async function acceptAutomatically(
  { ports, tx, tenant, action, at }: HookScene,
  isConnected: boolean,
): Promise<void> {
  const invitation = { communityTag: tenant.idTag, guestTag: action.issuerTag, at }
  const isInvited = tenant.type === 'community' && (await findOpenInvitation(tx, invitation))
  const isMember = tenant.type === 'community' && (await findClaimedRole(tx, action.issuerTag)) !== undefined
  if (isConnected || isInvited || isMember)
    await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: action.actionId })
}
