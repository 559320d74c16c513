import { type IdTag, parseActionId, roleLevel } from '@kith/protocol'
import {
  changeRelation,
  findRelation,
  isLastLeader,
  lastLeader,
  noRelation,
} from '#features/relations/index.ts'
import { invalid } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { findRival, findStoredAction, setStatus } from '../action-store.ts'
import { findStandingInvitation, spendInvitations } from '../invitation-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import { type HookScene, otherParty, type TypeHooks } from './type-hooks.ts'

const isEnd = ({ subType }: Pick<StoredAction, 'subType'>) => subType === endingSubType

/** Connections: a request, its acceptance by a request in return, and their end. */
export const conn: TypeHooks = {
  type: 'CONN',
  async prepare({ ports, tenant, body }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    if (isEnd(body)) await assertMayLeave(ports, tenant, body.audienceTag)
    return {}
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
    if (action.status === 'C') await acceptUnasked(scene, former?.connection === 'connected')
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
  ports: HookScene['ports'],
  { idTag }: HookScene['tenant'],
  communityTag: IdTag | undefined,
): Promise<void> {
  if (communityTag !== undefined && (await ports.leadsAlone(idTag, communityTag))) throw lastLeader()
}

/** An answer names what it answers. */
async function isAnswerToOwn({ tx, tenant, action }: HookScene): Promise<boolean> {
  const answeredId = parseActionId(action.subject ?? '')
  const answered = answeredId && (await findStoredAction(tx, answeredId))
  return answered?.type === 'CONN' && answered.issuerTag === tenant.idTag
}

/** Two requests that meet make a connection, whichever came first; one alone waits. */
async function meet(scene: HookScene, theOther: 'asked' | 'requested', thisOne: 'asked' | 'requested') {
  const { tx, at } = scene
  const other = otherParty(scene)
  if (!other) return
  const { connection } = (await findRelation(tx, other)) ?? noRelation(other)
  if (connection !== theOther && connection !== 'connected') {
    await changeRelation(tx, other, { connection: thisOne, at })
    return
  }
  await changeRelation(tx, other, { connection: 'connected', ...(await memberRole(scene)), at })
  const counterpart = await findCounterpart(scene)
  if (counterpart?.status === 'C') await setStatus(tx, counterpart.actionId, 'A')
}

async function disconnect(scene: HookScene): Promise<void> {
  const { tx, at } = scene
  const other = otherParty(scene)
  if (!other || (await isOutdated(scene))) return
  await changeRelation(tx, other, { connection: 'disconnected', ...(await formerRole(scene)), at })
  if (scene.tenant.type === 'community')
    await spendInvitations(tx, { communityTag: scene.tenant.idTag, guestTag: other })
  const counterpart = await findCounterpart(scene)
  if (counterpart && !isEnd(counterpart)) await setStatus(tx, counterpart.actionId, 'D')
}

/** A refusal names the request it refuses; one that crossed a newer request does not refuse that too. */
async function isOutdated(scene: HookScene): Promise<boolean> {
  const { tx, action } = scene
  const refusedId = parseActionId(action.subject ?? '')
  const refused = refusedId && isEnd(action) ? await findStoredAction(tx, refusedId) : undefined
  if (refused?.issuerTag !== action.audienceTag) return false
  const counterpart = await findCounterpart(scene)
  return counterpart !== undefined && !isEnd(counterpart) && counterpart.actionId !== refusedId
}

/** The live request of the other side, which the action answers or ends. */
async function findCounterpart({ tx, action }: HookScene): Promise<StoredAction | undefined> {
  const { issuerTag, audienceTag } = action
  if (audienceTag === undefined) return undefined
  return findRival(tx, { type: 'CONN', issuerTag: audienceTag, audienceTag: issuerTag, subject: undefined })
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
async function acceptUnasked(
  { ports, tx, tenant, action, at }: HookScene,
  isConnected: boolean,
): Promise<void> {
  const invitation = { communityTag: tenant.idTag, guestTag: action.issuerTag, at }
  const isInvited = tenant.type === 'community' && (await findStandingInvitation(tx, invitation))
  if (isConnected || isInvited) await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: action.actionId })
}
