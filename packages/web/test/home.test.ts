import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { axeFindings, openApp, startWebServer } from './harness/open-app.ts'

const home = 'home.localhost'

withChromium('the web app', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: home })
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('opens at the home page of who is signed in', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: home })
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await expect.poll(() => page.title()).toBe('Home – Kith')
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test.each(['/', '/?of=people', '/messages'])(
    'at %s takes every answer that was asked for ahead of it',
    async (path) => {
      const { page, faults } = await openApp(browser, server, { idTag: home, path })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.evaluate('kithBegun.size')).toBe(0)
      expect(faults).toEqual([])
    },
  )

  test('keeps its new cookie when the page is left before the answer is there', async () => {
    const { page, context } = await openApp(browser, server, { idTag: home })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto('about:blank')
    const cookie = async () => (await context.cookies(server.urlOf(home))).map(({ value }) => value).join()
    const before = await cookie()
    const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>()
    // Before the server, as a slow line.
    const line = createServer((asking, answering) => {
      const { method, headers, url } = asking
      const { port } = new URL(server.urlOf(home))
      const to = { host: '127.0.0.1', port, path: url, method, headers }
      const onward = request(to, async (answer) => {
        if (url === '/api/auth/login-token') {
          noteAsked()
          await pause(500)
        }
        answering.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(answering)
      })
      asking.pipe(onward)
    })
    await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
    await page.goto(`http://${home}:${(line.address() as AddressInfo).port}/`, { waitUntil: 'commit' })
    await asked
    await page.goto('about:blank')
    await expect.poll(cookie).not.toBe(before)
    line.close()
    line.closeAllConnections()
  })

  test('forgets what was asked for ahead when another tab signs out while it still loads', async () => {
    const { page, context } = await openApp(browser, server, { idTag: home, path: '/settings' })
    const signOut = page.getByRole('button', { name: 'Sign out' })
    await signOut.waitFor()
    const loading = await context.newPage()
    // The first script comes, the app does not.
    await loading.route(/\.js$/, async (route) => {
      if (/\/begin-[^/]*$/.test(route.request().url())) await route.continue()
    })
    await loading.goto(server.urlOf(home), { waitUntil: 'commit' })
    const begun = () => loading.evaluate('globalThis.kithBegun?.size')
    await expect.poll(begun).toBeGreaterThan(0)
    await signOut.click()
    await expect.poll(begun).toBe(0)
    await page.waitForURL(/\/login/)
    // A context may never close while requests of a page are held back.
    await loading.unrouteAll({ behavior: 'ignoreErrors' })
    await loading.close()
  })

  test('is not what visitors see', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${server.urlOf(home)}/`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Main navigation' }).count()).toBe(0)
  })

  test('sends to the sign-in who is not signed in, and back', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${server.urlOf(home)}/messages`)
    await page.waitForURL(/\/login/)
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('to')).toBe('/messages')
  })
})
