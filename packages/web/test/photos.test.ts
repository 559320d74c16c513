import { type Client, uploadFile } from '@kith/client'
import { listFiles } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { inWindow, namesIn } from './harness/file-steps.ts'
import { typeQuickly } from './harness/focus.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { picture } from './harness/picture.ts'
import { anna, ben, startSmallTown } from './harness/small-town.ts'

const months = ['2026-05', '2026-02', '2025-11', '2024-08']

withChromium('photos', (launch) => {
  let browser: Browser
  let server: TestServer
  let a: Client
  let folderId: string
  beforeAll(async () => {
    browser = await launch()
    const town = await startSmallTown()
    server = town.server
    folderId = town.folderId
    a = await server.as(anna)
    for (const [index, month] of months.entries())
      for (const day of ['03', '17', '24']) {
        const createdAt = new Date(`${month}-${day}T12:00:00Z`)
        await uploadFile(a, await picture(index * 90, 300, 200), {
          fileName: `${month} ${day}.jpg`,
          createdAt,
        })
      }
    await server.settle()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, options: object = {}) =>
    openApp(browser, server, { idTag: anna, path, viewport: desk, ...options })
  const photo = (page: Page, name: string) => page.getByRole('button', { name: `Picture: ${name}` })
  const toolbar = (page: Page, count: number) => page.getByRole('toolbar', { name: `${count} selected` })
  /** Each month is asked for by itself. */
  const allMonths = async (page: Page) => {
    for (const name of [...months.map((month) => `${month} 03.jpg`), 'portrait.jpg'])
      await photo(page, name).waitFor()
  }

  test('stand by month, and are stepped through by keys', async () => {
    const { page, faults } = await open('/files/photos')
    const photos = page.getByRole('region').getByRole('button', { name: /^Picture/ })
    await allMonths(page)
    expect(await axeFindings(page)).toEqual([])
    await photos.first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    const viewer = page.getByRole('dialog')
    await viewer.getByText(/^2 of/).waitFor()
    await page.goBack()
    await viewer.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test.each([
    ['desk', desk],
    ['phone', phone],
  ])('are shown when one among them is opened: %s', async (_, viewport) => {
    const { page, faults } = await open('/files/photos', { viewport })
    await photo(page, '2026-05 03.jpg').click()
    await inWindow(page, '2026-05 03.jpg')
    expect(faults).toEqual([])
  })

  test('are found by the first letters of their names, and have a menu by its key', async () => {
    const { page, faults } = await open('/files/photos')
    await allMonths(page)
    await photo(page, 'portrait.jpg').focus()
    await typeQuickly(page, '2025')
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Picture: 2025-11 24.jpg')
    await page.keyboard.press('ContextMenu')
    await page.getByRole('menu', { name: 'Actions for 2025-11 24.jpg' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('of a person are those of the posts, and lead to them', async () => {
    const { page, faults } = await open(`/profiles/${ben}?show=photos`)
    const photos = page.getByRole('list', { name: 'Photos' })
    const shown = photos.getByRole('img', { name: 'A sun over coloured hills' })
    await expect.poll(() => shown.count()).toBe(3)
    const width = () =>
      shown.first().evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)
    await expect.poll(width).toBeGreaterThan(1)
    expect(await axeFindings(page)).toEqual([])
    await photos.getByRole('link').first().click()
    await page.getByRole('article', { name: /Three evenings in the hills/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('are selected by keys, mouse and box, over months', async () => {
    const { page, faults } = await open('/files/photos')
    await allMonths(page)
    await photo(page, '2026-05 24.jpg').focus()
    await page.keyboard.press('Space')
    await toolbar(page, 1).waitFor()
    await page.keyboard.press('Shift+ArrowRight')
    await toolbar(page, 2).waitFor()
    await photo(page, '2026-02 17.jpg').click({ modifiers: ['Shift'] })
    await toolbar(page, 5).waitFor()
    await photo(page, '2024-08 03.jpg').click({ modifiers: ['Control'] })
    await toolbar(page, 6).waitFor()
    await page.getByRole('checkbox', { name: 'Select 2024-08 03.jpg' }).uncheck()
    await toolbar(page, 5).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('toolbar').waitFor({ state: 'detached' })
    await photo(page, '2024-08 03.jpg').focus()
    await page.keyboard.press('Control+a')
    // Twelve, and the seven that Anna had; what Ben has shown her stands under Received.
    await toolbar(page, 19).waitFor()
    expect(faults).toEqual([])
  })

  test('are selected by holding, then tagged, moved and deleted together', async () => {
    const { page, context, faults } = await open('/files/photos', {
      viewport: phone,
      hasTouch: true,
      isMobile: true,
    })
    const first = photo(page, '2026-05 03.jpg')
    await first.scrollIntoViewIfNeeded()
    const box = await first.boundingBox()
    const touch = await context.newCDPSession(page)
    const at = { x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + 60 }
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
    await toolbar(page, 1).waitFor()
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await photo(page, '2026-05 17.jpg').click()
    await toolbar(page, 2).getByRole('button', { name: 'Tags' }).click()
    await page.getByRole('textbox', { name: 'Tags' }).fill('spring')
    await page.getByRole('button', { name: 'Save' }).click()
    const tagged = async () => (await a.call(listFiles, { query: { tags: ['spring'] } })).data.length
    await expect.poll(tagged).toBe(2)
    await page.getByRole('toolbar').waitFor({ state: 'detached' })
    const hold = photo(page, '2026-05 03.jpg')
    await hold.focus()
    await page.keyboard.press('Space')
    await toolbar(page, 1).getByRole('button', { name: 'Move' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move 1 file' })
    await dialog.getByRole('button', { name: 'Summer in the hills' }).click()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await expect.poll(() => namesIn(a, folderId)).toContain('2026-05 03.jpg')
    // It stays among the photos.
    await photo(page, '2026-05 03.jpg').focus()
    await page.keyboard.press('Delete')
    await photo(page, '2026-05 03.jpg').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await photo(page, '2026-05 03.jpg').waitFor()
    await expect.poll(() => namesIn(a, folderId)).toContain('2026-05 03.jpg')
    expect(faults).toEqual([])
  })

  test('are led through by month, by keys and by dragging', async () => {
    const { page, faults } = await open('/files/photos', { viewport: { width: 800, height: 420 } })
    const slider = page.getByRole('slider', { name: 'Month' })
    await allMonths(page)
    const said = () => slider.getAttribute('aria-valuetext')
    const isSeen = (month: string) =>
      expect
        .poll(() =>
          page.getByRole('heading', { level: 2, name: month }).evaluate((heading: Measured) => {
            const { top } = heading.getBoundingClientRect()
            return top >= 0 && top < 420
          }),
        )
        .toBe(true)
    await slider.focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(said).toBe('February 2026, 3 photos')
    await page.keyboard.press('PageDown')
    await expect.poll(said).toBe('November 2025, 3 photos')
    await isSeen('November 2025')
    await page.keyboard.press('End')
    await expect.poll(said).toBe('August 2024, 3 photos')
    await isSeen('August 2024')
    const box = await slider.boundingBox()
    const [x, top, height] = [(box?.x ?? 0) + 10, box?.y ?? 0, box?.height ?? 0]
    await page.mouse.move(x, top + height * 0.9)
    await page.mouse.down()
    await page.mouse.move(x, top + height * 0.5, { steps: 4 })
    await expect.poll(said).toMatch(/2026|2025/)
    await page.mouse.move(x, top + 1, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('0')
    expect(faults).toEqual([])
  })
})

interface Measured {
  getBoundingClientRect(): { readonly top: number }
}
