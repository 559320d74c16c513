import { type ActionId, type IdTag, parseActionId, serverActionTypes } from '@kith/protocol'
import { findEffectiveRelation, type Relation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { hasAnnouncedEnd } from '../action-lookup-store.ts'
import type { CountDeps, KnownTypeDeps } from '../action-ports.ts'
import { findStoredAction, insertRecord } from '../action-store.ts'
import { parseMembers } from '../compose/parse-action.ts'
import { countAction } from '../counts/count-actions.ts'
import type { ReceivedAction } from '../receive/received-action.ts'
import { dropCopiesLater } from '../removal/drop-copies.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { isWithdrawn } from '../removal/tombstone-store.ts'
import { findRoot, mayAnnounceTo, placeOf } from './thread-authority.ts'

interface Announcement {
  readonly tenant: Tenant
  readonly received: ReceivedAction
}

/** Is this an announcement of another issuer's action, and no action itself? */
export function isAnnouncement({ payload }: Pick<ReceivedAction, 'payload'>): boolean {
  return payload.type === 'ANNC'
}

/** Opens an announcement: by a community to a tenant that follows it or is connected with it, or by whoever decides in
 * a thread to a tenant that holds its root. Answers the announced action. Undefined when it is not accepted, or when
 * the announcement removes something, which is done here. */
export async function openAnnouncement(
  ports: CountDeps & KnownTypeDeps,
  tx: Writer,
  announcement: Announcement,
): Promise<ReceivedAction | undefined> {
  const { received } = announcement
  const { payload, issuerTag: announcerTag, announced } = received
  const subject = parseMembers(serverActionTypes.ANNC, payload).subject as ActionId
  if (payload.subType === endingSubType) {
    await takeAway(ports, tx, announcement)
    return undefined
  }
  if (!announced) return undefined
  if (announced.payload.type === 'CMNT') return await openComment(ports, tx, { ...announcement, announced })
  if (!reaches(await findEffectiveRelation(tx, announcerTag), announced)) return undefined
  return (await isTakenBack(tx, announcerTag, subject)) ? undefined : announced
}

/** Has the announcer ended this action, at this tenant or before the tenant knew of it? */
async function isTakenBack(tx: Writer, announcerTag: IdTag, subject: ActionId): Promise<boolean> {
  const withdrawal = { issuerTag: announcerTag, actionId: subject, type: 'ANNC' }
  return (
    (await hasAnnouncedEnd(tx, { announcerTag, subject })) ||
    (await isWithdrawn(tx.as(serverTenant), withdrawal))
  )
}

/** The announced comment, if the announcer decides in its thread. A comment cannot be announced before its root. */
async function openComment(
  ports: KnownTypeDeps,
  tx: Writer,
  { tenant, received, announced }: Announcement & { readonly announced: ReceivedAction },
): Promise<ReceivedAction | undefined> {
  const { issuerTag: announcerTag } = received
  const root = await findRoot(tx, placeOf(announced.payload))
  if (!root || !(await mayAnnounceTo(ports, tx, { tenant, root, announcerTag }))) return undefined
  for (const ender of new Set([announcerTag, root.issuerTag]))
    if (await isTakenBack(tx, ender, announced.actionId)) return undefined
  return announced
}

/** Followers do not receive what is for connections (C), who are the contributors of a community. */
function reaches(bond: Relation | undefined, { payload }: ReceivedAction): boolean {
  if (bond?.connection === 'connected') return payload.visibility !== undefined
  return bond?.isFollowing === true && payload.visibility !== undefined && payload.visibility !== 'C'
}

/** A moderator, or whoever decides in the thread, has removed an action. The removal is remembered also when the action
 * has not arrived yet. */
async function takeAway(ports: CountDeps, tx: Writer, { tenant, received }: Announcement): Promise<void> {
  const { actionId, issuerTag, payload, token } = received
  const { subject = '', type, subType } = payload
  const subjectId = parseActionId(subject)
  const action = subjectId && (await findStoredAction(tx, subjectId))
  if (!(await (action ? isFrom(tx, tenant, action, issuerTag) : isHeard(tx, issuerTag)))) return
  await insertRecord(tx, { actionId, issuerTag, type, subType, subject, issuedAt: payload.iat, token })
  if (!action || action.status === 'D') return
  await eraseAction(tx, action.actionId)
  await dropCopiesLater(ports, tx, action)
  if (action.status === 'P') return
  await countAction(ports, tx, { tenant, action, by: -1 })
  await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...action, status: 'D' } })
}

/** Could this identity still announce the action? Then its removal is remembered. */
async function isHeard(tx: Writer, idTag: IdTag): Promise<boolean> {
  const bond = await findEffectiveRelation(tx, idTag)
  return bond?.isFollowing === true || bond?.connection === 'connected'
}

/** Does the tenant hold the action only because of the announcer? Either the action or its root was posted to the
 * announcer's community and not addressed to the tenant, or the announcer issued the root. */
async function isFrom(
  tx: Writer,
  tenant: Tenant,
  action: StoredAction,
  announcerTag: IdTag,
): Promise<boolean> {
  if (action.issuerTag === tenant.idTag) return false
  const root = action.withinId && (await findStoredAction(tx, action.withinId))
  return [action, ...(root ? [root] : [])].some(
    (it) =>
      (it.audienceTag === announcerTag && !it.audience.includes(tenant.idTag)) ||
      (it === root && it.issuerTag === announcerTag),
  )
}
