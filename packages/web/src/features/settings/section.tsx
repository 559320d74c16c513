import type { ComponentChildren } from 'preact'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './section.module.css'
import { settingsTexts } from './settings-texts.ts'

interface SectionProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** A screen of the settings, with the way back to all of them. */
export function Section({ title, children }: SectionProps) {
  const t = useTexts(settingsTexts)
  return (
    <div class="stack">
      <div>
        <Link href="/settings" class={styles.back}>
          <Icon name="arrow-left" />
          {t.title}
        </Link>
      </div>
      <ScreenTitle>{title}</ScreenTitle>
      {children}
    </div>
  )
}
