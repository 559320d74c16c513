import { useLayoutEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { isTyped, taskOfKey } from '#ui/typed-keys.ts'
import { screens } from './screens.ts'

// A second key of a sequence such as `g h` must follow within this time.
const sequenceMs = 1_500

/** The keys that hold everywhere: to a screen, to a new post, to the search, and to the list of keys, of which it says whether
 * it is open. Not while something is typed or a dialog is open (WCAG 2.1.4: they can be switched off and changed). */
export function useShortcuts() {
  const [, navigate] = useLocation()
  const [isListOpen, setListOpen] = useState(false)
  // Before anything is painted: keys count from the first moment at which something is seen.
  useLayoutEffect(() => {
    // Times of events count from the page's start: no sequence has begun.
    let startedAt = -sequenceMs
    const heed = (event: KeyboardEvent) => {
      // Of a sign such as `?` the key Shift comes first.
      if (isTyped(event) || event.key === 'Shift') return
      const isSecond = event.timeStamp - startedAt < sequenceMs
      const task = taskOfKey(event)
      startedAt = !isSecond && task === 'goTo' ? event.timeStamp : -sequenceMs
      const path = isSecond
        ? screens.find(({ nav }) => nav?.key === event.key)?.path
        : pathsByTask[task ?? '']
      if (path !== undefined) navigate(path)
      else if (!isSecond && task === 'help') setListOpen(true)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', heed)
    return () => window.removeEventListener('keydown', heed)
  }, [navigate])
  return { isListOpen, closeList: () => setListOpen(false) }
}

const pathsByTask: Readonly<Record<string, string>> = { write: '/new', search: '/search' }
