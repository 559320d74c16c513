import type { Action } from '@kith/protocol'

/** What stands in a thread, from top to bottom. */
export type Row =
  | { readonly kind: 'day'; readonly key: string; readonly date: Date }
  | { readonly kind: 'unread'; readonly key: string }
  | {
      readonly kind: 'message'
      readonly key: string
      readonly message: Action
      readonly isOwn: boolean
      /** The first of a run of one person: it has the name. */
      readonly isFirst: boolean
      /** An own message that the other side has seen, itself or a later one. */
      readonly isSeen: boolean
      /** A late own message that nobody has seen: its way is looked at. */
      readonly isFollowed: boolean
    }

// Messages of one person closer than this are one run.
const runMs = 5 * 60_000

// Of so many own messages it is asked where they have come.
const followed = 5

/** The messages with lines between their days and above the first unread one. */
export function rowsOf(
  messages: readonly Action[],
  { ownTag, firstUnreadId }: { readonly ownTag: string; readonly firstUnreadId?: string | undefined },
): readonly Row[] {
  const lastSeen = messages.findLastIndex(
    ({ issuerTag, x }) => issuerTag === ownTag && x?.ackedAt !== undefined,
  )
  const late = messages.filter(({ issuerTag }) => issuerTag === ownTag).slice(-followed)
  return messages.flatMap((message, index): Row[] => {
    const before = messages[index - 1]
    const date = new Date(message.createdAt)
    const isNewDay = !before || new Date(before.createdAt).toDateString() !== date.toDateString()
    const isUnreadStart = message.actionId === firstUnreadId
    const isOwn = message.issuerTag === ownTag
    return [
      ...(isNewDay ? [{ kind: 'day', key: `day-${message.actionId}`, date } as const] : []),
      ...(isUnreadStart ? [{ kind: 'unread', key: 'unread' } as const] : []),
      {
        kind: 'message',
        key: message.actionId,
        message,
        isOwn,
        isFirst: isNewDay || isUnreadStart || !isRun(before, message),
        isSeen: isOwn && index <= lastSeen,
        isFollowed: index > lastSeen && late.includes(message),
      },
    ]
  })
}

/** Whether the other side has seen an own message: it or a later one was acknowledged. */
export function isSeen({ actionId, issuerTag }: Action, messages: readonly Action[]): boolean {
  const from = messages.findIndex((one) => one.actionId === actionId)
  return (
    from >= 0 &&
    messages.slice(from).some((one) => one.issuerTag === issuerTag && one.x?.ackedAt !== undefined)
  )
}

function isRun(before: Action | undefined, message: Action): boolean {
  if (before?.issuerTag !== message.issuerTag) return false
  return Math.abs(Date.parse(message.createdAt) - Date.parse(before.createdAt)) < runMs
}
