import { useEffect, useRef, useState } from 'preact/hooks'

// So far is pulled before it counts, in px of the finger's way.
const enoughPx = 90

/** Pulling the page down at its top by touch: how far it is pulled, as a share of what is enough. */
export function usePull(onPulled: () => void): number {
  const [share, setShare] = useState(0)
  const latest = useRef(onPulled)
  latest.current = onPulled
  useEffect(() => {
    let from: Touch | undefined
    let reached = 0
    let held: AbortController | undefined
    const begin = ({ touches, target }: TouchEvent) => {
      stop()
      const isFree = window.scrollY <= 0 && touches.length === 1 && !document.querySelector('dialog[open]')
      from = isFree && !scrollsItself(target) ? touches[0] : undefined
      if (!from || !target) return
      // What is touched hears of it to the end, also when it is taken out of the page meanwhile.
      held = new AbortController()
      const options = { passive: true, signal: held.signal }
      target.addEventListener('touchmove', move as EventListener, options)
      target.addEventListener('touchend', end, options)
      target.addEventListener('touchcancel', end, options)
    }
    const move = ({ touches: [touch] }: TouchEvent) => {
      if (!from || !touch) return
      const [aside, down] = [touch.clientX - from.clientX, touch.clientY - from.clientY]
      // A row that is moved sideways is no page that is pulled.
      if (reached === 0 && Math.abs(aside) > Math.abs(down)) from = undefined
      reached = window.scrollY > 0 || !from ? 0 : Math.max(0, down / enoughPx)
      setShare(Math.min(1, reached))
    }
    const end = () => {
      if (reached >= 1) latest.current()
      stop()
    }
    const stop = () => {
      held?.abort()
      from = undefined
      reached = 0
      setShare(0)
    }
    window.addEventListener('touchstart', begin, { passive: true })
    return () => {
      window.removeEventListener('touchstart', begin)
      held?.abort()
    }
  }, [])
  return share
}

/** Whether something within the page is scrolled, and would be scrolled back. */
function scrollsItself(target: EventTarget | null): boolean {
  for (let each = target instanceof Element ? target : null; each; each = each.parentElement)
    if (each !== document.documentElement && each.scrollTop > 0) return true
  return false
}
