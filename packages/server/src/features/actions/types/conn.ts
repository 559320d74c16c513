import { parseActionId, roleLevel } from '@kith/protocol'
import { changeRelation, findRelation, noRelation } from '#features/relations/index.ts'
import { invalid } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { findRival, findStoredAction, setStatus } from '../action-store.ts'
import { findStandingInvitation } from '../invitation-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import { type HookScene, otherParty, type TypeHooks } from './type-hooks.ts'

const isEnd = ({ subType }: Pick<StoredAction, 'subType'>) => subType === endingSubType

/** Connections: a request, its acceptance by a request in return, and their end. */
export const conn: TypeHooks = {
  type: 'CONN',
  async prepare({ tenant, body }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    return {}
  },
  async admit(scene) {
    const relation = await findRelation(scene.tx, scene.action.issuerTag)
    const isAnswer = relation?.connection === 'requested' || relation?.connection === 'connected'
    return { status: isEnd(scene.action) || isAnswer ? 'A' : 'C' }
  },
  onCreate: (scene) => (isEnd(scene.action) ? disconnect(scene) : meet(scene, 'asked', 'requested')),
  async onReceive(scene) {
    if (isEnd(scene.action)) return disconnect(scene)
    await meet(scene, 'requested', 'asked')
    if (scene.action.status === 'C') await acceptInvited(scene)
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

/** Rights in a community end with the connection; a leader's do not, for the community must not be left alone. */
async function formerRole(scene: HookScene) {
  const other = otherParty(scene)
  if (scene.tenant.type !== 'community' || !other) return {}
  const { role, isFollower } = (await findRelation(scene.tx, other)) ?? noRelation(other)
  if (role === undefined || role === 'leader' || role === 'follower') return {}
  return { role: isFollower ? ('follower' as const) : undefined }
}

/** A community takes in by itself whom one of its moderators invited. The answer has to be signed, so it comes later. */
async function acceptInvited({ ports, tx, tenant, action, at }: HookScene): Promise<void> {
  if (tenant.type !== 'community') return
  const isInvited = await findStandingInvitation(tx, {
    communityTag: tenant.idTag,
    guestTag: action.issuerTag,
    at,
  })
  if (isInvited) await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: action.actionId })
}
