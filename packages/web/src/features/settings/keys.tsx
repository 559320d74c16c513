import { useState } from 'preact/hooks'
import {
  defaultKeys,
  isShortcutKey,
  type KeyTask,
  keptKeys,
  keyTasks,
  taskOf,
  withKey,
} from '#lib/key-map.ts'
import { keyMap, singleKeys } from '#platform/single-keys.ts'
import { Button } from '#ui/button.tsx'
import { keyTexts } from '#ui/key-texts.ts'
import { Switch } from '#ui/switch.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import styles from './keys.module.css'
import { lookTexts } from './look-texts.ts'

/** Whether there are shortcuts of a single key, and which. */
export function Keys() {
  const t = useTexts(lookTexts)
  const isOn = useStore(singleKeys)
  return (
    <div class="card stack">
      <Switch
        needsServer={false}
        label={t.keys}
        hint={t.keysWhy}
        isOn={isOn}
        onChange={(on) => singleKeys.set(on)}
      />
      {isOn && <KeyTable />}
    </div>
  )
}

function KeyTable() {
  const t = useTexts(lookTexts)
  const tasks = useTexts(keyTexts)
  const keys = useStore(keyMap)
  const [said, setSaid] = useState('')
  const change = (task: KeyTask, key: string) => {
    const other = taskOf(keys, key)
    keyMap.set(withKey(keys, task, key))
    const isSwapped = other !== undefined && other !== task
    setSaid(
      [t.keyIs(tasks[task], key), isSwapped && t.swapped(tasks[other], keys[task])].filter(Boolean).join(' '),
    )
  }
  return (
    <>
      <p role="status" class={said === '' ? 'visually-hidden' : 'soft'}>
        {said}
      </p>
      <ul class={styles.keys} aria-label={t.keyTasks}>
        {keyTasks.map((task) => (
          <li key={task}>
            <span>{tasks[task]}</span>
            <kbd>{keys[task]}</kbd>
            <ChangeKey name={tasks[task]} present={keys[task]} onKey={(key) => change(task, key)} />
          </li>
        ))}
      </ul>
      {Object.keys(keptKeys(keys)).length > 0 && (
        <div>
          <Button icon="undo-2" onClick={() => keyMap.set(defaultKeys)}>
            {t.resetKeys}
          </Button>
        </div>
      )}
    </>
  )
}

interface ChangeKeyProps {
  readonly name: string
  readonly present: string
  readonly onKey: (key: string) => void
}

/** A button that waits for the next key once it is pressed; Escape, and leaving it, leave the key as it is. */
function ChangeKey({ name, present, onKey }: ChangeKeyProps) {
  const t = useTexts(lookTexts)
  const [isWaiting, setWaiting] = useState(false)
  const heed = (event: KeyboardEvent) => {
    if (!isWaiting || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') setWaiting(false)
    else if (isShortcutKey(event.key)) {
      setWaiting(false)
      onKey(event.key)
    } else return
    event.preventDefault()
  }
  return (
    <Button
      aria-label={isWaiting ? t.pressKey : t.changeKey(name, present)}
      onClick={() => setWaiting(!isWaiting)}
      onKeyDown={heed}
      onBlur={() => setWaiting(false)}
    >
      {isWaiting ? t.pressKey : t.change}
    </Button>
  )
}
