import { useId, useRef, useState } from 'preact/hooks'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import styles from './menu.module.css'
import { renderNow } from './render-now.ts'
import { useServerReason } from './use-server-reason.ts'

export interface MenuItem {
  readonly label: string
  readonly icon: IconName
  readonly run: () => void
  readonly isDanger?: boolean
  /** Whether it can be done without the server. */
  readonly worksOffline?: boolean
}

interface MenuProps {
  /** Of the button that opens it. */
  readonly label: string
  readonly icon?: IconName
  /** What is in it, asked for when it opens. */
  readonly items: () => readonly MenuItem[]
}

/** A button that opens a menu: arrows, Home and End move in it, Escape closes it and gives the focus back. */
export function Menu({ label, icon = 'ellipsis', items }: MenuProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const choose = (item: MenuItem) => {
    list.current?.hidePopover()
    button.current?.querySelector('button')?.focus()
    item.run()
  }
  return (
    <div ref={button} class={styles.menu}>
      <IconButton icon={icon} label={label} aria-haspopup="menu" popovertarget={id} />
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        class={styles.list}
        onBeforeToggle={(event) => {
          if (event.newState === 'open') renderNow(() => setOpen(true))
        }}
        onToggle={(event) => {
          if (event.newState === 'open') list.current?.querySelector('button')?.focus()
          else setOpen(false)
        }}
        onKeyDown={(event) => moveIn(event, list.current)}
      >
        {isOpen && <Items items={items()} onChoose={choose} />}
      </div>
    </div>
  )
}

interface ItemsProps {
  readonly items: readonly MenuItem[]
  readonly onChoose: (item: MenuItem) => void
}

function Items({ items, onChoose }: ItemsProps) {
  const offWhy = useServerReason()
  return (
    <>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          class={item.isDanger ? styles.danger : ''}
          {...(item.worksOffline ? {} : offAttributes(offWhy))}
          onClick={() => {
            if (offWhy === undefined || item.worksOffline) onChoose(item)
          }}
        >
          <Icon name={item.icon} />
          {item.label}
        </button>
      ))}
    </>
  )
}

/** Of what cannot be chosen now, for a reason. */
export function offAttributes(why: string | undefined) {
  return why === undefined ? {} : ({ 'aria-disabled': 'true', title: why } as const)
}

/** Moves the focus among the buttons of a list by the arrow keys, Home and End. */
export function moveIn(event: KeyboardEvent, list: HTMLElement | null): void {
  const buttons = [...(list?.querySelectorAll('button') ?? [])]
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowRight: at + 1,
    ArrowUp: at - 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: buttons.length - 1,
  }
  const next = steps[event.key]
  if (next === undefined || buttons.length === 0) return
  event.preventDefault()
  event.stopPropagation()
  buttons[(next + buttons.length) % buttons.length]?.focus()
}
