import type { Clock } from '#lib/clock.ts'
import { Listeners, type NodeBus } from './node-bus.ts'

// Marks stand for connected accounts: no more than sockets may be open, plus those that have just closed.
const maxMarks = 20_000

/** The bus of a server that is one process. */
export function openLocalBus({ clock }: { readonly clock: Pick<Clock, 'now'> }): NodeBus {
  const listeners = new Listeners()
  const marks = new Map<string, number>()
  return {
    publish: (channel, message) => listeners.tell(channel, message),
    subscribe(channel, listener) {
      listeners.add(channel, listener)
      return () => void listeners.remove(channel, listener)
    },
    mark(key, untilMs) {
      marks.delete(key)
      marks.set(key, untilMs)
      for (const [oldest, endsAtMs] of marks) {
        if (marks.size <= maxMarks && endsAtMs > clock.now()) break
        marks.delete(oldest)
      }
    },
    unmark: (key) => void marks.delete(key),
    isMarked: async (key) => (marks.get(key) ?? 0) > clock.now(),
    async [Symbol.asyncDispose]() {},
  }
}
