import { session } from './session.ts'
import { beforeWipe, mayKeep } from './wipe.ts'

// What the browser has no room for, or may keep no longer: once the session has ended. Bound: what was written since the page
// was loaded.
const unkept = new Map<string, string>()

function keyOf(name: string): string {
  const present = session.get()
  return `kith:${'login' in present ? present.login.idTag : ''}:${name}`
}

/** Keeps a value for this account in this browser, as JSON; false where it lasts no longer than the page. */
export function writeDevice(name: string, value: unknown): boolean {
  const key = keyOf(name)
  const text = JSON.stringify(value)
  unkept.delete(key)
  if (!mayKeep()) {
    unkept.set(key, text)
    return false
  }
  try {
    localStorage.setItem(key, text)
    return true
  } catch {
    unkept.set(key, text)
    return false
  }
}

export function removeDevice(name: string): void {
  unkept.delete(keyOf(name))
  try {
    localStorage.removeItem(keyOf(name))
  } catch {
    // A browser that keeps nothing has nothing to remove.
  }
}

/** What was kept by this name; undefined where there is nothing that can be read. */
export function readDevice(name: string): unknown {
  const key = keyOf(name)
  try {
    const text = unkept.get(key) ?? localStorage.getItem(key)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The names of this account that begin so. */
export function listDevice(prefix: string): string[] {
  const start = keyOf('')
  return [...new Set([...unkept.keys(), ...storedKeys()])]
    .filter((key) => key.startsWith(start + prefix))
    .map((key) => key.slice(start.length))
}

function storedKeys(): string[] {
  try {
    return Object.keys(localStorage)
  } catch {
    return []
  }
}

// Who signs in again on this page goes on with what was written.
beforeWipe(() => {
  if (session.get().state !== 'expired') return
  for (const name of listDevice('')) {
    const text = unkept.get(keyOf(name)) ?? localStorage.getItem(keyOf(name))
    if (text !== null) unkept.set(keyOf(name), text)
  }
})
session.subscribe(() => {
  if (session.get().state !== 'signed-in') return
  for (const [key, text] of [...unkept]) {
    try {
      localStorage.setItem(key, text)
      unkept.delete(key)
    } catch {
      // There is still no room.
    }
  }
})

/** Whether this is asked here for the first time. */
export function isFirstTime(name: string): boolean {
  if (readDevice(`said:${name}`) === true) return false
  writeDevice(`said:${name}`, true)
  return true
}
