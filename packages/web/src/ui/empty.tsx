import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { ScreenTitle } from './screen-title.tsx'
import styles from './states.module.css'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  /** What belongs here. */
  readonly children?: ComponentChildren
  /** The one next step. */
  readonly step?: ComponentChildren
  /** Whether nothing else is on the screen: then the title is its heading. */
  readonly isScreen?: boolean
}

/** What stands where nothing is yet. */
export function Empty({ icon, title, children, step, isScreen = false }: EmptyProps) {
  return (
    <div class={styles.empty}>
      <Icon name={icon} />
      {isScreen ? <ScreenTitle>{title}</ScreenTitle> : <h2>{title}</h2>}
      {children && <p>{children}</p>}
      {step}
    </div>
  )
}
