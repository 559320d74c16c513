import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestServer } from '../../../server/test/harness/test-server.ts'
import { openApp } from './open-app.ts'

const whenActive = `navigator.serviceWorker.ready.then(({ active }) => new Promise((resolve) => {
  const look = () => active.state === 'activated' && resolve(true)
  active.addEventListener('statechange', look)
  look()
}))`

/** The app in a browser whose service worker has the files of the build, so that it opens without a connection. */
export async function openKeptApp(
  browser: Browser,
  server: TestServer,
  at: Parameters<typeof openApp>[2],
): Promise<Awaited<ReturnType<typeof openApp>>> {
  const opened = await openApp(browser, server, { ...at, serviceWorkers: 'allow' })
  await opened.page.evaluate(whenActive)
  return opened
}

/** Clicks the notification that is shown, in its worker: no protocol of the browser does. */
export async function clickNotification(context: BrowserContext): Promise<void> {
  const [worker] = context.serviceWorkers()
  await worker?.evaluate(`(async () => {
    const [notification] = await registration.getNotifications()
    const click = new NotificationEvent('notificationclick', { notification })
    // What the click of a person allows, and one from here does not: to go on after the event, and to take the focus.
    const works = []
    Object.defineProperty(click, 'waitUntil', { value: (work) => works.push(work) })
    const { focus } = WindowClient.prototype
    WindowClient.prototype.focus = async function () { return this }
    dispatchEvent(click)
    await Promise.all(works).finally(() => { WindowClient.prototype.focus = focus })
  })()`)
}

/** The names alone, without opening what may be about to be removed. */
export async function keptNames(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`Promise.all([indexedDB.databases(), caches.keys()]).then(([databases, cached]) => [
    ...databases.map(({ name }) => name),
    ...cached.filter((name) => !name.startsWith('kith-build-')),
    ...Object.keys(localStorage),
    ...Object.keys(sessionStorage),
  ])`)) as readonly string[]
}

/** What a browser keeps for a page: names of databases, of caches other than those of builds, and of storage items; and every
 * text and number that the databases hold, with their bytes as text. */
export async function deviceOf(
  page: Page,
): Promise<{ readonly names: readonly string[]; readonly raw: string }> {
  return (await page.evaluate(`(async () => {
    const textOf = (value) => {
      if (value instanceof ArrayBuffer) return new TextDecoder('latin1').decode(value)
      if (ArrayBuffer.isView(value)) return new TextDecoder('latin1').decode(value)
      if (value && typeof value === 'object') return Object.entries(value).flat().map(textOf).join(' ')
      return String(value)
    }
    const ask = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const databases = (await indexedDB.databases()).map(({ name }) => name)
    let raw = ''
    for (const name of databases) {
      const db = await ask(indexedDB.open(name))
      for (const store of db.objectStoreNames) {
        const table = db.transaction(store).objectStore(store)
        const [keys, rows] = await Promise.all([ask(table.getAllKeys()), ask(table.getAll())])
        raw += [...keys, ...rows].map(textOf).join(' ')
      }
      db.close()
    }
    const cached = (await caches.keys()).filter((name) => !name.startsWith('kith-build-'))
    return { names: [...databases, ...cached, ...Object.keys(localStorage), ...Object.keys(sessionStorage)], raw }
  })()`)) as { names: string[]; raw: string }
}

/** Goes to another screen without loading the page anew. */
export async function moveTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
}

/** Waits until nothing more is written into what the browser keeps. */
export async function whenKept(page: Page): Promise<void> {
  let before = -1
  let times = 0
  // The app waits so long for more before it writes, and then until it has nothing else to do.
  await page.evaluate(
    'new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve, { timeout: 1000 }), 300))',
  )
  const isDone = async () => {
    const { length } = (await deviceOf(page)).raw
    times = length === before && length > 1_000 ? times + 1 : 0
    before = length
    return times > 1
  }
  await expect.poll(isDone, { interval: 500 }).toBe(true)
}
