import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listActions, listCollection, listSessions, type NewAction, revokeSession } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { CuttableLink } from '../../server/test/harness/cuttable-link.ts'
import { chooseFiles, pictureFile } from './harness/file-steps.ts'
import { axeFindings, goHearing, startWebServer } from './harness/open-app.ts'
import { act, makeFriends } from './harness/people.ts'
import { anna, ben, carla, type SmallTown, startSmallTown } from './harness/small-town.ts'
import { deviceOf, keptNames, moveTo, openKeptApp, whenKept } from './harness/worker.ts'

// Two tabs, reloads and a server that comes back take long on a busy machine.
const slowMs = 60_000

let browser: Browser
let town: SmallTown

function useTown(launch: () => Promise<Browser>): void {
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  }, slowMs)
  afterAll(async () => {
    await town?.server.stop()
  })
}

// How many things wait in the tables of this device.
const keptWaiting = `new Promise((resolve) => {
  const opening = indexedDB.open('kith-kept')
  opening.onsuccess = () => {
    const counting = opening.result.transaction('outbox').objectStore('outbox').count()
    counting.onsuccess = () => {
      opening.result.close()
      resolve(counting.result)
    }
  }
})`

// Run in a tab: it comes no further than to the keys with which it keeps what is read, and to the lock of its uploads.
const holdKeeping = `() => {
  const held = Promise.withResolvers()
  globalThis.openedSince = []
  globalThis.goOn = () => {
    const { open } = IDBFactory.prototype
    IDBFactory.prototype.open = function (name, version) {
      openedSince.push(name)
      return open.call(this, name, version)
    }
    held.resolve()
  }
  const hold = (owner, method, isMeant) => new Promise((reach) => {
    const original = owner[method]
    owner[method] = async function (...given) {
      if (isMeant(given)) {
        reach()
        await held.promise
      }
      return await original.apply(this, given)
    }
  })
  globalThis.reached = [
    hold(SubtleCrypto.prototype, 'importKey', () => true),
    hold(LockManager.prototype, 'request', ([name]) => name.startsWith('kith-uploads:')),
  ]
}`

// Run in the worker: it comes no further than to know that there is a key. Once it goes on it tells what it opens.
const holdPictures = `() => {
  const held = Promise.withResolvers()
  const { open, databases } = IDBFactory.prototype
  const opened = []
  IDBFactory.prototype.open = function (name, version) {
    opened.push(name)
    return open.call(this, name, version)
  }
  globalThis.reached = new Promise((reach) => {
    IDBFactory.prototype.databases = async function () {
      const found = await databases.call(this)
      reach()
      await held.promise
      return found
    }
  })
  globalThis.goOn = async () => {
    held.resolve()
    await new Promise((resolve) => setTimeout(resolve))
    return opened
  }
}`

const offlineLine = (page: Page) => page.getByRole('status').getByText('No connection.')
const threadOn = (page: Page) => page.getByRole('region', { name: 'Messages', exact: true })
const field = (page: Page, name: string) => page.getByRole('textbox', { name })
const open = (path = '/') => openKeptApp(browser, town.server, { idTag: anna, path })

/** Ends every session of Anna's from another device, and waits until her open apps are told. */
async function endSessions(): Promise<void> {
  const client = await town.server.as(anna)
  const { data: sessions } = await client.call(listSessions)
  for (const { sid, current } of sessions) if (!current) await client.call(revokeSession, { params: { sid } })
  // Sockets are looked through for what has ended every two seconds.
  await town.server.clock.advance(2_000)
}

/** What Anna has done of a type, the oldest first. */
async function textsOf(type: NonNullable<NewAction['type']>): Promise<unknown[]> {
  const query = { type: [type], issuer: anna, sortDir: 'asc', limit: 100 } as never
  const { data } = await (await town.server.as(anna)).call(listActions, { query })
  return data.map(({ content }) => content?.text)
}

withChromium('without a connection', (launch) => {
  useTown(launch)

  test('what was read is there after a reload, with its age, and sealed on the device', {
    timeout: slowMs,
  }, async () => {
    const { page, context, go } = await open()
    // From its second visit on a page is served by the worker, which keeps the pictures.
    await go('/')
    const places = [
      ['/', 'Three evenings in the hills.'],
      [`/posts/${town.postId}`, 'The second one!'],
      ['/messages', 'Good. I bake the plum cake then.'],
      [`/messages/${ben}`, 'Yes, with the children.'],
      ['/notifications', 'Carla'],
      [`/profiles/${ben}`, 'Ben Okafor'],
      [`/files/${town.folderId}`, 'evening-40.jpg'],
    ] as const
    for (const [path, text] of places) {
      await moveTo(page, path)
      await page.getByText(text).first().waitFor()
    }
    await whenKept(page)
    const { names, raw } = await deviceOf(page)
    expect(names.filter((name) => /^kith-k/.test(name)).sort()).toEqual(['kith-kept', 'kith-key'])
    expect(names).toContain('kith-pictures')
    expect(raw.length).toBeGreaterThan(10_000)
    for (const text of ['plum cake', 'Ben Okafor', ben, 'evening', town.postId])
      expect(raw).not.toContain(text)
    await context.setOffline(true)
    await go('/')
    const hasPictures = '[...document.images].some((image) => image.naturalWidth > 0)'
    await expect.poll(() => page.evaluate(hasPictures)).toBe(true)
    for (const [path, text] of places) {
      await moveTo(page, path)
      await page.getByText(text).first().waitFor()
      await offlineLine(page).waitFor()
    }
    expect(await axeFindings(page)).toEqual([])
    await context.setOffline(false)
    await offlineLine(page).waitFor({ state: 'detached' })
  })

  test('what is written waits through a reload, and leaves once and in order, whatever the number of tabs', {
    timeout: slowMs,
  }, async () => {
    const { page, context, go } = await open(`/posts/${town.postId}`)
    await page.getByText('The second one!').waitFor()
    await moveTo(page, `/messages/${carla}`)
    await threadOn(page).getByText('the photos of the rehearsal').waitFor()
    await whenKept(page)
    const sent: string[] = []
    // Of what was asked without a connection there is no answer.
    context.on('response', (response) => {
      const request = response.request()
      if (request.method() === 'POST') sent.push(request.postData() ?? '')
    })
    await context.setOffline(true)
    for (const text of ['Of the first, yes', 'Of the second, too']) {
      await field(page, 'Message').fill(text)
      await page.keyboard.press('Enter')
    }
    await page.getByText('Waits for the server.').first().waitFor()
    await moveTo(page, `/posts/${town.postId}`)
    await field(page, 'Your comment').fill('From the train')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('article', { name: 'Your comment' }).getByText('Waits for the server.').waitFor()
    await page.getByRole('button', { name: 'Bookmark' }).first().click()
    await page.getByText('4 things wait to be sent.').waitFor()
    // What is said to wait is on the device a moment later.
    await expect.poll(() => page.evaluate(keptWaiting)).toBe(4)
    expect((await deviceOf(page)).raw).not.toContain('From the train')
    await go(`/posts/${town.postId}`)
    await page.getByText('4 things wait to be sent.').waitFor()
    await page.getByRole('article', { name: 'Your comment' }).getByText('From the train').waitFor()
    const second = await context.newPage()
    await second.goto(page.url())
    await second.getByText('4 things wait to be sent.').waitFor()
    sent.length = 0
    await context.setOffline(false)
    for (const tab of [page, second]) {
      await tab.getByRole('article', { name: 'Your comment' }).waitFor({ state: 'detached' })
      await tab.getByText('From the train').waitFor()
    }
    await expect.poll(() => textsOf('CMNT')).toContain('From the train')
    expect((await textsOf('MSG')).slice(-2)).toEqual(['Of the first, yes', 'Of the second, too'])
    const bookmarks = async () => {
      const params = { collType: 'BKMK' } as const
      return (await (await town.server.as(anna)).call(listCollection, { params })).data.map(
        ({ itemId }) => itemId,
      )
    }
    await expect.poll(bookmarks).toEqual([town.postId])
    for (const text of ['Of the first', 'Of the second', 'From the train'])
      expect(sent.filter((body) => body.includes(text))).toHaveLength(1)
  })

  test('signing out leaves nothing on the device, in any tab', { timeout: slowMs }, async () => {
    const { page, context, go } = await open('/new')
    await field(page, 'Text').fill('A draft of mine')
    const second = await context.newPage()
    await second.goto(new URL('/', page.url()).href)
    await second.getByText('Three evenings in the hills.').waitFor()
    await whenKept(second)
    expect(await keptNames(page)).toContain('kith-kept')
    await page.evaluate(`caches.open('kith-pictures').then((cache) => cache.put('/x', new Response('x')))`)
    await moveTo(page, '/settings')
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, second]) await tab.waitForURL(/\/login/)
    await expect.poll(() => keptNames(page)).toEqual([])
    await context.setOffline(true)
    await go('/')
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  /** A device with something in every place where the app keeps things, in two tabs. */
  async function openFullDevice() {
    const opened = await openKeptApp(browser, town.server, {
      idTag: anna,
      path: '/',
      permissions: ['notifications'],
    })
    const { page, context, go } = opened
    // From its second visit on a page is served by the worker, which keeps the pictures.
    await go('/')
    await page.getByText('Three evenings in the hills.').waitFor()
    await expect.poll(() => keptNames(page)).toContain('kith-pictures')
    await page.evaluate(`Promise.all([
      navigator.serviceWorker.ready.then((registration) => registration.showNotification('Ben: Tea?')),
      caches.open('kith-other').then((cache) => cache.put('/x', new Response('x'))),
    ]).then(() => true)`)
    const second = await context.newPage()
    await second.goto(new URL('/new', page.url()).href)
    await field(second, 'Text').fill('A draft of mine')
    await whenKept(page)
    const names = await keptNames(page)
    for (const name of ['kith-kept', 'kith-key', 'kith-pictures', 'kith-other']) expect(names).toContain(name)
    return { ...opened, second }
  }
  const shownOn = (page: Page) =>
    page.evaluate(`navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
      .then((all) => all.length)`)

  test('a session that was ended from another device leaves nothing on this one, in any tab', {
    timeout: slowMs,
  }, async () => {
    const { page, context, second } = await openFullDevice()
    const third = await context.newPage()
    await third.goto(new URL('/files', page.url()).href)
    const held = Promise.withResolvers<void>()
    await third.route('**/api/files/default/**', () => held.resolve())
    await chooseFiles(third, 'Upload', [await pictureFile('under way.jpg', 30)])
    await held.promise
    await expect.poll(() => keptNames(page)).toContain('kith-uploads')
    await endSessions()
    for (const tab of [page, second, third])
      await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await expect.poll(() => keptNames(page)).toEqual([])
    await expect.poll(() => shownOn(page)).toBe(0)
    // What was typed is there for who signs in again, and on the page alone.
    await expect.poll(() => field(second, 'Text').inputValue()).toBe('A draft of mine')
    await second.evaluate(`window.dispatchEvent(new Event('pagehide'))`)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    expect(await keptNames(second)).toEqual([])
  })

  test('what a tab was only about to keep is not kept once the session has ended', {
    timeout: slowMs,
  }, async () => {
    const { page, context } = await open()
    await whenKept(page)
    const third = await context.newPage()
    await third.addInitScript(`(${holdKeeping})()`)
    await third.goto(new URL('/files', page.url()).href)
    await third.route('**/api/files/default/**', () => undefined)
    await chooseFiles(third, 'Upload', [await pictureFile('under way.jpg', 30)])
    await third.evaluate('Promise.all(reached)')
    await endSessions()
    for (const tab of [page, third]) await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await expect.poll(() => keptNames(page)).toEqual([])
    await third.evaluate('goOn()')
    const locks = `navigator.locks.query().then(({ held }) => held.map(({ name }) => name.split(':')[0]))`
    await expect.poll(() => third.evaluate(locks)).toContain('kith-uploads')
    expect(await third.evaluate('openedSince')).toEqual([])
    expect(await keptNames(page)).toEqual([])
  })

  test('a picture that the worker was only about to keep is not kept once the session has ended', {
    timeout: slowMs,
  }, async () => {
    const opened = await open()
    const { page, context } = opened
    await whenKept(page)
    const [worker] = context.serviceWorkers()
    await worker?.evaluate(`(${holdPictures})()`)
    await goHearing(opened, '/')
    await page.getByText('Three evenings in the hills.').waitFor()
    await worker?.evaluate('reached')
    await endSessions()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await expect.poll(() => keptNames(page)).toEqual([])
    expect(await worker?.evaluate('goOn()')).toEqual([])
    expect(await keptNames(page)).toEqual([])
  })

  test('a tab that hears nothing is told by another one that the session has ended', {
    timeout: slowMs,
  }, async () => {
    const { page, context, second } = await openFullDevice()
    await second.close()
    const deaf = await context.newPage()
    await deaf.routeWebSocket(/\/ws\//, () => undefined)
    await deaf.goto(new URL('/', page.url()).href)
    await deaf.getByText('Three evenings in the hills.').waitFor()
    await endSessions()
    for (const tab of [page, deaf]) await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await expect.poll(() => keptNames(page)).toEqual([])
  })

  test('a session that was ended while the app was closed leaves nothing once it is opened', {
    timeout: slowMs,
  }, async () => {
    const { page, context, second } = await openFullDevice()
    const home = new URL('/', page.url()).href
    for (const tab of [page, second]) await tab.goto('about:blank')
    await endSessions()
    const opened = await context.newPage()
    await opened.goto(home)
    await opened.waitForURL(/\/login/)
    await expect.poll(() => keptNames(opened)).toEqual([])
    await expect.poll(() => shownOn(opened)).toBe(0)
  })
})

withChromium('without a connection, further', (launch) => {
  useTown(launch)

  test('what needs the server says why it cannot be done', { timeout: slowMs }, async () => {
    const { page, context } = await open(`/profiles/${ben}`)
    await page.getByText('Ben Okafor').first().waitFor()
    await moveTo(page, '/settings')
    const signOut = page.getByRole('button', { name: 'Sign out' })
    await signOut.waitFor()
    await context.setOffline(true)
    await expect.poll(() => signOut.getAttribute('title')).toBe('This needs a connection to the server.')
    await expect.poll(() => signOut.getAttribute('aria-disabled')).toBe('true')
    await signOut.focus()
    await page.keyboard.press('Enter')
    await context.setOffline(false)
    await expect.poll(() => signOut.getAttribute('aria-disabled')).toBe(null)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  })

  test('what the server refuses comes back to who wrote it, with the reason', {
    timeout: slowMs,
  }, async () => {
    const { page, context } = await open(`/posts/${town.postId}`)
    await page.getByText('The second one!').waitFor()
    await moveTo(page, `/messages/${ben}`)
    await threadOn(page).getByText('Yes, with the children.').waitFor()
    await moveTo(page, `/posts/${town.postId}`)
    await context.setOffline(true)
    await field(page, 'Your comment').fill('Not welcome')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Waits for the server.').waitFor()
    await moveTo(page, `/messages/${ben}`)
    await field(page, 'Message').fill('Not taken')
    await page.keyboard.press('Enter')
    await page.getByText('Waits for the server.').waitFor()
    expect(await textsOf('CMNT')).not.toContain('Not welcome')
    const error = { code: 'E-AUTH-FORBIDDEN', message: 'no' }
    await context.route('**/api/actions', (route) => route.fulfill({ status: 403, json: { error } }))
    await context.setOffline(false)
    await page
      .getByRole('alert')
      .getByText(/^Not delivered/)
      .waitFor()
    await context.unroute('**/api/actions')
    await page.getByRole('button', { name: 'Open the post' }).click()
    await expect.poll(() => field(page, 'Your comment').inputValue()).toBe('Not welcome')
    expect(await textsOf('CMNT')).not.toContain('Not welcome')
    await moveTo(page, `/messages/${ben}`)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await expect.poll(() => textsOf('MSG')).toContain('Not taken')
  })

  test('a server that is away for a while is waited for, also by a page that is opened meanwhile', {
    timeout: slowMs,
  }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'kith-offline-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    await using link = await CuttableLink.open()
    const first = await startWebServer({ baseIdTag: ben, dataDir, link })
    await makeFriends(first, ben, { [carla]: 'Carla Lindqvist' })
    await act(first, carla, { type: 'MSG', audienceTag: ben as never, content: { text: 'Still there?' } })
    const at = { idTag: ben, path: `/messages/${carla}` }
    const opened = await openKeptApp(browser, first, at)
    const { page, context } = opened
    // Whoever has never heard the server does not hear that it went away.
    await goHearing(opened, at.path)
    await threadOn(page).getByText('Still there?').waitFor()
    await whenKept(page)
    await first.stop()
    await offlineLine(page).waitFor()
    await field(page, 'Message').fill('I am')
    await page.keyboard.press('Enter')
    await page.getByText('Waits for the server.').waitFor()
    const second = await context.newPage()
    await second.goto(page.url())
    await threadOn(second).getByText('Still there?').waitFor()
    await threadOn(second).getByText('I am').waitFor()
    const again = await startWebServer({ baseIdTag: ben, dataDir, link })
    onTestFinished(() => again.stop())
    for (const tab of [page, second]) await offlineLine(tab).waitFor({ state: 'detached' })
    await page.getByText('Waits for the server.').waitFor({ state: 'detached' })
    const query = { type: ['MSG'] as const, issuer: ben as never }
    const listed = async () => (await (await again.as(ben)).call(listActions, { query })).data
    await expect.poll(async () => (await listed()).map(({ content }) => content?.text)).toEqual(['I am'])
  })

  test('a browser that can keep nothing works with a connection, and says so once', {
    timeout: slowMs,
  }, async () => {
    const { page, context, faults } = await open()
    await page.getByText('Three evenings in the hills.').waitFor()
    await context.addInitScript(`Object.defineProperty(window, 'indexedDB', { value: undefined })`)
    await page.reload()
    await page.getByText('This browser keeps nothing.').waitFor()
    await page.getByText('Three evenings in the hills.').waitFor()
    await page.reload()
    await page.getByText('Three evenings in the hills.').waitFor()
    await moveTo(page, `/messages/${ben}`)
    await field(page, 'Message').fill('From memory')
    await page.keyboard.press('Enter')
    await expect.poll(() => textsOf('MSG')).toContain('From memory')
    expect(await page.getByText('This browser keeps nothing.').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('a device without room works with a connection, and says so', { timeout: slowMs }, async () => {
    const { page, context, faults, go } = await open('/settings')
    await context.addInitScript(`IDBObjectStore.prototype.put = () => {
      throw new DOMException('no room', 'QuotaExceededError')
    }`)
    await go('/')
    await page.getByText('This device has no more room.').waitFor()
    await page.getByText('Three evenings in the hills.').waitFor()
    expect(faults).toEqual([])
  })
})
