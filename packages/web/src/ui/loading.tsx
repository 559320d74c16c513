import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import styles from './states.module.css'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

const shownAfterMs = 150
const slowAfterMs = 10_000
// Parts that wait together, or one after the other, are announced as one.
const silentForMs = 1_000

interface LoadingProps {
  /** The heights of what will stand here, in px, so that nothing jumps. */
  readonly heights: readonly number[]
  /** Ends the waiting, where that is possible. */
  readonly onCancel?: (() => void) | undefined
  /** Where something else loads after it, which is announced. */
  readonly isSilent?: boolean
}

let lastAnnouncedMs = -silentForMs

/** Placeholders after 150 ms, announced once; says so when it takes long. */
export function Loading({ heights, onCancel, isSilent = false }: LoadingProps) {
  const t = useTexts(uiTexts)
  const [state, setState] = useState<'hidden' | 'shown' | 'silent' | 'slow'>('hidden')
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // What is not rendered at this size is not heard either.
    const isHeard = () => !isSilent && box.current?.offsetParent !== null && !isAnnounced()
    const show = setTimeout(() => setState(isHeard() ? 'shown' : 'silent'), shownAfterMs)
    const slow = setTimeout(() => setState('slow'), slowAfterMs)
    return () => [show, slow].forEach((timer) => void clearTimeout(timer))
  }, [isSilent])
  const isSlow = state === 'slow'
  return (
    <div ref={box} class={styles.loading}>
      <p role="status" class={isSlow ? '' : 'visually-hidden'}>
        {isSlow ? t.slow : state === 'shown' && t.loading}
      </p>
      {isSlow && onCancel && (
        <div>
          <Button icon="x" onClick={onCancel}>
            {t.cancel}
          </Button>
        </div>
      )}
      {heights.map((height, index) => (
        <div key={index} class={styles.placeholder} style={{ height }} />
      ))}
    </div>
  )
}

function isAnnounced(): boolean {
  const nowMs = performance.now()
  const isKnown = nowMs - lastAnnouncedMs < silentForMs
  if (!isKnown) lastAnnouncedMs = nowMs
  return isKnown
}
