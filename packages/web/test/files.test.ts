import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import { createFile, listFiles, putSetting } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { chooseFiles, inWindow, namesIn, pictureFile, rowOf } from './harness/file-steps.ts'
import { focusedText, typeQuickly } from './harness/focus.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { anna, startSmallTown } from './harness/small-town.ts'

withChromium('files', (launch) => {
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
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, options: object = {}) =>
    openApp(browser, server, { idTag: anna, path, viewport: desk, ...options })
  test('what others sent stands by itself, and not among one’s own files and photos', async () => {
    await server.settle()
    const { page, go, faults } = await open('/files/received')
    await rowOf(page, 'hills-140.jpg').waitFor()
    await expect.poll(() => axeFindings(page)).toEqual([])
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Files' }).click()
    await rowOf(page, 'Summer in the hills').waitFor()
    await expect.poll(() => rowOf(page, 'hills-140.jpg').count()).toBe(0)
    await go('/files/photos')
    await page
      .getByRole('button', { name: /^Picture: evening/ })
      .first()
      .waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Picture: hills-140.jpg' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('a folder is made, filled, renamed, moved to the trash and put back, by mouse', async () => {
    const { page, faults } = await open('/files')
    // What is beside the rail.
    const width = async () => (await page.getByRole('main').boundingBox())?.width ?? 0
    await expect.poll(width).toBeGreaterThan(900)
    await page.getByRole('button', { name: 'New folder' }).click()
    await page.getByRole('textbox', { name: 'Name of the folder' }).fill('Choir')
    await page.getByRole('button', { name: 'Create' }).click()
    await rowOf(page, 'Choir').click()
    await page.getByRole('heading', { level: 1, name: 'Choir' }).waitFor()
    await chooseFiles(page, 'Upload', [
      await pictureFile('rehearsal.jpg', 10),
      await pictureFile('concert.jpg', 90),
    ])
    await page.getByText('2 files uploaded').waitFor()
    await rowOf(page, 'rehearsal.jpg').waitFor()
    await page.getByRole('button', { name: 'Actions for rehearsal.jpg' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'New name' }).fill('first rehearsal.jpg')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('checkbox', { name: 'Select first rehearsal.jpg' }).click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 file moved to the trash.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 file restored.').waitFor()
    await rowOf(page, 'first rehearsal.jpg').waitFor()
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Files' }).click()
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
    expect(faults).toEqual([])
  })

  test('keys alone lead through a list, select, open and close', async () => {
    const { page, faults } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').focus()
    await page.keyboard.press('End')
    await expect.poll(() => focusedText(page)).toContain('evening-300.jpg')
    await page.keyboard.press('Home')
    await page.keyboard.press('Shift+ArrowDown')
    await page.getByRole('toolbar', { name: '2 selected' }).waitFor()
    await page.keyboard.press('Control+a')
    await page.getByRole('toolbar', { name: '6 selected' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('toolbar').waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    const viewer = page.getByRole('dialog', { name: 'evening-40.jpg' })
    await viewer.waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog', { name: 'evening-80.jpg' }).getByText('3 of 6').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test.each([
    ['desk', desk],
    ['phone', phone],
  ])('a picture in the middle of a list is shown when it is opened: %s', async (_, viewport) => {
    const { page, faults } = await open(`/files/${folderId}`, { viewport })
    await rowOf(page, 'evening-240.jpg').click()
    await inWindow(page, 'evening-240.jpg')
    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await inWindow(page, 'evening-200.jpg')
    await page.reload()
    await inWindow(page, 'evening-200.jpg')
    expect(faults).toEqual([])
  })

  test('a folder is uploaded with the folders in it, and a menu opens by keys', async () => {
    const chosen = await mkdtemp(join(tmpdir(), 'kith-choir-'))
    onTestFinished(() => rm(chosen, { recursive: true }))
    await mkdir(join(chosen, 'scores/old'), { recursive: true })
    await writeFile(join(chosen, 'scores/old/lark.txt'), 'la')
    await writeFile(join(chosen, 'scores/dove.txt'), 'la la')
    const { page, faults } = await open('/files')
    await chooseFiles(page, 'Upload a folder', join(chosen, 'scores'))
    await page.getByText('2 files uploaded').waitFor()
    await rowOf(page, 'scores').focus()
    await page.keyboard.press('Enter')
    await rowOf(page, 'dove.txt').waitFor()
    await rowOf(page, 'old').getByRole('button', { name: 'Actions for old' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Open' }).press('ArrowDown')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await rowOf(page, 'lark.txt').waitFor()
    const path = page.getByRole('navigation', { name: 'Path' }).getByRole('listitem')
    await expect.poll(() => path.allTextContents()).toEqual(['Files', 'scores', 'old'])
    expect(faults).toEqual([])
  })

  test('letters lead to a file in a list, and its menu opens by the key for menus', async () => {
    const { page, faults } = await open('/files')
    await rowOf(page, 'portrait.jpg').focus()
    await typeQuickly(page, 'sh')
    await expect.poll(() => focusedText(page)).toContain('shopping.txt')
    await page.keyboard.press('ContextMenu')
    await page.getByRole('menu', { name: 'Actions for shopping.txt' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await expect.poll(() => focusedText(page)).toContain('shopping.txt')
    expect(page.url()).toMatch(/\/files$/)
    expect(faults).toEqual([])
  })

  test('what is starred, pinned, tagged, opened and deleted is found again', async () => {
    const { page, go, faults } = await open(`/files/${folderId}`)
    const act = async (name: string, item: string) => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: item, exact: true }).click()
    }
    const place = (name: string) =>
      page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name }).click()
    await act('evening-40.jpg', 'Star')
    await rowOf(page, 'evening-40.jpg').getByText('starred').waitFor({ state: 'attached' })
    await act('evening-80.jpg', 'Pin')
    await rowOf(page, 'evening-80.jpg').getByText('pinned').waitFor({ state: 'attached' })
    await act('evening-200.jpg', 'Tags')
    await page.getByRole('textbox', { name: 'Tags' }).fill('dusk')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('dusk')
    await rowOf(page, 'evening-0.jpg').waitFor({ state: 'detached' })
    await rowOf(page, 'evening-200.jpg').click()
    await page
      .getByRole('dialog', { name: 'evening-200.jpg' })
      .getByRole('img', { name: 'evening-200.jpg' })
      .waitFor()
    // Whoever closes it before its picture has come has not read it. It is noted a second later.
    const readAt = async () => {
      server.clock.advance(1_000)
      const { data } = await a.call(listFiles, { query: { sort: 'recent', search: 'evening-200' } })
      return data[0]?.userData?.accessedAt
    }
    await expect.poll(readAt).toBeDefined()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await place('Recent')
    await rowOf(page, 'evening-200.jpg').waitFor()
    await place('Starred')
    await rowOf(page, 'evening-40.jpg').waitFor()
    await place('Pinned')
    await rowOf(page, 'evening-80.jpg').waitFor()
    await go(`/files/${folderId}`)
    await act('evening-300.jpg', 'Delete')
    await page.getByText('1 file moved to the trash.').waitFor()
    await place('Trash')
    await act('evening-300.jpg', 'Restore')
    await page.getByText('1 file restored.').waitFor()
    await expect.poll(() => namesIn(a, folderId)).toContain('evening-300.jpg')
    expect(faults).toEqual([])
  })

  test('a list is put in order by name and by date, either way, and stays so', async () => {
    const { page, faults } = await open(`/files/${folderId}`)
    const names = async () => {
      const texts = await page.getByRole('row').allTextContents()
      return texts.flatMap((text) => /evening-\d+/.exec(text)?.[0] ?? [])
    }
    const byName = ['evening-0', 'evening-40', 'evening-80', 'evening-200', 'evening-240', 'evening-300']
    await expect.poll(names).toEqual(byName)
    await page.getByRole('button', { name: 'Order: ascending' }).click()
    await expect.poll(names).toEqual(byName.toReversed())
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption({ label: 'Added' })
    await page.getByRole('button', { name: 'Order: descending' }).click()
    await expect.poll(async () => (await names()).toSorted()).toEqual(byName.toSorted())
    await page.reload()
    await page.getByRole('button', { name: 'Order: ascending' }).waitFor()
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption({ label: 'Name' })
    await expect.poll(names).toEqual(byName)
    expect(faults).toEqual([])
  })

  test('several files are saved as one archive', async () => {
    const { page, faults } = await open('/files')
    await page.getByRole('checkbox', { name: 'Select portrait.jpg' }).check()
    await page.getByRole('checkbox', { name: 'Select Summer in the hills' }).check()
    const downloading = page.waitForEvent('download')
    await page.getByRole('toolbar').getByRole('button', { name: 'Download as zip' }).click()
    expect((await downloading).suggestedFilename()).toBe('files.zip')
    expect(faults).toEqual([])
  })

  test('the viewer is swiped, pinched, and tells of a picture, saves and shares it', async () => {
    const { page, context, faults } = await open(`/files/${folderId}`, {
      viewport: phone,
      hasTouch: true,
      isMobile: true,
    })
    await rowOf(page, 'evening-0.jpg').tap()
    await page
      .getByRole('dialog', { name: 'evening-0.jpg' })
      .getByRole('img', { name: 'evening-0.jpg' })
      .waitFor()
    const touch = await context.newCDPSession(page)
    await touch.send('Input.synthesizeScrollGesture', { x: 300, y: 400, xDistance: -280, speed: 1200 })
    const viewer = page.getByRole('dialog', { name: 'evening-40.jpg' })
    await viewer.waitFor()
    await viewer.getByRole('button', { name: 'Details' }).tap()
    await viewer.getByText('900 × 600').waitFor()
    await viewer.getByRole('button', { name: 'Details' }).tap()
    const downloading = page.waitForEvent('download')
    await viewer.getByRole('button', { name: 'Download' }).tap()
    expect((await downloading).suggestedFilename()).toBe('evening-40.jpg')
    await viewer.getByRole('button', { name: 'Share' }).tap()
    await page.getByRole('dialog', { name: 'Share “evening-40.jpg”' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Share “evening-40.jpg”' }).waitFor({ state: 'detached' })
    await touch.send('Input.synthesizePinchGesture', { x: 195, y: 420, scaleFactor: 2 })
    await expect.poll(() => page.evaluate('visualViewport.scale')).toBeGreaterThan(1.5)
    expect(faults).toEqual([])
  })

  test('an unknown folder, and one that is empty, say so', async () => {
    const { page, go } = await open('/files/d1~AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')
    await page.getByText('This page does not exist, or you may not see it.').waitFor()
    await go('/files/trash')
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor()
  })

  test.each([
    ['en-GB', 'light', phone],
    ['de-DE', 'dark', desk],
  ] as const)('lists and viewer are accessible: %s, %s', async (locale, colorScheme, viewport) => {
    await a.call(putSetting, { params: { name: 'language' }, body: { value: locale.slice(0, 2) } })
    onTestFinished(async () => {
      await a.call(putSetting, { params: { name: 'language' }, body: { value: 'en' } })
    })
    const { page, faults } = await open(`/files/${folderId}`, { locale, colorScheme, viewport })
    await rowOf(page, 'evening-0.jpg').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page
      .getByRole('button', { name: locale === 'de-DE' ? 'Als Kacheln zeigen' : 'Show as tiles' })
      .click()
    await rowOf(page, 'evening-0.jpg').click()
    await page
      .getByRole('dialog', { name: 'evening-0.jpg' })
      .getByRole('img', { name: 'evening-0.jpg' })
      .waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  // The last, since its folders fill the lists of what is new.
  test('are selected by mouse and by holding, and all of them are all', async () => {
    const body = { fileTp: 'FLDR', fileName: 'Many' } as const
    const parentId = (await a.call(createFile, { body })).data.fileId
    for (let at = 10; at < 75; at++)
      await a.call(createFile, { body: { fileTp: 'FLDR', fileName: `Box ${at}`, parentId } })
    const { page, context, faults } = await open(`/files/${parentId}`, { hasTouch: true })
    const selected = (count: number) => page.getByRole('toolbar', { name: `${count} selected`, exact: true })
    await rowOf(page, 'Box 10').click({ modifiers: ['Control'] })
    await selected(1).waitFor()
    await rowOf(page, 'Box 12').click({ modifiers: ['Shift'] })
    await selected(3).waitFor()
    await rowOf(page, 'Box 11').click({ modifiers: ['Control'] })
    await selected(2).waitFor()
    await rowOf(page, 'Box 13').click()
    await selected(3).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('toolbar').waitFor({ state: 'detached' })
    const box = await rowOf(page, 'Box 11').boundingBox()
    const touch = await context.newCDPSession(page)
    const at = { x: (box?.x ?? 0) + 200, y: (box?.y ?? 0) + 20 }
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
    await selected(1).waitFor()
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await rowOf(page, 'Box 12').focus()
    // Five more than the first page has.
    await page.keyboard.press('Control+a')
    await selected(65).waitFor()
    expect(faults).toEqual([])
  })
})
