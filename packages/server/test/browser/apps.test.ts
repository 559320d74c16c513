import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { installApp } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appPackage, offerApp } from '#harness/app-package.ts'
import { openPage, withChromium } from '#harness/browser.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { TestServer } from '#harness/test-server.ts'
import { curiousApp } from './sandboxed-app.ts'

const home = 'home.localhost'
const fetch = localFetch()

withChromium('an app in its frame', (launch) => {
  let browser: Browser
  let server: TestServer
  let address: string
  let elsewhere: string
  // What another origin was asked for.
  const asked: string[] = []
  const foreign = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    response.end('x')
  })
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start({ baseIdTag: home })
    await new Promise<void>((done) => foreign.listen(0, '127.0.0.1', done))
    const owner = await server.as(home)
    elsewhere = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
    const bytes = appPackage({ manifest: { entry: 'curious.html' }, entries: curiousApp(elsewhere) })
    const { actionId, fileId } = await offerApp(owner, { bytes })
    await owner.call(installApp, { body: { actionId } })
    address = `${server.urlOf(home)}/api/files/${fileId}/content/`
  })
  afterAll(async () => {
    await server?.stop()
    foreign.closeAllConnections()
    foreign.close()
  })
  /** Opens a page of the app in a frame, as its host does. */
  async function openApp(path: string) {
    const { page, faults } = await openPage(browser)
    await page.route('**/host', (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': "frame-src 'self'" },
        body: `<!doctype html><script>onmessage = ({ data }) => { window.told = data }</script>
          <iframe sandbox="allow-scripts allow-forms" src="${address}${path}"></iframe>`,
      }),
    )
    await page.goto(`${server.urlOf(home)}/host`)
    return { page, faults }
  }
  /** What the app has asked another origin for, which another page asks last. */
  async function askedElsewhere(page: Page): Promise<string[]> {
    const other = await page.context().newPage()
    await other.goto(`${server.urlOf(home)}/healthz`)
    await other.evaluate(`fetch('${elsewhere}/last')`)
    expect(asked).toContain('/last')
    return asked.splice(0).filter((path) => path !== '/last')
  }

  test('has its own files, and no network, storage or window beyond them', async () => {
    const { page } = await openApp('curious.html')
    await page.waitForFunction('window.told')
    const { allowed, refused } = sorted(await page.evaluate('window.told'))
    expect(allowed).toEqual({
      origin: 'null',
      module: 42,
      style: 'rgb(1, 2, 3)',
      image: 7,
      'own data': 1,
      wasm: true,
      worker: ['null', 200, 'refused'],
      'submit event': 'told',
      // It says so whatever becomes of it.
      beacon: 'sent',
      // Browsers know no way yet to keep a page from it (docs/protocol/apps.md, Sandbox).
      'direct connection': 'candidates',
    })
    expect(refused).toEqual(
      [
        ...['api', 'api without cors', 'another package', 'foreign', 'foreign import', 'event source'],
        ...['socket', 'own socket', 'storage', 'session storage', 'database', 'cookie', 'caches'],
        ...['service worker', 'parent', 'top', 'window', 'eval', 'inline', 'base', 'camera', 'form', 'ping'],
        'worker by its address',
      ].sort(),
    )
    expect(await askedElsewhere(page)).toEqual([])
  })

  test.each(['refresh.html', 'leave.html'])(
    'is not left where its host frames its own origin alone: %s',
    async (path) => {
      const { page, faults } = await openApp(path)
      await expect.poll(() => faults.filter((fault) => fault.includes('frame-src')).length).toBe(1)
      expect(await askedElsewhere(page)).toEqual([])
    },
  )

  test('is no page of a tab, also where the browser has it already', async () => {
    const { page } = await openApp('curious.html')
    await expect.poll(() => page.evaluate('window.told !== undefined')).toBe(true)
    for (const path of ['curious.html', 'pixel.svg', '']) {
      const answer = await page.goto(`${address}${path}`)
      expect(answer?.status()).toBe(404)
    }
    // Without the header, as old browsers ask, a page has no origin, no storage and no API.
    const old = await fetch(`${address}curious.html`)
    const body = await old.text()
    await page.route('**/curious.html', (route) =>
      route.fulfill({ headers: Object.fromEntries(old.headers), body }),
    )
    await page.goto(`${address}curious.html`)
    expect(await page.evaluate('self.origin')).toBe('null')
    await expect(page.evaluate('localStorage.length')).rejects.toThrow('sandboxed')
    await expect(page.evaluate("fetch('/api/me')")).rejects.toThrow('Failed to fetch')
  })
})

function sorted(told: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(told)
  const refused = entries.filter(([, outcome]) => outcome === 'refused').map(([name]) => name)
  return {
    allowed: Object.fromEntries(entries.filter(([, outcome]) => outcome !== 'refused')),
    refused: refused.sort(),
  }
}
