import { type Look, readLook } from '#lib/look.ts'
import { createStore } from '#lib/store.ts'
import { session } from './session.ts'

const storageKey = 'kith-look'

/** How the app looks: as the account's settings say, and until they are there as it was last on this device. */
export const look = createStore<Look>(remembered())

type Settings = Readonly<Record<string, string | undefined>>

function remembered(): Look {
  try {
    return readLook(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Settings)
  } catch {
    return readLook({})
  }
}

function follow(): void {
  const present = session.get()
  if (present.state !== 'signed-in' && present.state !== 'unreachable') return
  const { theme, darkMode, fontSize }: Settings = Object.fromEntries(present.login.settings)
  look.set(readLook({ theme, darkMode, fontSize }))
  try {
    localStorage.setItem(storageKey, JSON.stringify({ theme, darkMode, fontSize }))
  } catch {
    // Without storage the look comes with the session alone.
  }
}

function apply(): void {
  const { scheme, hasMoreContrast, isStill, textSize } = look.get()
  Object.assign(document.documentElement.dataset, {
    scheme,
    contrast: hasMoreContrast ? 'more' : 'device',
    motion: isStill ? 'less' : 'device',
    textSize: String(textSize),
  })
}

session.subscribe(follow)
look.subscribe(apply)
apply()
