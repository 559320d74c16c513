import type { Action } from '@kith/protocol'

export type NotificationKind =
  | 'reaction'
  | 'comment'
  | 'mention'
  | 'repost'
  | 'follow'
  | 'request'
  | 'connected'
  | 'invitation'
  | 'file'

/** What one line of the notifications tells: one happening, or several of a kind about one thing. */
export interface NotificationGroup {
  readonly key: string
  readonly kind: NotificationKind
  /** The newest first. */
  readonly actions: readonly Action[]
  /** The action it is about. */
  readonly aboutId?: string | undefined
  readonly isNew: boolean
}

/** Where notifications are filtered by kind. */
export const notificationFilters = {
  reactions: ['reaction', 'repost'],
  comments: ['comment', 'mention'],
  people: ['follow', 'request', 'connected', 'invitation'],
  files: ['file'],
} as const satisfies Readonly<Record<string, readonly NotificationKind[]>>
export type NotificationFilter = keyof typeof notificationFilters

interface Viewer {
  readonly ownTag: string
  /** The actions that notifications are about, as far as they are known. */
  readonly subjects: ReadonlyMap<string, Action>
}

/** The action that a notification is about; undefined where it is about a person or a file. */
export function aboutIdOf({ type, subject, parentId }: Action): string | undefined {
  if (type === 'REACT' || type === 'REPOST') return subject ?? parentId
  return type === 'CMNT' ? parentId : undefined
}

/** Merges what is new with what happened, the newest first, and puts together what is of one kind about one thing. */
export function groupNotifications(
  fresh: readonly Action[],
  past: readonly Action[],
  viewer: Viewer,
): readonly NotificationGroup[] {
  const freshIds = new Set(fresh.map(({ actionId }) => actionId))
  const earlier = past.filter((one) => !freshIds.has(one.actionId) && concerns(one, viewer))
  const all = [...fresh, ...earlier].sort((one, other) => other.createdAt.localeCompare(one.createdAt))
  const groups = new Map<string, NotificationGroup>()
  for (const action of all) {
    const kind = kindOf(action, viewer)
    if (kind === undefined) continue
    const isNew = action.status === 'N' || action.status === 'C'
    const aboutId = aboutIdOf(action)
    const key = groupKey(kind, action, isNew)
    const known = groups.get(key)
    const actions = [...(known?.actions ?? []), action]
    groups.set(key, { key, kind, actions, aboutId, isNew })
  }
  return [...groups.values()]
}

/** What is new and what is not stand apart, so that a group that was read does not become new again as a whole. */
function groupKey(kind: NotificationKind, action: Action, isNew: boolean): string {
  const age = isNew ? 'new' : 'past'
  if (kind === 'reaction' || kind === 'comment' || kind === 'repost')
    return `${kind} ${age} ${aboutIdOf(action)}`
  // The followers of one day.
  if (kind === 'follow') return `${kind} ${new Date(action.createdAt).toDateString()}`
  return action.actionId
}

function kindOf(action: Action, viewer: Viewer): NotificationKind | undefined {
  const { type, subType, status, subject } = action
  if (subType === 'DEL' || status === 'D') return undefined
  switch (type) {
    case 'REACT':
      return 'reaction'
    case 'REPOST':
      return 'repost'
    case 'CMNT':
      return doesMention(action, viewer.ownTag) ? 'mention' : 'comment'
    case 'POST':
    case 'SHRE':
      return 'mention'
    case 'FLLW':
      return 'follow'
    case 'CONN':
      return status === 'C' ? 'request' : 'connected'
    case 'INVT':
      return status === 'C' && subject !== undefined ? 'invitation' : undefined
    case 'FSHR':
      return 'file'
    default:
      return undefined
  }
}

/** Of comments and reposts the feed has those of others as well. */
function concerns(action: Action, { ownTag, subjects }: Viewer): boolean {
  if (action.type !== 'CMNT' && action.type !== 'REPOST') return true
  if (doesMention(action, ownTag)) return true
  return subjects.get(aboutIdOf(action) ?? '')?.issuerTag === ownTag
}

function doesMention({ content }: Action, ownTag: string): boolean {
  const { text } = content ?? {}
  return typeof text === 'string' && text.toLowerCase().includes(`@${ownTag}`)
}

/** Who is behind a group, each once, the newest first. */
export function issuersOf({ actions }: NotificationGroup): readonly Action['issuer'][] {
  return [...new Map(actions.map(({ issuer }) => [issuer.idTag, issuer])).values()]
}
