import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Calls `go` after a while in which nobody looks at the element or works in it; never while `afterMs` is undefined. */
export function useGoing<Target extends HTMLElement>(
  afterMs: number | undefined,
  go: () => void,
): RefObject<Target> {
  const element = useRef<Target>(null)
  const latest = useRef(go)
  latest.current = go
  useEffect(() => {
    if (afterMs === undefined) return
    const timer = setInterval(() => {
      // WCAG 2.2.1: nobody is hurried who is at it.
      const isUsed = document.hidden || element.current?.matches(':hover, :focus-within')
      if (!isUsed) latest.current()
    }, afterMs)
    return () => clearInterval(timer)
  }, [afterMs])
  return element
}
