import { type IdTag, parseActionId, roleLevel } from '@kith/protocol'
import { findRelation, isLastLeader, lastLeader, noRelation, setRelation } from '#features/relations/index.ts'
import { leadsAlone } from '#features/tenants/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { IdentityDeps } from '../action-ports.ts'
import { findStoredAction, findSuperseded, setStatus } from '../action-store.ts'
import { consumeInvitations, findOpenInvitation } from '../community/invitation-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import { type HookScene, otherParty, type TypeHooks } from './type-hooks.ts'

const isEnd = ({ subType }: Pick<StoredAction, 'subType'>) => subType === endingSubType

/** Connections: a request, its acceptance by a request in return, and their end. */
export const conn: TypeHooks = {
  type: 'CONN',
  async prepare({ ports, reader, tenant, body }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    if (!isEnd(body)) return {}
    await assertMayLeave(ports, tenant, body.audienceTag)
    if (body.subject !== undefined) return {}
    // So that the other side can tell which request this was said of: they may cross.
    const ended = await findRequest(reader, body.audienceTag, tenant.idTag)
    if (ended) return { subject: ended.actionId }
    const withdrawn = body.audienceTag && (await findRequest(reader, tenant.idTag, body.audienceTag))
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

async function assertMayLeave(
  ports: IdentityDeps,
  { idTag }: HookScene['tenant'],
  communityTag: IdTag | undefined,
): Promise<void> {
  if (communityTag !== undefined && (await leadsAlone(ports, idTag, communityTag))) throw lastLeader()
}

/** An answer names what it answers; one to a request that was withdrawn meanwhile is a request itself. */
async function isAnswerToOwn({ tx, tenant, action }: HookScene): Promise<boolean> {
  const answeredId = parseActionId(action.subject ?? '')
  const answered = answeredId && (await findStoredAction(tx, answeredId))
  if (answered?.type !== 'CONN' || answered.issuerTag !== tenant.idTag) return false
  return answered.audienceTag === action.issuerTag && answered.status === 'A'
}

/** Two requests that meet make a connection, whichever came first; one alone waits. */
async function meet(scene: HookScene, theOther: 'asked' | 'requested', thisOne: 'asked' | 'requested') {
  const { tx, at } = scene
  const other = otherParty(scene)
  if (!other) return
  const { connection } = (await findRelation(tx, other)) ?? noRelation(other)
  if (connection !== theOther && connection !== 'connected') {
    await setRelation(scene.ports, tx, other, { connection: thisOne, at })
    return
  }
  await setRelation(scene.ports, tx, other, { connection: 'connected', ...(await memberRole(scene)), at })
  const counterpart = await findCounterpart(scene)
  if (counterpart?.status === 'C') await setStatus(tx, counterpart.actionId, 'A')
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
  if (counterpart) await setStatus(tx, counterpart.actionId, 'D')
}

/** Does this request stand although the other side ended what held? An end names the request of which it was said, or in
 * `x.withdraws` that it takes back its issuer's own alone. One that says neither ends every request made until then. */
async function isOutlived({ tx, tenant, action }: HookScene, request: StoredAction): Promise<boolean> {
  if (!isEnd(action)) return false
  const namedId = parseActionId(action.subject ?? '')
  const named = namedId && (await findStoredAction(tx, namedId))
  if (named?.issuerTag === action.audienceTag) return request.actionId !== namedId
  if (action.issuerTag === tenant.idTag) return false
  return action.x?.withdraws !== undefined || request.issuedAt > action.issuedAt
}

/** What held has ended, and the request that outlived it waits for an answer. */
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

/** The live request of the other side, which the action answers or ends. */
function findCounterpart({ tx, action }: HookScene): Promise<StoredAction | undefined> {
  return findRequest(tx, action.audienceTag, action.issuerTag)
}

async function findRequest(
  reader: Reader,
  issuerTag: IdTag | undefined,
  audienceTag: IdTag,
): Promise<StoredAction | undefined> {
  if (issuerTag === undefined) return undefined
  const live = await findSuperseded(reader, { type: 'CONN', issuerTag, audienceTag, subject: undefined })
  return live && !isEnd(live) ? live : undefined
}

/** Whoever is connected with a community contributes to it. */
async function memberRole(scene: HookScene) {
  const other = otherParty(scene)
  if (scene.tenant.type !== 'community' || !other) return {}
  const { role = 'public' } = (await findRelation(scene.tx, other)) ?? {}
  return roleLevel(role) < roleLevel('contributor') ? { role: 'contributor' as const } : {}
}

/** Rights in a community end with the connection; the last leader's do not, for it must not be left alone. */
async function formerRole(scene: HookScene) {
  const other = otherParty(scene)
  if (scene.tenant.type !== 'community' || !other) return {}
  const { role, isFollower } = (await findRelation(scene.tx, other)) ?? noRelation(other)
  if (role === undefined || role === 'follower') return {}
  if (role === 'leader' && (await isLastLeader(scene.tx, other))) return {}
  return { role: isFollower ? ('follower' as const) : undefined }
}

/** A community takes in by itself whom one of its moderators invited, and anybody takes back who has forgotten that they are
 * connected. The answer has to be signed, so it comes later. */
async function acceptAutomatically(
  { ports, tx, tenant, action, at }: HookScene,
  isConnected: boolean,
): Promise<void> {
  const invitation = { communityTag: tenant.idTag, guestTag: action.issuerTag, at }
  const isInvited = tenant.type === 'community' && (await findOpenInvitation(tx, invitation))
  if (isConnected || isInvited) await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: action.actionId })
}
