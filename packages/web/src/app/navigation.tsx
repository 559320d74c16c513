import { useId, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { missingPaths } from '#platform/offered.ts'
import { IconButton } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import styles from './navigation.module.css'
import { type Screen, screens } from './screens.ts'

const inNavigation = screens.flatMap((screen) => (screen.nav ? [{ ...screen, nav: screen.nav }] : []))
type Shown = (typeof inNavigation)[number]

/** What the server has. */
function useShown(): readonly Shown[] {
  const missing = useStore(missingPaths)
  return inNavigation.filter(({ needs }) => needs === undefined || !missing.has(needs))
}

/** The bar at the bottom of a phone, the rail at the left of a desk. */
export function Navigation() {
  const t = useTexts(appTexts)
  const shown = useShown()
  return (
    <nav class={styles.navigation} aria-label={t.navigation}>
      <ul>
        {shown.map((screen) => (
          <li key={screen.path} class={screen.nav.isInBar ? '' : styles.railOnly}>
            <ScreenLink screen={screen} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** On a phone: what is new, and a menu of the screens that are not in its bar. */
export function TopBar() {
  const t = useTexts(appTexts)
  const menuId = useId()
  const menu = useRef<HTMLElement>(null)
  const others = useShown().filter(({ nav }) => !nav.isInBar)
  return (
    <header class={styles.top}>
      {others
        .filter(({ useCount }) => useCount)
        .map((screen) => (
          <ScreenLink key={screen.path} screen={screen} isIcon />
        ))}
      <IconButton icon="ellipsis" label={t.moreScreens} popovertarget={menuId} />
      <nav ref={menu} id={menuId} popover="auto" class={styles.menu} aria-label={t.moreScreens}>
        <ul>
          {others.map((screen) => (
            <li key={screen.path}>
              <ScreenLink screen={screen} onFollow={() => menu.current?.hidePopover()} />
            </li>
          ))}
        </ul>
      </nav>
    </header>
  )
}

interface ScreenLinkProps {
  readonly screen: Shown
  /** Its name is for readers alone. */
  readonly isIcon?: boolean
  readonly onFollow?: () => void
}

function ScreenLink({ screen, isIcon = false, onFollow }: ScreenLinkProps) {
  const t = useTexts(appTexts)
  const [path] = useLocation()
  const { nav, path: target, name, useCount } = screen
  const isHere = target === '/' ? path === '/' : path.startsWith(target)
  return (
    <Link href={target} aria-current={isHere ? 'page' : undefined} onClick={() => onFollow?.()}>
      <Icon name={nav.icon} />
      <span class={isIcon ? 'visually-hidden' : ''}>{t[nav.label ?? name]}</span>
      {useCount && <Badge useCount={useCount} />}
    </Link>
  )
}

/** How much is new on a screen, in the name of its link. */
function Badge({ useCount }: { readonly useCount: NonNullable<Screen['useCount']> }) {
  const t = useTexts(appTexts)
  const count = useCount()
  if (count === 0) return null
  return (
    <span class={styles.badge}>
      <span aria-hidden="true">{count > 99 ? '99+' : count}</span>
      <span class="visually-hidden">{t.isNew(count)}</span>
    </span>
  )
}
