import { useEffect, useRef } from 'preact/hooks'
import { Link } from './link.tsx'
import styles from './link-tabs.module.css'

interface LinkTabsProps {
  /** What they choose from. */
  readonly label: string
  readonly tabs: readonly {
    readonly href: string
    readonly text: string
    readonly count?: number | undefined
  }[]
  /** The `href` of the part that is shown. */
  readonly current: string
}

/** Links to the parts of a screen, each with an address of its own. */
export function LinkTabs({ label, tabs, current }: LinkTabsProps) {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const shown = nav.current?.querySelector('[aria-current]')
    const row = shown?.closest('ul')
    if (!row || !shown) return
    const [outer, inner] = [row.getBoundingClientRect(), shown.getBoundingClientRect()]
    // Sideways alone: the page stays at its top.
    row.scrollLeft += Math.max(0, inner.right - outer.right) || Math.min(0, inner.left - outer.left)
  }, [current])
  return (
    <nav ref={nav} class={styles.tabs} aria-label={label}>
      <ul>
        {tabs.map(({ href, text, count }) => (
          <li key={href}>
            <Link href={href} replace aria-current={href === current ? 'page' : undefined}>
              {text}
              {count !== undefined && count > 0 && <span class={styles.count}>{count}</span>}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
