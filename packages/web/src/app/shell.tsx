import { Route } from 'wouter-preact'
import { WelcomeLine } from '#features/welcome/index.ts'
import { Notices } from '#ui/notices.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import { KeyList } from './key-list.tsx'
import { Navigation, TopBar } from './navigation.tsx'
import { OfflineLine } from './offline-line.tsx'
import { ScreenArea } from './screen-area.tsx'
import styles from './shell.module.css'
import { ThirdColumn } from './third-column.tsx'
import { Uploads } from './uploads.tsx'
import { useAppBadge } from './use-app-badge.ts'
import { useShortcuts } from './use-shortcuts.ts'

/** The frame of all screens: navigation, the content, notices. */
export function Shell() {
  const t = useTexts(appTexts)
  const { isListOpen, closeList } = useShortcuts()
  useAppBadge()
  return (
    <div class={styles.shell}>
      <a class={styles.skip} href="#content">
        {t.skip}
      </a>
      <TopBar />
      <Navigation />
      <main id="content" class={styles.content} tabIndex={-1}>
        <OfflineLine />
        <Route path="/">
          <WelcomeLine />
        </Route>
        <ScreenArea />
      </main>
      <ThirdColumn />
      <Uploads />
      <Notices />
      {isListOpen && <KeyList onClose={closeList} />}
    </div>
  )
}
