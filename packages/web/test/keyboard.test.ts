import { listActions, listFiles } from '@kith/protocol'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import { type TestServer, testPassword } from '../../server/test/harness/test-server.ts'
import { screenTable } from '../src/app/screen-table.ts'
import { typeQuickly } from './harness/focus.ts'
import { axeFindings, desk, openApp, startWebServer } from './harness/open-app.ts'
import { act } from './harness/people.ts'

const home = 'home.localhost'

let server: TestServer
function useServer(): void {
  beforeAll(async () => {
    server ??= await startWebServer({ baseIdTag: home })
  })
}
afterAll(async () => {
  await server?.stop()
})

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true })
const isFocused = (locator: Locator) =>
  locator.evaluate((element) => element === element.ownerDocument.activeElement)

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Goes on by Tab until this has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 60 && !(await isFocused(target)); presses += 1)
    await page.keyboard.press('Tab')
  expect(await isFocused(target)).toBe(true)
}

withChromium('by keys alone', (launch) => {
  useServer()

  test('one signs in, posts, uploads and changes a setting', async () => {
    const { page, faults } = await openPage(await launch(), { viewport: desk, serviceWorkers: 'block' })
    await page.goto(`${server.urlOf(home)}/login`)
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type(testPassword)
    await press(page, 'Enter')
    await page.waitForURL((url) => !url.pathname.startsWith('/login'))
    await page.goto(`${server.urlOf(home)}/`)
    await heading(page, 'Home').waitFor()
    await press(page, 'n')
    await page.getByRole('textbox', { name: 'Text' }).waitFor()
    await expect.poll(() => isFocused(page.getByRole('textbox', { name: 'Text' }))).toBe(true)
    await page.keyboard.type('Written without a mouse')
    await press(page, 'Control+Enter')
    await page.getByText('Your post leaves soon').first().waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await typeQuickly(page, 'gd')
    await heading(page, 'Files').waitFor()
    const chooser = page.waitForEvent('filechooser')
    await tabTo(page, page.getByRole('button', { name: 'Upload', exact: true }))
    await press(page, 'Enter')
    const buffer = Buffer.from('Bread, milk, plums')
    await (await chooser).setFiles({ name: 'shopping.txt', mimeType: 'text/plain', buffer })
    await page.getByRole('row').filter({ hasText: 'shopping.txt' }).waitFor()
    await typeQuickly(page, 'gs')
    await heading(page, 'Settings').waitFor()
    await tabTo(page, page.getByRole('link', { name: /^Look and language/ }))
    await press(page, 'Enter')
    await heading(page, 'Look and language').waitFor()
    await tabTo(page, page.getByRole('checkbox', { name: 'Less motion' }))
    await press(page, ' ')
    await expect.poll(() => page.evaluate('document.documentElement.dataset.motion')).toBe('less')
    const client = await server.as(home)
    const posted = async () => (await client.call(listActions, { query: { type: ['POST'] } })).data.length
    await expect.poll(posted).toBe(1)
    const names = async () =>
      (await client.call(listFiles, { query: {} })).data.map(({ fileName }) => fileName)
    await expect.poll(names).toContain('shopping.txt')
    expect(faults).toEqual([])
  })

  test('a key lists all keys, and the focus goes back to where it was', async () => {
    const { page, faults } = await openApp(await launch(), server, {
      idTag: home,
      path: '/files',
      viewport: desk,
    })
    const upload = page.getByRole('button', { name: 'Upload', exact: true })
    await upload.focus()
    await press(page, '?')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await list.getByText('Show these keys').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await press(page, 'n')
    await press(page, 'Escape')
    await list.waitFor({ state: 'detached' })
    await heading(page, 'Files').waitFor()
    await expect.poll(() => isFocused(upload)).toBe(true)
    expect(faults).toEqual([])
  })

  test('keys are given to other tasks, and switched off', async () => {
    const at = { idTag: home, path: '/settings/look', viewport: desk }
    const { page, faults } = await openApp(await launch(), server, at)
    const change = (name: RegExp) => page.getByRole('button', { name })
    await change(/“Write a new post”, now n/).press('Enter')
    expect(await axeFindings(page)).toEqual([])
    await press(page, 'c')
    await page.getByText('The key of “Write a new post” is c now.').waitFor()
    await change(/“Search”, now/).press('Enter')
    await press(page, 'c')
    await page.getByText('“Write a new post” has the key / instead.').waitFor()
    await change(/“Search”, now c/).press('Enter')
    await press(page, 'Escape')
    await page.reload()
    await heading(page, 'Look and language').waitFor()
    await press(page, '/')
    await heading(page, 'New post').waitFor()
    await page.goBack()
    await heading(page, 'New post').waitFor({ state: 'detached' })
    await press(page, 'c')
    await heading(page, 'Search').waitFor()
    await page.goBack()
    await heading(page, 'Search').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'All keys as they were at first' }).press('Enter')
    await change(/“Search”, now \//).waitFor()
    await page.getByRole('checkbox', { name: 'Shortcuts with single keys' }).press(' ')
    await change(/“Search”/).waitFor({ state: 'detached' })
    await heading(page, 'Look and language').focus()
    await press(page, 'n', '?', 'g', 'h')
    await heading(page, 'Look and language').waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(faults).toEqual([])
  })
})

withChromium('by keys alone, further', (launch) => {
  useServer()
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })

  test('two keys lead to each screen, whose heading has the focus', async () => {
    const { page, faults } = await openApp(browser, server, {
      idTag: home,
      path: '/settings/log',
      viewport: desk,
    })
    await heading(page, 'Account history').waitFor()
    for (const row of screenTable) {
      if (!('nav' in row)) continue
      await typeQuickly(page, `g${row.nav.key}`)
      await expect.poll(() => new URL(page.url()).pathname).toBe(row.path)
      // The composer has the focus where one writes.
      if (row.path !== '/new')
        await expect.poll(() => isFocused(page.getByRole('heading', { level: 1 }).first())).toBe(true)
      else {
        await page.getByRole('dialog').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
    }
    expect(faults).toEqual([])
  })

  test('a menu, and the dialog that it opens, give the focus back', async () => {
    const [actionId = ''] = await act(server, home, { type: 'POST', content: { text: 'About menus' } })
    const { page, faults } = await openApp(browser, server, { idTag: home, path: `/posts/${actionId}` })
    const menu = page.getByRole('button', { name: /^More about the post/ })
    await menu.waitFor()
    await menu.press('Enter')
    const first = page.getByRole('menuitem').first()
    await expect.poll(() => isFocused(first)).toBe(true)
    await press(page, 'Escape')
    await expect.poll(() => isFocused(menu)).toBe(true)
    await menu.press('Enter')
    await expect.poll(() => isFocused(first)).toBe(true)
    await page.getByRole('menuitem', { name: /^Delete/ }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await press(page, 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => isFocused(menu)).toBe(true)
    expect(faults).toEqual([])
  })
})
