import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'

interface Answer {
  readonly fileId: string
  readonly url: string
  readonly refId: string
  readonly count: number
}

withChromium('the page of what a link shares', (launch) => {
  let browser: Browser
  let server: TestServer
  const fetch = localFetch()
  let token: string
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start({ baseIdTag: home })
    token = await server.signIn(home)
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function send(method: string, path: string, body?: object | Uint8Array<ArrayBuffer>) {
    const isBytes = body instanceof Uint8Array
    const response = await fetch(server.urlOf(home) + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body && { body: isBytes ? body : JSON.stringify(body) }),
    })
    expect(response.ok).toBe(true)
    const { data } = (await response.json()) as { data: Answer }
    return data
  }
  const upload = async (name: string, bytes: Uint8Array<ArrayBuffer>, query = ''): Promise<string> =>
    (await send('POST', `/api/files/default/${encodeURIComponent(name)}${query}`, bytes)).fileId
  const share = async (fileId: string): Promise<string> => {
    const link = { subjectType: 'L', subjectId: 'for friends', permission: 'R' }
    return (await send('POST', `/api/files/${fileId}/shares`, link)).url
  }
  const picture = async () => {
    const pixels = sharp({ create: { width: 600, height: 400, channels: 3, background: 'red' } })
    return new Uint8Array(await pixels.png().toBuffer())
  }

  test('shows a picture with its size, and lets it be saved', async () => {
    const bytes = await picture()
    const url = await share(await upload('red.png', bytes))
    await server.settle()
    const { page, faults } = await openPage(browser)
    await page.goto(url)
    // It is shown once the link was found to be good.
    await page.getByRole('button', { name: 'Show it' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'red.png' }).waitFor()
    await expect.poll(() => page.locator('#about').textContent()).toMatch(/kilobyte|bytes/)
    const preview = page.getByRole('img', { name: 'red.png' })
    await expect
      .poll(() => preview.evaluate((image: { naturalWidth: number }) => image.naturalWidth))
      .toBe(600)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download red.png' }).click()
    expect((await downloading).suggestedFilename()).toBe('red.png')
    expect(faults).toEqual([])
  })

  describe('the other pages of what a link shares', () => {
    test('lists a folder with the folders in it, in German to whoever prefers it', async () => {
      const { fileId } = await send('POST', '/api/files', { fileTp: 'FLDR', fileName: 'Trip' })
      const inner = await send('POST', '/api/files', { fileTp: 'FLDR', fileName: 'Maps', parentId: fileId })
      await upload('<b>.txt', new Uint8Array(3), `?parentId=${fileId}`)
      await upload('map.txt', new Uint8Array(4), `?parentId=${inner.fileId}`)
      const { page, faults } = await openPage(browser, { locale: 'de-AT' })
      await page.goto(await share(fileId))
      await page.getByRole('button', { name: 'Ansehen' }).click()
      await page.getByRole('heading', { name: 'Trip' }).waitFor()
      await expect.poll(() => page.getByRole('listitem').count()).toBe(2)
      await page.getByRole('link', { name: '<b>.txt herunterladen' }).waitFor()
      await page.getByRole('button', { name: 'Den Ordner Maps öffnen' }).click()
      await page.getByRole('link', { name: 'map.txt herunterladen' }).waitFor()
      await page.getByRole('button', { name: 'Zurück zum Ordner darüber' }).click()
      await page.getByRole('heading', { name: 'Trip' }).waitFor()
      expect(faults).toEqual([])
    })

    test('uses the link when it is asked to, once, and says when there is no more', async () => {
      const resourceId = await upload('once.txt', new Uint8Array(3))
      const { refId } = await send('POST', '/api/refs', { type: 'share.file', resourceId, count: 1 })
      const left = async () => (await send('GET', `/api/refs/${refId}`)).count
      const { page } = await openPage(browser)
      await page.goto(`${server.urlOf(home)}/shared#token=${refId}`)
      await page.getByRole('button', { name: 'Show it' }).waitFor()
      expect(await left()).toBe(1)
      await page.getByRole('button', { name: 'Show it' }).click()
      await page.getByRole('heading', { name: 'once.txt' }).waitFor()
      expect(await left()).toBe(0)
      await page.reload()
      await page.getByRole('heading', { name: 'once.txt' }).waitFor()

      const { page: other } = await openPage(browser)
      await other.goto(`${server.urlOf(home)}/shared#token=${refId}`)
      await other.getByRole('heading', { name: 'This link is no longer good' }).waitFor()
      await other.getByText(`Ask ${home} for another one.`).waitFor()
      await other.goto(`${server.urlOf(home)}/shared#token=0123456789ABCDEFabcdefgh`)
      await other.getByText('It is not known here').waitFor()
      expect(await other.getByRole('button').count()).toBe(0)
    })
  })
})
