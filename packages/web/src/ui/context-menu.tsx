import { useEffect, useRef } from 'preact/hooks'
import styles from './context-menu.module.css'
import { Icon } from './icon.tsx'
import { type MenuItem, moveIn, offAttributes } from './menu.tsx'
import { useServerReason } from './use-server-reason.ts'

interface ContextMenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  /** The place on the screen, in px. */
  readonly at: { readonly x: number; readonly y: number }
  readonly onClose: () => void
}

/** A menu for as long as it is rendered, with arrow keys. The focus goes back to where it came from. */
export function ContextMenu({ label, items, at, onClose }: ContextMenuProps) {
  const element = useRef<HTMLDivElement>(null)
  const offWhy = useServerReason()
  useEffect(() => {
    const menu = element.current
    const before = document.activeElement
    menu?.showPopover()
    if (menu) place(menu, at)
    menu?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected && !document.querySelector('dialog[open]'))
        before.focus()
    }
  }, [at])
  return (
    <div
      ref={element}
      popover="auto"
      role="menu"
      aria-label={label}
      class={styles.menu}
      onToggle={(event) => {
        if (event.newState === 'closed') onClose()
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Tab') onClose()
        else moveIn(event, event.currentTarget)
      }}
    >
      {items.map(({ label: name, icon, isDanger, worksOffline = false, run }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={isDanger ? styles.danger : undefined}
          {...(worksOffline ? {} : offAttributes(offWhy))}
          onClick={() => {
            if (offWhy !== undefined && !worksOffline) return
            onClose()
            run()
          }}
        >
          <Icon name={icon} />
          {name}
        </button>
      ))}
    </div>
  )
}

/** Inside the window, whatever the place. */
function place(menu: HTMLElement, { x, y }: ContextMenuProps['at']): void {
  const { width, height } = menu.getBoundingClientRect()
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`
  menu.style.top = `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`
}
