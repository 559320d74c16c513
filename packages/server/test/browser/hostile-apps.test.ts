import { createFile } from '@kith/protocol'
import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { installPackage, publishPackage } from '#app/cli/app/publish-package.ts'
import { writeZip } from '#app/cli/app/write-zip.ts'
import { type AppPerson, openApp } from '#harness/app-people.ts'
import { withChromium } from '#harness/browser.ts'
import { TestServer } from '#harness/test-server.ts'

const manifest = {
  id: 'hostile',
  name: 'Hostile',
  version: '1.0.0',
  entry: 'index.html',
  capabilities: ['rtdb' as const],
}

/** Speaks to the host without the SDK; what the host says is kept in `heard`. */
const script = `
globalThis.heard = []
addEventListener('message', ({ data, ports }) => {
  if (data?.type !== 'welcome') return
  globalThis.port = ports[0]
  port.onmessage = ({ data }) => heard.push(data)
  if (data.context.opened.name !== 'Unasked') return
  port.postMessage({ type: 'navigate', url: 'https://example.com/' })
  port.postMessage({ type: 'state', state: 'saved' })
})
parent.postMessage({ kith: 'app', type: 'hello', versions: [1] }, '*')
`
const html =
  '<!doctype html><title>Hostile</title><h1>Hostile</h1><script type="module" src="app.js"></script>'
const zip = writeZip([
  { path: 'app.json', content: Buffer.from(JSON.stringify(manifest)) },
  { path: 'index.html', content: Buffer.from(html) },
  { path: 'other.html', content: Buffer.from(html) },
  { path: 'app.js', content: Buffer.from(script) },
])

/** In the frame, where functions given to `evaluate` run. */
declare const port: MessagePort
declare const heard: { type: string; code?: number; data?: string }[]
declare const window: {
  focus(): void
  open(url: string): unknown
  alert(text: string): void
  confirm(text: string): boolean
}
declare const top: { location: string }
declare const parent: { document: object; postMessage(message: unknown, origin: string): void }
declare const document: {
  cookie: string
  documentElement: { requestFullscreen(): unknown; requestPointerLock(): unknown }
  requestStorageAccess(): unknown
  createElement(
    tag: string,
  ): Record<'submit' | 'click' | 'showModal' | 'focus', () => void> & { style: object }
  body: { append(...elements: object[]): void }
}
declare const navigator: { credentials: { get(options: object): Promise<unknown> } }
interface HostPage {
  readonly MutationObserver: new (heard: () => void) => { observe(target: object, options: object): void }
  readonly document: {
    getElementById(id: string): { readonly textContent: string; readonly open?: boolean } | null
  }
  readonly console: { log(text: string): void }
}
declare let location: string
declare const localStorage: object

withChromium('a hostile app', (launch) => {
  let browser: Browser
  let server: TestServer
  let person: AppPerson
  let url: string
  let unaskedUrl: string
  let foreignUrl: string
  let entry: string
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start()
    const { idTag } = await server.createTenant('alice.localhost')
    person = { idTag, server }
    const client = await server.as(idTag)
    const publication = await publishPackage(client, { manifest, zip }, { visibility: 'P' })
    await installPackage(client, publication)
    const body = { fileTp: 'RTDB', fileName: 'Bait' } as const
    const contentType = `application/vnd.kith.app.${manifest.id}`
    const { data: file } = await client.call(createFile, { body: { ...body, contentType } })
    const { data: unasked } = await client.call(createFile, {
      body: { ...body, fileName: 'Unasked', contentType },
    })
    const { data: foreign } = await client.call(createFile, { body })
    const urlOf = ({ fileId }: { fileId: string }) =>
      `${server.urlOf(idTag)}/apps/${idTag}/Hostile?file=${encodeURIComponent(fileId)}`
    url = urlOf(file)
    unaskedUrl = urlOf(unasked)
    foreignUrl = urlOf(foreign)
    entry = `${server.urlOf(idTag)}/api/files/${publication.fileId}/content/index.html`
  })
  afterAll(() => server?.stop())

  async function open(): Promise<{ page: Page; frame: Frame; opened: string[] }> {
    const { page, context } = await openApp(browser, person, 'Hostile')
    const opened: string[] = []
    page.on('dialog', (dialog) => {
      opened.push(dialog.message())
      void dialog.dismiss()
    })
    page.on('download', (download) => opened.push(download.url()))
    context.on('page', (other) => opened.push(other.url()))
    await page.goto(url)
    return { page, frame: await frameOf(page), opened }
  }

  async function frameOf(page: Page): Promise<Frame> {
    await expect.poll(() => page.frames().length).toBe(2)
    const frame = page.frames()[1] as Frame
    // `waitForFunction` evaluates text, which the policy of the page forbids.
    await expect.poll(() => frame.evaluate(() => 'port' in globalThis)).toBe(true)
    return frame
  }

  /** The host says why it has ended the app, and shows it again when the person wants that. */
  async function ended(page: Page, why: string): Promise<void> {
    await page.getByRole('alert').getByText(why).waitFor()
    await expect.poll(() => page.frames().length).toBe(1)
    await page.getByRole('button', { name: 'Open it again' }).click()
    await openFile(await frameOf(page))
  }
  /** Lets the app open its file, and answers what it heard of that. */
  const openFile = (frame: Frame, socket = 1) =>
    frame.evaluate((socket) => port.postMessage({ type: 'open', socket, kind: 'rtdb' }), socket)
  const told = (frame: Frame) => frame.evaluate(() => heard.map(({ type, code }) => [type, code ?? null]))

  test('is not given a file of something else by a link', async () => {
    const { page } = await openApp(browser, person, 'Hostile')
    await page.goto(foreignUrl)
    await page.getByRole('alert').getByText('This app cannot open files of this kind.').waitFor()
    expect(page.frames()).toHaveLength(1)
  })

  test('that floods its port is ended', async () => {
    const { page, frame } = await open()
    await frame
      .evaluate(() => {
        for (let at = 0; at < 200_000; at += 1) port.postMessage({ type: 'title', title: 'x' })
      })
      .catch(() => undefined)
    await ended(page, 'The app sent more messages than it may')
  })

  test('that floods the window of its host is ended', async () => {
    const { page, frame } = await open()
    await frame
      .evaluate(() => {
        for (let at = 0; at < 200_000; at += 1)
          parent.postMessage({ kith: 'app', type: 'hello', versions: [1] }, '*')
      })
      .catch(() => undefined)
    await ended(page, 'The app sent messages that make no sense')
  })

  test('that sends malformed messages still opens its file', async () => {
    const { frame } = await open()
    await frame.evaluate(() => {
      for (const wrong of [null, 'x', [], { type: 'no' }, { type: 'send' }, { type: '__proto__' }, new Map()])
        port.postMessage(wrong)
    })
    await openFile(frame)
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
  })

  test('gets the one file, whatever it names, and no token', async () => {
    const { frame } = await open()
    await frame.evaluate(() => {
      port.postMessage({ type: 'open', socket: 1, kind: 'rtdb', fileId: 'r1~other', access: 'write' })
    })
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
    await frame.evaluate(() => {
      const get = { type: 'query', id: 1, path: 'items' }
      port.postMessage({ type: 'send', socket: 1, data: JSON.stringify(get) })
    })
    await expect
      .poll(() => frame.evaluate(() => heard.find(({ type }) => type === 'data')?.data))
      .toContain('queryResult')
    expect(await frame.evaluate(() => JSON.stringify(heard))).not.toMatch(/token|eyJ/)
    await frame.evaluate(() => port.postMessage({ type: 'open', socket: 2, kind: 'crdt' }))
    await expect.poll(() => told(frame)).toContainEqual(['closed', 4403])
  })

  test('cannot reach the host, its storage, or any network', async () => {
    const { page, frame } = await open()
    const tried = await frame.evaluate(
      async ([origin, serverUrl]) => {
        const failing = async (work: () => unknown) => {
          try {
            await work()
            return 'done'
          } catch (error) {
            return (error as Error).name
          }
        }
        const socket = (url: string) =>
          new Promise((resolve, reject) => {
            const opened = new WebSocket(url)
            opened.onopen = resolve
            opened.onerror = () => reject(new TypeError('refused'))
          })
        return {
          document: await failing(() => parent.document),
          storage: await failing(() => localStorage),
          cookie: await failing(() => document.cookie),
          host: await failing(() => fetch(origin)),
          server: await failing(() => fetch(`${serverUrl}/api/me`)),
          elsewhere: await failing(() => fetch('https://example.com/')),
          socket: await failing(() => socket(`${serverUrl.replace('http', 'ws')}/ws/bus`)),
        }
      },
      [url, server.urlOf(person.idTag)] as const,
    )
    expect(tried).toEqual({
      document: 'SecurityError',
      storage: 'SecurityError',
      cookie: 'SecurityError',
      host: 'TypeError',
      server: 'TypeError',
      elsewhere: 'TypeError',
      socket: 'TypeError',
    })
    expect(await page.evaluate('localStorage.length')).toBe(0)
    expect(frame.url()).toBe(entry)
  })

  test('cannot navigate the top, nor open windows, dialogs or downloads', async () => {
    const { page, frame, opened } = await open()
    const blocked = await frame.evaluate(() => {
      let isTopBlocked = false
      try {
        top.location = 'https://example.com/'
      } catch {
        isTopBlocked = true
      }
      const opened = []
      for (let at = 0; at < 50; at += 1) {
        window.alert('pay')
        opened.push(window.open('https://example.com/'), window.confirm('pay'))
      }
      const link = document.createElement('a')
      Object.assign(link, { href: 'data:application/zip,x', download: 'x.zip', target: '_blank' })
      document.body.append(link)
      link.click()
      return { isTopBlocked, opened: opened.filter(Boolean).length }
    })
    expect(blocked).toEqual({ isTopBlocked: true, opened: 0 })
    await openFile(frame)
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
    expect(opened).toEqual([])
    expect(page.url()).toBe(url)
  })

  test.each(['other.html', 'https://example.com/'])(
    'that navigates itself to %s loses its port',
    async (target) => {
      const { page, frame } = await open()
      await frame.evaluate((to) => {
        location = to
      }, target)
      await ended(page, 'The app has left its own page')
    },
  )

  test('that sends a form away is ended, and nothing was sent', async () => {
    const { page, frame } = await open()
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await frame.evaluate(() => {
      const form = document.createElement('form')
      Object.assign(form, { action: 'https://example.com/', method: 'post' })
      document.body.append(form)
      form.submit()
    })
    await ended(page, 'The app has left its own page')
    expect(requested.filter((asked) => asked.includes('example.com'))).toEqual([])
  })

  test('that imitates the sign-in stays below its name, and is given nothing that the browser keeps', async () => {
    const { page, frame, opened } = await open()
    await heading(page).click()
    const tried = await frame.evaluate(async () => {
      const failing = async (work: () => unknown) => {
        try {
          await work()
          return 'done'
        } catch (error) {
          return (error as Error).name
        }
      }
      port.postMessage({ type: 'title', title: 'Sign in to alice.localhost' })
      port.postMessage({ type: 'resize', height: 100_000 })
      const { documentElement: page } = document
      const dialog = document.createElement('dialog')
      Object.assign(dialog, {
        innerHTML: '<form><label>Password <input type="password" autocomplete="current-password">',
      })
      Object.assign(dialog.style, { position: 'fixed', inset: '-500px 0 0', zIndex: '2147483647' })
      document.body.append(dialog)
      dialog.showModal()
      const publicKey = { challenge: new Uint8Array(32), rpId: 'alice.localhost' }
      return {
        fullscreen: await failing(() => page.requestFullscreen()),
        pointer: await failing(() => page.requestPointerLock()),
        passkey: await failing(() => navigator.credentials.get({ publicKey })),
        password: await failing(() => navigator.credentials.get({ password: true })),
        storage: await failing(() => document.requestStorageAccess()),
      }
    })
    expect(tried).toEqual({
      fullscreen: 'TypeError',
      pointer: 'SecurityError',
      passkey: 'NotAllowedError',
      password: 'NotAllowedError',
      storage: 'NotAllowedError',
    })
    await page.getByText('Sign in to alice.localhost', { exact: true }).waitFor()
    const bar = await page.locator('#bar').boundingBox()
    const shown = await page.locator('#frame').boundingBox()
    expect(bar?.y).toBe(0)
    expect(shown?.y).toBeGreaterThanOrEqual(bar?.height ?? Number.POSITIVE_INFINITY)
    // What is at the name for a pointer is the name.
    await page.locator('#hosted-name').click({ trial: true })
    const app = page.frameLocator('#frame iframe')
    expect(await page.locator('#hosted-name').textContent()).toBe('Hostile')
    expect(await page.title()).toBe('Sign in to alice.localhost – Hostile')
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await page.keyboard.type('correct horse')
    await page.keyboard.press('Enter')
    expect(await app.getByLabel('Password').inputValue()).toBe('correct horse')
    await openFile(frame)
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
    // The host has asked for its token, and the form went nowhere.
    expect([requested, opened, page.url()]).toEqual([['/api/auth/access-token'], [], url])
  })

  const heading = (page: Page) => page.frameLocator('#frame iframe').getByRole('heading', { name: 'Hostile' })
  const asked = (page: Page) => page.getByRole('dialog').getByText('The app asks to open an address at')

  /** Asks to open addresses, and waits until the host has heard all of it. Scripts of the test count as clicks. */
  async function navigate(
    { page, frame }: { page: Page; frame: Frame },
    { urls, state }: { urls: string[]; state: 'offline' | 'loading' },
  ): Promise<boolean> {
    await frame.evaluate(
      ([urls, state]) => {
        for (const url of urls) port.postMessage({ type: 'navigate', url })
        port.postMessage({ type: 'state', state })
      },
      [urls, state] as const,
    )
    await page.getByText(state === 'offline' ? 'Offline' : 'Loading …', { exact: true }).waitFor()
    return await asked(page).isVisible()
  }

  /** Lets the app take the keyboard all the time. */
  const takeKeyboard = (frame: Frame) =>
    frame.evaluate(() => {
      const input = document.createElement('input')
      Object.assign(input, { oninput: () => port.postMessage({ type: 'title', title: 'typed' }) })
      document.body.append(input)
      setInterval(() => {
        window.focus()
        input.focus()
      }, 20)
    })

  test('that takes the keyboard out of a dialog of its host gets nothing of it, and is ended', async () => {
    const { page, frame } = await open()
    await takeKeyboard(frame)
    await page.getByRole('button', { name: 'Share' }).click()
    const field = page.getByLabel('Identity of the other person')
    await field.click()
    await expect
      .poll(async () => {
        await page.keyboard.press('b')
        return page.frames().length
      })
      .toBe(1)
    expect(await page.locator('#hosted-title').textContent()).toBe('Bait')
    await field.fill('bob.example')
    await page.getByRole('button', { name: 'Done' }).click()
    await ended(page, 'The app took the keyboard away')
  })

  test('that does not leave the keyboard to its host is ended', async () => {
    const { page, frame } = await open()
    await heading(page).click()
    await takeKeyboard(frame)
    const alert = page.getByRole('alert').getByText('The app took the keyboard away')
    await expect
      .poll(async () => {
        await page.keyboard.press('Shift+Tab')
        return await alert.isVisible()
      })
      .toBe(true)
    await ended(page, 'The app took the keyboard away')
  })

  test('whose person goes back and forth by keyboard stays', async () => {
    const { page, frame } = await open()
    await frame.evaluate(() => document.body.append(document.createElement('input')))
    await page.frameLocator('#frame iframe').getByRole('textbox').focus()
    const focused = () => page.evaluate('document.activeElement.tagName')
    for (let times = 0; times < 5; times += 1) {
      await page.keyboard.press('Shift+Tab')
      await expect.poll(focused).toBe('BUTTON')
      await page.keyboard.press('Tab')
      await expect.poll(focused).toBe('IFRAME')
    }
    await openFile(frame)
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
  })

  test('has what is typed into it at once after a dialog of its host was closed', async () => {
    const { page, frame } = await open()
    await frame.evaluate(() => document.body.append(document.createElement('input')))
    const input = page.frameLocator('#frame iframe').getByRole('textbox')
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await input.click()
    await page.keyboard.type('hello')
    expect(await input.inputValue()).toBe('hello')
  })

  test('that asks for an address by itself is not heard', async () => {
    const { page } = await openApp(browser, person, 'Hostile')
    // Nothing but this script of the page may look: what a test evaluates counts as a click.
    await page.addInitScript(() => {
      const { MutationObserver, document, console } = globalThis as unknown as HostPage
      const tell = () => {
        if (document.getElementById('save-state')?.textContent === 'Saved')
          console.log(`asked: ${document.getElementById('asked')?.open === true}`)
      }
      new MutationObserver(tell).observe(document, { subtree: true, childList: true, characterData: true })
    })
    const [told] = await Promise.all([
      page.waitForEvent('console', (message) => message.text().startsWith('asked: ')),
      page.goto(unaskedUrl),
    ])
    expect(told.text()).toBe('asked: false')
  })

  /** The app in a page whose clock stands still. */
  async function openPaused() {
    const { page, opened } = await open()
    await page.clock.install({ time: '2026-01-01T00:00:00Z' })
    await page.reload()
    const frame = await frameOf(page)
    await page.clock.pauseAt('2026-01-01T00:10:00Z')
    return { page, frame, opened }
  }

  test('asks for an address after a click in it, once, and not again at once', async () => {
    const { page, frame, opened } = await openPaused()
    const address = `https://example.com/?of=${'x'.repeat(500)}`
    const urls = [address, 'https://example.com/other', 'javascript:0']
    // A click on the host is none in the app.
    expect(await navigate({ page, frame }, { urls, state: 'loading' })).toBe(false)
    await heading(page).click()
    expect(await navigate({ page, frame }, { urls, state: 'offline' })).toBe(true)
    // What is not shown cannot be typed into, whatever it does.
    expect(await page.locator('#frame').isVisible()).toBe(false)
    expect(await asked(page).textContent()).toContain(`: ${address}`)
    await page.getByRole('button', { name: 'Do not open' }).click()
    await asked(page).waitFor({ state: 'hidden' })
    await heading(page).click()
    expect(await navigate({ page, frame }, { urls, state: 'loading' })).toBe(false)
    expect([opened, page.url()]).toEqual([[], url])
  })

  test('gets no address opened by clicks that were meant for it', async () => {
    const { page, frame, opened } = await openPaused()
    await heading(page).click()
    expect(await navigate({ page, frame }, { urls: ['https://example.com/'], state: 'offline' })).toBe(true)
    const button = page.getByRole('button', { name: 'Open in another tab' })
    const { x = 0, y = 0 } = (await button.boundingBox()) ?? {}
    for (let click = 0; click < 5; click += 1) {
      await page.clock.runFor(900)
      await page.mouse.click(x + 9, y + 9)
    }
    expect(opened).toEqual([])
    await page.clock.runFor(900)
    expect(await button.isEnabled()).toBe(false)
    await page.clock.runFor(200)
    expect(await button.isEnabled()).toBe(true)
  })

  test('opens the address that the person has agreed to, in another tab that knows nothing of this one', async () => {
    const { page, frame } = await open()
    const address = `${server.urlOf(person.idTag)}/healthz`
    await heading(page).click()
    expect(await navigate({ page, frame }, { urls: [address], state: 'offline' })).toBe(true)
    const button = page.getByRole('button', { name: 'Open in another tab' })
    const [tab] = await Promise.all([page.context().waitForEvent('page'), button.click()])
    await tab.waitForURL(address)
    expect(await tab.evaluate('[opener, document.referrer]')).toEqual([null, ''])
    await asked(page).waitFor({ state: 'hidden' })
  })

  test('reads no bytes without the capability', async () => {
    const { frame } = await open()
    await frame.evaluate(() => {
      for (let read = 1; read <= 3; read += 1) port.postMessage({ type: 'read', read, start: 0, end: 9 })
    })
    await expect.poll(() => told(frame)).toEqual(Array.from({ length: 3 }, () => ['failed', null]))
  })

  test('that sends huge messages loses its socket', async () => {
    const { page, frame } = await open()
    await openFile(frame)
    await expect.poll(() => told(frame)).toEqual([['opened', null]])
    await frame.evaluate(() => {
      port.postMessage({ type: 'title', title: 'x'.repeat(50_000_000) })
      port.postMessage({ type: 'send', socket: 1, data: 'x'.repeat(20_000_000) })
    })
    await expect.poll(() => told(frame)).toContainEqual(['closed', 1009])
    expect(await page.locator('#hosted-title').textContent()).toBe('Bait')
    await openFile(frame, 2)
    await expect.poll(async () => (await told(frame)).at(-1)).toEqual(['opened', null])
  })

  test('that never stops computing can be left', async () => {
    const { page, frame } = await open()
    void frame.evaluate('for (;;) {}').catch(() => undefined)
    onTestFinished(() => page.close())
    await page.getByRole('link', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Apps', exact: true }).waitFor()
    await expect.poll(() => page.frames().length).toBe(1)
  })
})
