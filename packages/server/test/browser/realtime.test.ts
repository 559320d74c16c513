import { createAction, createFile } from '@kith/protocol'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { serveApplication } from '#harness/browser-bundle.ts'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { DatabaseDevice } from '#harness/database-client.ts'
import { StockClient } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'
import type { application as Application } from './realtime-application.ts'

const home = 'home.localhost'

/** In the page, where functions given to `evaluate` run. */
declare const application: typeof Application
declare const window: {
  open: ReturnType<typeof Application.openDocument>
  data: ReturnType<typeof Application.openDatabase>
  bus: ReturnType<typeof Application.openBus>
  stock: ReturnType<typeof Application.openStock>
}

/** Runs in the page: waits for what IndexedDB is doing. A page that goes away would break it off. */
const untilStored = `indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => new Promise((resolve, reject) => {
  const opening = indexedDB.open(name)
  opening.onerror = reject
  opening.onsuccess = () => {
    const { result: database } = opening
    const [table] = database.objectStoreNames
    // A transaction starts only once all earlier ones on the same table have ended.
    const transaction = database.transaction(table, 'readwrite')
    transaction.objectStore(table).count()
    transaction.onabort = reject
    transaction.oncomplete = () => resolve(database.close())
  }
}))))`

withChromium('realtime clients in a browser', (launch) => {
  let browser: Browser
  let server: TestServer
  let app: Awaited<ReturnType<typeof serveApplication>>
  let link: CuttableLink
  let token: string
  let baseUrl: string

  beforeAll(async () => {
    ;[browser, server, app, link] = await Promise.all([
      launch(),
      TestServer.start({ baseIdTag: home }),
      serveApplication(new URL('./realtime-application.ts', import.meta.url).pathname),
      CuttableLink.open(),
    ])
    link.leadTo(server.running.port)
    baseUrl = `http://${home}:${link.port}`
    token = await server.signIn(home)
  })
  beforeEach(() => link.set('open'))
  afterAll(async () => {
    await link?.[Symbol.asyncDispose]()
    await app?.[Symbol.asyncDispose]()
    await server?.stop()
  })

  const create = async (fileTp: 'CRDT' | 'RTDB') =>
    (await server.client(home, token).call(createFile, { body: { fileTp } })).data.fileId
  const load = async () => {
    const opened = await openPage(browser)
    await opened.page.goto(app.url)
    await opened.page.waitForFunction('window.application')
    return opened
  }
  const addTab = async (context: BrowserContext, faults: string[]) => {
    const tab = await context.newPage()
    tab.on('pageerror', (error) => faults.push(String(error)))
    await tab.goto(app.url)
    await tab.waitForFunction('window.application')
    return tab
  }
  const reload = async (page: Page) => {
    await page.evaluate(untilStored)
    await page.reload()
    await page.waitForFunction('window.application')
  }
  /** What the server has, as another client sees it. */
  const stored = async (fileId: string) => {
    await using client = await StockClient.open({ port: server.running.port, host: home }, fileId, {
      token,
    }).synced()
    return client.text.toString()
  }

  test.each([2, 3] as const)('two pages with y-websocket %i converge', async (version) => {
    const fileId = await create('CRDT')
    const pages = await Promise.all([load(), load()])
    await Promise.all(
      pages.map(({ page }, at) =>
        page.evaluate(
          ([at, version, place]) => {
            window.stock = application.openStock(version, place)
            window.stock.text.insert(0, `page ${at} `)
          },
          [at, version, { baseUrl, fileId, token }] as const,
        ),
      ),
    )
    const texts = () => Promise.all(pages.map(({ page }) => page.evaluate(() => `${window.stock.text}`)))
    await expect
      .poll(async () => {
        const [one, two] = await texts()
        return one === two && one?.includes('page 0') && one.includes('page 1')
      })
      .toBe(true)
    expect(await stored(fileId)).toBe((await texts())[0])
    expect(pages.flatMap(({ faults }) => faults)).toEqual([])
  })

  test('a document edited offline survives a reload, and is saved once the server is back', async () => {
    const fileId = await create('CRDT')
    const { page, faults } = await load()
    const open = () =>
      page.evaluate(
        async (options) => {
          window.open = application.openDocument(options)
          await window.open.document.loaded()
        },
        { baseUrl, fileId, token },
      )
    const text = () => page.evaluate(() => `${window.open.text}`)
    const state = () => page.evaluate(() => window.open.document.state)
    await open()
    await page.evaluate(async () => {
      window.open.text.insert(0, 'online ')
      await window.open.document.saved()
    })
    link.set('refused')
    await expect.poll(state).toMatchObject({ kind: 'offline', hasUnsaved: false })
    await page.evaluate(() => window.open.text.insert(7, 'offline'))
    await expect.poll(state).toMatchObject({ kind: 'offline', hasUnsaved: true })
    await reload(page)
    await open()
    expect(await text()).toBe('online offline')
    expect(await stored(fileId)).toBe('online ')
    link.set('open')
    await page.evaluate(() => window.open.document.saved())
    expect(await stored(fileId)).toBe('online offline')
    expect(faults).toEqual([])
  })

  test('transactions made offline survive a reload, and are done once each, though two tabs send them', async () => {
    const fileId = await create('RTDB')
    const { page, context, faults } = await load()
    const open = (tab = page) =>
      tab.evaluate(
        (options) => {
          window.data = application.openDatabase(options)
        },
        { baseUrl, fileId, token },
      )
    const waiting = (tab = page) => tab.evaluate(() => window.data.database.state.waiting)
    await open()
    await page.evaluate(() => window.data.tasks.add({ title: 'online' }))
    link.set('refused')
    await expect.poll(() => page.evaluate(() => window.data.database.state.kind)).toBe('connecting')
    await page.evaluate(() => {
      for (const title of ['first', 'second']) window.data.tasks.add({ title }).catch(() => undefined)
    })
    await expect.poll(() => waiting()).toBe(2)
    await reload(page)
    await open()
    await expect.poll(() => waiting()).toBe(2)
    const other = await addTab(context, faults)
    await open(other)
    await expect.poll(() => waiting(other)).toBe(2)
    await page.evaluate(() => {
      window.data.lossy.isLosing = true
    })
    link.set('open')
    await expect.poll(() => Promise.all([waiting(), waiting(other)])).toEqual([0, 0])
    expect(await page.evaluate(() => window.data.lossy.lost)).toBe(1)
    await using device = await DatabaseDevice.connect(server, { idTag: home, fileId }, token)
    const { data } = await device.ask('query', { path: 'tasks' })
    expect(data.map(({ title }: { title: string }) => title).sort()).toEqual(['first', 'online', 'second'])
    await reload(page)
    await open()
    await page.evaluate(() => window.data.tasks.get())
    expect(await waiting()).toBe(0)
    link.set('refused')
    await page.evaluate(() => void window.data.tasks.add({ title: 'forgotten' }).catch(() => undefined))
    await expect.poll(() => waiting()).toBe(1)
    await page.evaluate(() => window.data.database.forget())
    await reload(page)
    await open()
    link.set('open')
    expect(await page.evaluate(async () => (await window.data.tasks.get()).length)).toBe(3)
    expect(faults).toEqual([])
  })

  test('the bus reconnects, and gets the events that it missed', async () => {
    const { page, faults } = await load()
    await page.evaluate(
      (options) => {
        window.bus = application.openBus(options)
      },
      { baseUrl, token },
    )
    const told = () => page.evaluate(() => window.bus.texts)
    const state = () => page.evaluate(() => window.bus.states.at(-1))
    const post = (text: string) =>
      server.client(home, token).call(createAction, { body: { type: 'POST', content: { text } } })
    await expect.poll(state).toBe('open')
    await post('one')
    await expect.poll(told).toEqual(['one'])
    link.set('refused')
    await expect.poll(state).toBe('connecting')
    await post('two')
    link.set('open')
    await expect.poll(told).toEqual(['one', 'two'])
    await expect.poll(state).toBe('open')
    expect(faults).toEqual([])
  })

  test('a page that has a network again connects at once, whatever the delay', async () => {
    const { page, context, faults } = await load()
    const hour = 60 * 60_000
    await page.evaluate(
      (options) => {
        window.bus = application.openBus(options)
      },
      { baseUrl, token, retry: { firstMs: hour, longestMs: hour } },
    )
    const state = () => page.evaluate(() => window.bus.states.at(-1))
    await expect.poll(state).toBe('open')
    link.set('refused')
    await expect.poll(state).toBe('connecting')
    link.set('open')
    await context.setOffline(true)
    await context.setOffline(false)
    await expect.poll(state).toBe('open')
    expect(faults).toEqual([])
  })

  test('two tabs share the copy of a document; forgetting it in one does not break the other', async () => {
    const fileId = await create('CRDT')
    const { page, context, faults } = await load()
    const other = await addTab(context, faults)
    const open = (tab: Page) =>
      tab.evaluate(
        async (options) => {
          window.open = application.openDocument(options)
          await window.open.document.saved()
        },
        { baseUrl, fileId, token },
      )
    await Promise.all([open(page), open(other)])
    await page.evaluate(() => window.open.document.forget())
    await other.evaluate(async () => {
      window.open.text.insert(0, 'still here')
      await window.open.document.saved()
    })
    expect(await stored(fileId)).toBe('still here')
    link.set('refused')
    await reload(page)
    await page.evaluate(
      (options) => {
        window.open = application.openDocument(options)
      },
      { baseUrl, fileId, token },
    )
    // A copy stored by an earlier page would have been read by now.
    await page.evaluate(untilStored)
    expect(await page.evaluate(() => window.open.document.state.kind)).toBe('loading')
    expect(faults).toEqual([])
  })

  test('a document closed before its copy was read does not store what follows', async () => {
    const [closed, kept] = await Promise.all([create('CRDT'), create('CRDT')])
    const { page, faults } = await load()
    const names = await page.evaluate(
      async ([options, others]) => {
        const { document } = application.openDocument(options)
        await document.forget()
        document.doc.getText('text').insert(0, 'late')
        // A second document is edited after the first: once it is stored, an edit of the first would be stored as well.
        const other = application.openDocument(others)
        other.text.insert(0, 'kept')
        await other.document.saved()
        return await application.databaseNames()
      },
      [
        { baseUrl, fileId: closed, token },
        { baseUrl, fileId: kept, token },
      ] as const,
    )
    expect(names).toEqual([expect.stringContaining(kept)])
    expect(faults).toEqual([])
  })

  test('a sandboxed frame, which has no IndexedDB, opens documents and databases', async () => {
    const [document, database] = await Promise.all([create('CRDT'), create('RTDB')])
    const { page, faults } = await openPage(browser)
    await page.goto(`${app.url}framed`)
    const frame = await expect
      .poll(() => page.frames()[1])
      .toBeDefined()
      .then(() => page.frames()[1])
    await frame?.waitForFunction('window.application')
    await frame?.evaluate(
      async ([document, database]) => {
        const opened = application.openDocument(document)
        await opened.document.loaded()
        opened.text.insert(0, 'framed')
        await opened.document.saved()
        await application.openDatabase(database).tasks.add({ title: 'framed' })
      },
      [
        { baseUrl, fileId: document, token },
        { baseUrl, fileId: database, token },
      ] as const,
    )
    expect(await stored(document)).toBe('framed')
    expect(faults).toEqual([])
  })
})
