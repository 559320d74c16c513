import type { Action } from '@kith/protocol'

/** The part of a conversation that is loaded, in the order of arrival. */
export interface Thread {
  readonly messages: readonly Action[]
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  /** The first message that was unread when the conversation was opened. */
  readonly firstUnreadId?: string | undefined
}

/** A part of a conversation as the server lists it, in the order of arrival. */
export interface Part {
  readonly messages: readonly Action[]
  /** Whether there are more in the direction in which it was listed. */
  readonly hasMore: boolean
}

/** Of a long conversation this many messages are kept, and shown: each is about eleven nodes of the page. */
export const maxLoaded = 120

/** Adds what was there before; the newest beyond the bound go, and are loaded again when one comes back to them. */
export function addOlder(thread: Thread, { messages, hasMore }: Part): Thread {
  const all = [...without(messages, thread.messages), ...thread.messages]
  return {
    ...thread,
    messages: all.slice(0, maxLoaded),
    hasOlder: hasMore,
    hasNewer: thread.hasNewer || all.length > maxLoaded,
  }
}

/** Adds what came after; the oldest beyond the bound go. */
export function addNewer(thread: Thread, { messages, hasMore }: Part): Thread {
  const all = [...thread.messages, ...without(messages, thread.messages)]
  return {
    ...thread,
    messages: all.slice(-maxLoaded),
    hasOlder: thread.hasOlder || all.length > maxLoaded,
    hasNewer: hasMore,
  }
}

/** Takes over the newest messages: new ones are added, known ones replaced, and deleted ones among them go. */
export function takeNewest(thread: Thread, newest: Part): Thread {
  if (!newest.hasMore) return { ...thread, ...asThread(newest) }
  if (thread.hasNewer) return thread
  const oldestOf = newest.messages[0]?.actionId
  const at = thread.messages.findIndex(({ actionId }) => actionId === oldestOf)
  // More has come than a page: the gap between is loaded as one goes down.
  if (at < 0) return { ...thread, hasNewer: true }
  const kept = { ...thread, messages: thread.messages.slice(0, at) }
  return addNewer(kept, { messages: newest.messages, hasMore: false })
}

/** A conversation that opens at its end. */
export function asThread({ messages, hasMore }: Part): Thread {
  return { messages, hasOlder: hasMore, hasNewer: false }
}

export function withoutMessage(thread: Thread, actionId: string): Thread {
  if (!thread.messages.some((message) => message.actionId === actionId)) return thread
  return { ...thread, messages: thread.messages.filter((message) => message.actionId !== actionId) }
}

/** Notes that the other side has seen a message. */
export function withReceipt(thread: Thread, actionId: string, ackedAt: number): Thread {
  if (!thread.messages.some((message) => message.actionId === actionId)) return thread
  return {
    ...thread,
    messages: thread.messages.map((message) =>
      message.actionId === actionId ? { ...message, x: { ...message.x, ackedAt } } : message,
    ),
  }
}

function without(messages: readonly Action[], known: readonly Action[]): readonly Action[] {
  const ids = new Set(known.map(({ actionId }) => actionId))
  return messages.filter(({ actionId }) => !ids.has(actionId))
}
