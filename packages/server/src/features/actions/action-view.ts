import { type Action, type CreatedAction, toIso, type Visibility } from '@kith/protocol'
import { type Outgoing, RawJson } from '#infra/http/index.ts'
import type { StoredAction } from './action.ts'
import { withoutAbsent } from './action-token.ts'
import type { FeedRow } from './feed/feed-query-store.ts'

/** An action as lists and single reads show it. With `showsMarks`, as for the tenant, a marked action has the status
 * N. */
export function actionView(row: FeedRow, showsMarks: boolean): Outgoing<Action> {
  const view: Record<string, unknown> = {
    actionId: row.action_id,
    type: row.type,
    issuerTag: row.issuer_tag,
    issuer: issuerView(row),
    visibility: row.visibility,
    status: showsMarks && row.marked === 1 ? 'N' : row.status,
    createdAt: toIso(row.created_at),
    stat: statView(row),
  }
  // Assigned one by one, because this runs for each row of the most frequent list and most of these are absent.
  if (row.sub_type !== null) view.subType = row.sub_type
  if (row.mismatched === 1) view.mismatched = true
  else {
    if (row.parent_id !== null) view.parentId = row.parent_id
    if (row.subject !== null) view.subject = row.subject
  }
  // A message stays in its conversation.
  if (row.root_id !== null && (row.mismatched === 0 || row.type === 'MSG')) view.rootId = row.root_id
  if (row.audience_tag !== null) view.audienceTag = row.audience_tag
  if (row.audience !== null) view.audience = JSON.parse(row.audience)
  if (row.content !== null) view.content = new RawJson(row.content)
  if (row.attachments !== null) view.attachments = JSON.parse(row.attachments)
  if (row.expires_at !== null) view.expiresAt = row.expires_at
  if (row.published_at !== null) view.published = row.published_at
  if (row.publish_at !== null) view.publishAt = row.publish_at
  if (row.flags !== null) view.flags = row.flags
  if (row.unverified === 1) view.unverified = true
  if (row.x !== null) view.x = new RawJson(row.x)
  return view as Outgoing<Action>
}

function issuerView(row: FeedRow) {
  const name = row.issuer_name ?? row.issuer_tag
  return row.issuer_pic === null
    ? { idTag: row.issuer_tag, name }
    : { idTag: row.issuer_tag, name, profilePic: row.issuer_pic }
}

/** The counts of an action, and the viewer's own reaction and reads. */
export function statView({ reactions, comments, views, shares, own_reaction, comments_read }: FeedRow) {
  const counts = { reactions, comments, views, shares }
  return comments_read === null
    ? { ...counts, ownReaction: own_reaction }
    : // The issuer’s server decides how many comments there are.
      { ...counts, ownReaction: own_reaction, commentsRead: Math.min(comments_read, comments) }
}

/** An action as the answer to its creation. */
export function createdView(action: StoredAction): CreatedAction {
  const { audience, attachments } = action
  return {
    actionId: action.actionId,
    type: action.type,
    issuerTag: action.issuerTag,
    visibility: action.visibility satisfies Visibility,
    // Records (T) are never shown.
    status: action.status === 'T' ? 'D' : action.status,
    createdAt: action.createdAt,
    ...withoutAbsent({
      subType: action.subType,
      parentId: action.parentId,
      rootId: action.rootId,
      audienceTag: action.audienceTag,
      audience: audience.length > 0 ? [...audience] : undefined,
      content: action.content,
      attachments: attachments.length > 0 ? [...attachments] : undefined,
      subject: action.subject,
      expiresAt: action.expiresAt,
      published: action.publishedAt,
      publishAt: action.publishAt,
      flags: action.flags,
      x: action.x,
    }),
  }
}

/** The answer to a change of an action's status. */
export function changedView({ actionId, type, status }: StoredAction) {
  return { actionId, type, status: status === 'T' ? ('D' as const) : status }
}
