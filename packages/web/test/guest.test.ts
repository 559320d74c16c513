import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import { createFile, createReference, listFiles } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { chooseFiles, filesIn, namesIn, pictureFile } from './harness/file-steps.ts'
import { axeFindings, desk, phone } from './harness/open-app.ts'
import { anna, startSmallTown } from './harness/small-town.ts'

withChromium('guests with a link', (launch) => {
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

  const linkTo = async (resourceId: string, accessLevel: 'read' | 'write') => {
    const body = { type: 'share.file', resourceId, accessLevel, count: null } as const
    const { data } = await a.call(createReference, { body })
    return `${server.urlOf(anna)}/shared#token=${data.refId}`
  }
  const visit = async (url: string, options: object = {}) => {
    const opened = await openPage(browser, { viewport: phone, ...options })
    await opened.page.goto(url)
    await opened.page.getByRole('button', { name: 'Show it' }).click()
    return opened
  }
  const makeFolder = async (fileName: string) =>
    (await a.call(createFile, { body: { fileTp: 'FLDR', fileName } })).data.fileId
  const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth')

  test('see pictures as tiles, and step through them by keys and swipes', async () => {
    const { page, context, faults } = await visit(await linkTo(folderId, 'read'), {
      hasTouch: true,
      isMobile: true,
    })
    await page.getByRole('heading', { level: 1, name: 'Summer in the hills' }).waitFor()
    const first = page.getByRole('button', { name: 'Open evening-0.jpg' })
    await first.waitFor()
    expect(await page.getByRole('button', { name: 'Add photos or files' }).count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(phone.width)
    await first.tap()
    const viewer = page.getByRole('dialog', { name: 'evening-0.jpg' })
    await viewer.getByRole('img', { name: 'evening-0.jpg' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    const touch = await context.newCDPSession(page)
    await touch.send('Input.synthesizeScrollGesture', { x: 300, y: 400, xDistance: -280, speed: 1200 })
    await page.getByRole('dialog', { name: 'evening-40.jpg' }).waitFor()
    const strip = page.locator('#viewer-strip')
    const slidesAside = () => strip.evaluate(({ scrollLeft, clientWidth }) => scrollLeft / clientWidth)
    await expect.poll(slidesAside).toBeCloseTo(1)
    await page.keyboard.press('End')
    await page.getByRole('dialog', { name: 'evening-300.jpg' }).getByText('6 of 6').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download evening-300.jpg' }).last().click()
    expect((await downloading).suggestedFilename()).toBe('evening-300.jpg')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Open evening-0.jpg')
    expect(faults).toEqual([])
  })

  test('see a list where they want one, and save everything as one archive', async () => {
    const { page, faults } = await visit(await linkTo(folderId, 'read'), {
      viewport: desk,
      colorScheme: 'dark',
    })
    await page.getByRole('button', { name: 'Show as a list' }).click()
    await page.getByRole('link', { name: 'Download evening-40.jpg' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Show as pictures' }).waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download everything (zip)' }).click()
    expect((await downloading).suggestedFilename()).toBe('Summer in the hills.zip')
    expect(faults).toEqual([])
  })

  test('add photos without an account, with a link that lets write', async () => {
    const party = await makeFolder('Party')
    const { page, faults } = await visit(await linkTo(party, 'write'))
    await page.getByText('There is nothing in this folder.').waitFor()
    expect(await axeFindings(page)).toEqual([])
    const photo = await pictureFile('cake.jpg', 20)
    await chooseFiles(page, 'Add photos or files', [photo, await pictureFile('dance.jpg', 200)])
    await page.getByText('2 files have arrived.').waitFor()
    await page.getByRole('button', { name: 'Open cake.jpg' }).waitFor()
    await chooseFiles(page, 'Add photos or files', [photo])
    await page.getByText('Your file has arrived.').waitFor()
    await expect.poll(() => namesIn(a, party)).toEqual(['cake (2).jpg', 'cake.jpg', 'dance.jpg'])
    expect((await filesIn(a, party)).map(({ owner }) => owner.idTag)).toEqual([anna, anna, anna])
    await page.getByRole('button', { name: 'Open cake (2).jpg' }).waitFor()
    expect(await widthOf(page)).toBeLessThanOrEqual(phone.width)
    expect(faults).toEqual([])
  })

  test('lose nothing of a large film when the connection breaks', async () => {
    const party = await makeFolder('Wedding')
    const { page, context } = await visit(await linkTo(party, 'write'))
    await page.getByText('There is nothing in this folder.').waitFor()
    const pieces: string[] = []
    await page.route('**/api/uploads/*', async (route) => {
      const request = route.request()
      if (request.method() === 'PATCH') pieces.push(request.headers()['upload-offset'] ?? '')
      return pieces.length === 2 ? route.abort() : route.continue()
    })
    // From the disk: to hand over so many bytes takes the browser long.
    const folder = await mkdtemp(join(tmpdir(), 'kith-film-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const film = join(folder, 'film.bin')
    await writeFile(film, Buffer.alloc(17 * 2 ** 20))
    await chooseFiles(page, 'Add photos or files', film)
    await page.getByText('The connection is interrupted. It goes on by itself.').waitFor()
    pieces.push('cut')
    await context.setOffline(true)
    await context.setOffline(false)
    await page.getByText('Your file has arrived.').waitFor()
    const { data } = await a.call(listFiles, { query: { parentId: party } })
    expect(data.map(({ fileName, size }) => [fileName, size])).toEqual([['film.bin', 17 * 2 ** 20]])
    expect(pieces.filter((piece) => piece === '0')).toHaveLength(1)
  })
})
