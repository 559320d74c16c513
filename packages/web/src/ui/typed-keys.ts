import { type KeyTask, taskOf } from '#lib/key-map.ts'
import { keyMap, singleKeys } from '#platform/single-keys.ts'

/** Whether a key is no shortcut: it belongs to what is typed, to the browser, or to an open dialog, or is one of the single keys
 * that were switched off. */
export function isTyped(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true
  if (document.querySelector('dialog[open]')) return true
  if (event.key.length === 1 && !singleKeys.get()) return true
  const { target } = event
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

/** What a single key is to do, as its user has chosen; undefined where single keys are switched off. */
export function taskOfKey({ key }: KeyboardEvent): KeyTask | undefined {
  return singleKeys.get() ? taskOf(keyMap.get(), key) : undefined
}
