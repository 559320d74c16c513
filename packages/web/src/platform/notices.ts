import { createStore } from '#lib/store.ts'

/** A sentence that is shown and read out, without taking the focus. */
export interface Notice {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'failed'
  /** When what it announces happens: the seconds until then are shown beside it. */
  readonly untilMs?: number
  /** Whether it is there until somebody closes it, as what has failed is. */
  readonly stays?: boolean
  /** One thing that can be done about it. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

const shownAtMost = 3

export const notices = createStore<readonly Notice[]>([])
let lastId = 0

/** Shows a notice until it is closed or newer ones take its place; returns its id. */
export function notify(
  text: string,
  more: Partial<Pick<Notice, 'kind' | 'action' | 'untilMs' | 'stays'>> = {},
): number {
  lastId += 1
  const notice: Notice = { id: lastId, text, kind: 'done', ...more }
  // Said again it is said once.
  const others = notices.get().filter((other) => other.text !== text)
  notices.set([...others, notice].slice(-shownAtMost))
  return lastId
}

export function closeNotice(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id))
}
