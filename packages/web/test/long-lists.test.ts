import { createFile } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { focusedText, typeQuickly } from './harness/focus.ts'
import { axeFindings, openApp, startWebServer } from './harness/open-app.ts'
import { tallListScript } from './harness/tall-list.ts'

const anna = 'anna.localhost'
const count = 150

withChromium('long lists', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: anna })
    const a = await server.as(anna)
    for (let at = 0; at < count; at += 1)
      await a.call(createFile, {
        body: { fileTp: 'FLDR', fileName: `Folder ${String(at).padStart(3, '0')}` },
      })
    // The others are nowhere, and have no profile.
    await server.createTenant('friend000.localhost', { name: 'friend000' })
    for (let at = 0; at < count; at += 1)
      await server.relate(anna, `friend${String(at).padStart(3, '0')}.localhost`, { connection: 'connected' })
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('of files render what is near alone, and keys lead to the end and back', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/files' })
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
    await row('Folder 000').focus()
    const loaded = async () => {
      await page.keyboard.press('End')
      return await focusedText(page)
    }
    await expect.poll(loaded).toContain('Folder 149')
    await expect.poll(() => row('Folder 149').getAttribute('aria-rowindex')).toBe('150')
    await expect.poll(() => page.getByRole('row').count()).toBeLessThan(60)
    await page.keyboard.press('Home')
    await expect.poll(() => focusedText(page)).toContain('Folder 000')
    await expect.poll(() => row('Folder 000').isVisible()).toBe(true)
    // The focus is not lost when what has it is scrolled away.
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await row('Folder 149').waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focusedText(page)).toContain('Folder 001')
    await page.keyboard.press('Control+a')
    await page.getByRole('toolbar', { name: `${count} selected` }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('of people are loaded as one goes down, each line with its place', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/people' })
    const list = page.getByRole('list', { name: 'Connections' })
    await list.getByRole('listitem').first().waitFor()
    const toEnd = async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      return await list.getByRole('listitem').last().getAttribute('aria-posinset')
    }
    await expect.poll(toEnd).toBe(String(count))
    await expect
      .poll(() => list.getByRole('listitem').last().getAttribute('aria-setsize'))
      .toBe(String(count))
    await expect.poll(() => list.getByRole('listitem').count()).toBeLessThan(60)
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('of people are gone through by arrows, Home, End and letters', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/people' })
    const list = page.getByRole('list', { name: 'Connections' })
    await list.getByRole('link', { name: /friend000/ }).focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focusedText(page)).toContain('friend001')
    await page.keyboard.press('j')
    await expect.poll(() => focusedText(page)).toContain('friend002')
    const toEnd = async () => {
      await page.keyboard.press('End')
      return await focusedText(page)
    }
    await expect.poll(toEnd).toContain('friend149')
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => focusedText(page)).toContain('friend148')
    await typeQuickly(page, 'friend07')
    await expect.poll(() => focusedText(page)).toContain('friend070')
    await page.keyboard.press('Home')
    await expect.poll(() => focusedText(page)).toContain('friend000')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /friend000/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('that are taller than a browser allows are reached to their last line', async () => {
    const lines = 500_000
    const { page } = await openPage(browser)
    await page.setContent('<!doctype html><style>body { margin: 0 } ul { margin: 100px 0 0 }</style>')
    await page.addScriptTag({ content: await tallListScript(lines), type: 'module' })
    await page.getByText('Line 0', { exact: true }).waitFor()
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByText(`Line ${lines - 1}`, { exact: true }).waitFor()
    const bottom = `document.querySelector('li:last-child').getBoundingClientRect().bottom - innerHeight`
    await expect.poll(() => page.evaluate(`Math.abs(${bottom}) < 4`)).toBe(true)
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)')
    await page
      .getByText(/^Line 2(49|50)\d\d\d$/)
      .first()
      .waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await page.getByText('Line 0', { exact: true }).waitFor()
  })
})
