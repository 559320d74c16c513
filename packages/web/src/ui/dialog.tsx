import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { Notices } from './notices.tsx'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Called by Escape and the close button; absent where it can only be answered. */
  readonly onClose?: () => void
  /** As wide as the window lets it. */
  readonly isWide?: boolean
}

/** A modal dialog for as long as it is rendered. The focus goes back to where it came from. */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const t = useTexts(uiTexts)
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    const dialog = element.current
    dialog?.showModal()
    return () => {
      // While it is open, nothing outside of it takes the focus.
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? `${styles.dialog} ${styles.wide}` : styles.dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class={styles.head}>
        <h2 id={titleId}>{title}</h2>
        {onClose && <IconButton icon="x" label={t.close} onClick={onClose} />}
      </div>
      <div class={styles.body}>{children}</div>
      <Notices layer={titleId} />
    </dialog>
  )
}
