import { useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { lineTexts } from './line-texts.ts'
import { keepLeftOnDevice, leftOnDevice, useProgress } from './use-progress.ts'
import styles from './welcome-line.module.css'

/** On the home page, where first steps are left: the way to them, until they are done or put aside. */
export function WelcomeLine() {
  const t = useTexts(lineTexts)
  const [left, setLeft] = useState(leftOnDevice)
  // They may have been put aside on another device. Whoever has none left asks for nothing.
  const { progress, change } = useProgress(left > 0)
  if (left === 0 || progress.isAside) return null
  const putAside = () => {
    change({ ...progress, isAside: true })
    keepLeftOnDevice(0)
    setLeft(0)
    notify(t.isAside)
  }
  return (
    <section class={styles.line} aria-label={t.title}>
      <p>{t.left(left)}</p>
      <div class="row">
        <Link href="/welcome">{t.goOn}</Link>
        <Button kind="quiet" onClick={putAside}>
          {t.putAside}
        </Button>
      </div>
    </section>
  )
}
