import { useEffect, useRef } from 'preact/hooks'
import { markAsRead } from './change-notification.ts'
import type { NotificationGroup } from './group-notifications.ts'

// Long enough to have been looked at, in ms.
const lookedAtMs = 1_500

/** Takes the marks away from what was on the screen for a while. */
export function useReadWhenSeen(groups: readonly NotificationGroup[]) {
  const list = useRef<HTMLUListElement>(null)
  const latest = useRef(groups)
  latest.current = groups
  const hasNew = groups.some(({ actions }) => actions.some(({ status }) => status === 'N'))
  useEffect(() => {
    if (!hasNew) return
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      const shown = new Set(shownKeys(list.current))
      const seen = latest.current.filter(({ key }) => shown.has(key)).flatMap(({ actions }) => actions)
      void markAsRead(seen).catch(() => undefined)
    }, lookedAtMs)
    return () => clearInterval(timer)
  }, [hasNew])
  return list
}

function shownKeys(list: HTMLElement | null): string[] {
  return [...(list?.querySelectorAll<HTMLElement>('[data-key]') ?? [])]
    .filter((one) => {
      const { top, bottom } = one.getBoundingClientRect()
      return top >= 0 && bottom <= window.innerHeight
    })
    .map((one) => one.dataset.key ?? '')
}
