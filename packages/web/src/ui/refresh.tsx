import type { QueryKey } from '@tanstack/preact-query'
import { useRef, useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { IconButton } from './button.tsx'
import { useExplain } from './problem.tsx'
import styles from './refresh.module.css'
import { uiTexts } from './ui-texts.ts'
import { usePull } from './use-pull.ts'
import { useTexts } from './use-texts.ts'

interface RefreshProps {
  /** The beginnings of the keys of what is asked for anew, or what does it. */
  readonly of: readonly QueryKey[] | (() => Promise<unknown>)
  /** Of the button. */
  readonly label?: string
  /** What did not work, as a sentence. */
  readonly failed?: string
  /** Where news come by themselves: pulling is for those who do not trust it, and needs no button. */
  readonly isLive?: boolean
}

/** Asks for what a list shows anew: by pulling the page down, or by a button. */
export function Refresh({ of, label, failed, isLive = false }: RefreshProps) {
  const t = useTexts(uiTexts)
  const explain = useExplain()
  const [isBusy, setBusy] = useState(false)
  const isRunning = useRef(false)
  const refresh = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    try {
      await (typeof of === 'function' ? of() : askAnew(of))
    } catch (error) {
      notify(`${failed ?? t.notRefreshed} ${explain(error)}`, { kind: 'failed' })
    }
    isRunning.current = false
    setBusy(false)
  }
  const pulled = usePull(() => void refresh())
  return (
    <>
      {!isLive && (
        <IconButton
          icon="refresh-cw"
          label={label ?? t.refresh}
          aria-busy={isBusy ? 'true' : undefined}
          onClick={() => void refresh()}
        />
      )}
      {pulled > 0 ? (
        <p class={styles.pull} aria-hidden="true">
          {pulled < 1 ? t.pull : t.letGo}
        </p>
      ) : (
        <p class={isBusy ? styles.pull : 'visually-hidden'} role="status">
          {isBusy && t.refreshing}
        </p>
      )}
    </>
  )
}

async function askAnew(keys: readonly QueryKey[]): Promise<void> {
  // Without a connection they would wait for it.
  if (!navigator.onLine) return
  await Promise.all(
    keys.map((queryKey) => queries.refetchQueries({ queryKey, type: 'active' }, { throwOnError: true })),
  )
}
