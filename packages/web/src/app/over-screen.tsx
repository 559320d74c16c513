import { useEffect, useRef } from 'preact/hooks'
import { IconButton } from '#ui/button.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import { LazyScreen } from './lazy-screen.tsx'
import styles from './over-screen.module.css'
import type { Screen } from './screens.ts'

interface OverScreenProps {
  readonly screen: Screen
  readonly onClose: () => void
}

/** A screen in a dialog over another one. Escape and its button close it, and the focus goes back. */
export function OverScreen({ screen, onClose }: OverScreenProps) {
  const t = useTexts(appTexts)
  const ui = useTexts(uiTexts)
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      // Where the screen below took the focus, it has it already.
      const isFree = document.activeElement === null || document.activeElement === document.body
      if (isFree && before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={styles.over}
      aria-label={t[screen.name]}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <IconButton icon="x" label={ui.close} class={styles.close} onClick={onClose} />
      <LazyScreen screen={screen} params={{}} />
    </dialog>
  )
}
