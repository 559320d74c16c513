import type { ComponentChildren } from 'preact'
import { keyTasks } from '#lib/key-map.ts'
import { keyMap } from '#platform/single-keys.ts'
import { Dialog } from '#ui/dialog.tsx'
import { keyTexts } from '#ui/key-texts.ts'
import { Link } from '#ui/link.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import styles from './key-list.module.css'
import { screens } from './screens.ts'

/** All keys of the app, as they are set on this device. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(appTexts)
  const tasks = useTexts(keyTexts)
  const keys = useStore(keyMap)
  return (
    <Dialog title={t.keys} onClose={onClose}>
      <div class="stack">
        <dl class={styles.keys}>
          {keyTasks.map((task) => (
            <Line key={task} keys={[keys[task]]}>
              {tasks[task]}
            </Line>
          ))}
          <Line keys={['Enter']}>{t['key:open']}</Line>
        </dl>
        <h3>{t['keys:screens']}</h3>
        <dl class={styles.keys}>
          {screens.map(
            ({ path, name, nav }) =>
              nav && (
                <Line key={path} keys={[keys.goTo, nav.key]}>
                  {t[name]}
                </Line>
              ),
          )}
        </dl>
        <h3>{t['keys:lists']}</h3>
        <p>{t['keys:inLists']}</p>
        <p>
          <Link href="/settings/look" onClick={onClose}>
            {t['keys:change']}
          </Link>
        </p>
      </div>
    </Dialog>
  )
}

interface LineProps {
  readonly keys: readonly string[]
  readonly children: ComponentChildren
}

function Line({ keys, children }: LineProps) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
