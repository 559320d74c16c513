import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ThreadScroll {
  /** What is shown: when one of these changes, the place is kept. */
  readonly content: readonly unknown[]
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  readonly load: (direction: 'older' | 'newer') => void
  /** Told which message is the last that is on the screen. */
  readonly seen: (actionId: string) => void
}

// As close to the end as this, what arrives is scrolled to, in px.
const endPx = 60
// More is loaded this long before an end is reached, in px.
const aheadPx = 800

interface Anchor {
  readonly id: string
  readonly top: number
}

/** Keeps the place in a thread: at the first unread message or the end when it opens, at the end when one is there, else at
 * the message that is on top, whatever comes above it. */
export function useThreadScroll({ content, hasOlder, hasNewer, load, seen }: ThreadScroll) {
  const place = useRef<HTMLElement>(null)
  const state = useRef({ isOpened: false, isAtEnd: true, anchor: undefined as Anchor | undefined })
  const [isAtEnd, setAtEnd] = useState(true)
  const look = () => {
    const element = place.current
    if (!element) return
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight
    state.current.isAtEnd = rest < endPx && !hasNewer
    state.current.anchor = anchorOf(element)
    setAtEnd(state.current.isAtEnd)
    if (element.scrollTop < aheadPx && hasOlder) load('older')
    if (rest < aheadPx && hasNewer) load('newer')
    const last = lastShown(element)
    if (last !== undefined && document.visibilityState === 'visible') seen(last)
  }
  const latest = useRef(look)
  latest.current = look
  useLayoutEffect(() => {
    const element = place.current
    if (!element || element.querySelector('li') === null) return
    restore(element, state.current)
    latest.current()
  }, content)
  useEffect(() => {
    const again = () => {
      if (place.current) restore(place.current, state.current)
      latest.current()
    }
    // The keyboard of a phone, pictures, other fonts.
    const sizes = new ResizeObserver(again)
    if (place.current) sizes.observe(place.current)
    document.addEventListener('visibilitychange', again)
    return () => {
      sizes.disconnect()
      document.removeEventListener('visibilitychange', again)
    }
  }, [])
  const toEnd = () => place.current?.scrollTo({ top: place.current.scrollHeight })
  return { place, isAtEnd, onScroll: () => latest.current(), toEnd }
}

function restore(
  element: HTMLElement,
  state: { isOpened: boolean; isAtEnd: boolean; anchor: Anchor | undefined },
): void {
  const unread = element.querySelector<HTMLElement>('[data-unread]')
  if (!state.isOpened && unread) {
    state.isOpened = true
    state.isAtEnd = false
    element.scrollTop += topOf(element, unread) - element.clientHeight / 4
    return
  }
  state.isOpened = true
  if (state.isAtEnd) {
    element.scrollTop = element.scrollHeight
    return
  }
  const anchor = state.anchor && findMessage(element, state.anchor.id)
  if (anchor && state.anchor) element.scrollTop += topOf(element, anchor) - state.anchor.top
}

function anchorOf(element: HTMLElement): Anchor | undefined {
  const first = messagesIn(element).find((one) => topOf(element, one) + one.offsetHeight > 0)
  return first && { id: first.dataset.message ?? '', top: topOf(element, first) }
}

function lastShown(element: HTMLElement): string | undefined {
  const last = messagesIn(element).findLast(
    (one) => topOf(element, one) + one.offsetHeight <= element.clientHeight + 8,
  )
  return last?.dataset.message
}

function findMessage(element: HTMLElement, id: string): HTMLElement | undefined {
  return messagesIn(element).find((one) => one.dataset.message === id)
}

function messagesIn(element: HTMLElement): HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>('[data-message]')]
}

function topOf(element: HTMLElement, one: HTMLElement): number {
  return one.getBoundingClientRect().top - element.getBoundingClientRect().top
}
