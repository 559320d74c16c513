import type { MediaNews } from '#lib/media-messages.ts'

const ownDatabases = ['kith-kept', 'kith-key', 'kith-pictures', 'kith-uploads']
// Bound: the modules that keep something.
const lettingGo: (() => void)[] = []
let wipes = 0
let isWiped = false

/** What is to be done before everything that this device keeps is removed, such as closing a database. */
export function beforeWipe(letGo: () => void): void {
  lettingGo.push(letGo)
}

/** How often everything was removed: what began before, and would only be kept now, is not to be kept any more. */
export function wipeAge(): number {
  return wipes
}

/** Whether anything may be stored on this device: false from the end of a session until somebody signs in, because
 * answers that were asked for before can still arrive. */
export function mayKeep(): boolean {
  return !isWiped
}

/** Allows storing again, once somebody has signed in. */
export function keepAgain(): void {
  isWiped = false
}

/** Removes everything that this device keeps for who uses the app: databases, pictures, drafts, notifications that are shown.
 * The files of the app itself, which are the same for everybody, stay. */
export async function wipeDevice(): Promise<void> {
  wipes += 1
  isWiped = true
  for (const letGo of lettingGo) letGo()
  const forgotten = forgetMedia()
  for (const storage of ['localStorage', 'sessionStorage'] as const) clear(storage)
  await Promise.allSettled([forgotten, wipeDatabases(), wipeCaches(), closeNotifications()])
}

/** The worker has the bearer of all tabs, and pictures that are about to be kept. */
async function forgetMedia(): Promise<void> {
  const forget: MediaNews = { kind: 'forget' }
  const { serviceWorker } = navigator
  const present = serviceWorker?.controller ?? (await serviceWorker?.getRegistration())?.active
  present?.postMessage(forget)
}

function clear(storage: 'localStorage' | 'sessionStorage'): void {
  try {
    globalThis[storage].clear()
  } catch {
    // A browser that keeps nothing has nothing to remove.
  }
}

async function wipeDatabases(): Promise<void> {
  // Some browsers have no `indexedDB.databases`, and none lists a database that is still being created.
  const others = (await indexedDB.databases?.())?.map(({ name = '' }) => name) ?? []
  await Promise.all([...new Set([...ownDatabases, ...others])].map(wipeDatabase))
}

function wipeDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const removal = indexedDB.deleteDatabase(name)
    // It goes when the last tab has closed it.
    removal.onblocked = removal.onsuccess = removal.onerror = () => resolve()
  })
}

async function wipeCaches(): Promise<void> {
  if (!('caches' in globalThis)) return
  const names = await caches.keys()
  await Promise.all(
    names.filter((name) => !name.startsWith('kith-build-')).map((name) => caches.delete(name)),
  )
}

async function closeNotifications(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close()
}
