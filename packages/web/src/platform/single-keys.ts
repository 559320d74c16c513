import { type KeyMap, keptKeys, readKeys } from '#lib/key-map.ts'
import { createStore } from '#lib/store.ts'

const switchStorageKey = 'kith-single-keys'
const storageKey = 'kith-keys'

/** Whether single keys are shortcuts on this device (WCAG 2.1.4). */
export const singleKeys = createStore(kept(switchStorageKey) !== 'off')

/** Which single keys they are on this device. */
export const keyMap = createStore<KeyMap>(keptMap())

function keptMap(): KeyMap {
  try {
    return readKeys(JSON.parse(kept(storageKey) ?? '{}'))
  } catch {
    return readKeys({})
  }
}

function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // Without storage it holds for as long as the tab is open.
  }
}

singleKeys.subscribe(() => keep(switchStorageKey, singleKeys.get() ? 'on' : 'off'))
keyMap.subscribe(() => keep(storageKey, JSON.stringify(keptKeys(keyMap.get()))))
