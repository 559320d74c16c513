import { useEffect, useState } from 'preact/hooks'
import { formatAge } from '#lib/format.ts'
import { shownSince } from '#platform/keep-queries.ts'
import { offlineSince } from '#platform/offline.ts'
import { outbox } from '#platform/outbox.ts'
import { useStore } from '#ui/use-store.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import styles from './shell.module.css'

const minuteMs = 60_000

/** Says that there is no connection, of when what is shown is, and how much waits to be sent. */
export function OfflineLine() {
  const t = useTexts(appTexts)
  const locale = useLocale()
  const since = useStore(offlineSince)
  const shown = useStore(shownSince)
  const waiting = useStore(outbox).filter(({ refusal }) => !refusal).length
  const isOffline = since !== undefined
  useMinutes(isOffline)
  const age = formatAge(new Date(shown ?? since ?? 0), new Date(), locale)
  return (
    <p role="status">
      {isOffline && (
        <span class={styles.offline}>
          {t.offline(age)} {waiting > 0 && t.waiting(waiting)}
        </span>
      )}
    </p>
  )
}

/** Renders again each minute. */
function useMinutes(isNeeded: boolean): void {
  const [, setMinutes] = useState(0)
  useEffect(() => {
    if (!isNeeded) return
    const timer = setInterval(() => setMinutes((count) => count + 1), minuteMs)
    return () => clearInterval(timer)
  }, [isNeeded])
}
