import { uploadFile } from '@kith/client'
import { listSessions, revokeSession } from '@kith/protocol'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { anna, type SmallTown, startSmallTown } from './harness/small-town.ts'
import { moveTo, openKeptApp } from './harness/worker.ts'

// Several loads of a page, and a song.
const slowMs = 60_000

withChromium('pictures, films and what is saved', (launch) => {
  let browser: Browser
  let town: SmallTown
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  }, slowMs)
  afterAll(async () => {
    await town?.server.stop()
  })

  /** The app as the worker serves it: from its second visit on. */
  async function openControlled(path: string) {
    const opened = await openKeptApp(browser, town.server, { idTag: anna, path: '/settings' })
    const { page, context, go } = opened
    const sent = await bearersSent(context)
    const asked: string[] = []
    context.on('request', (request) => {
      if (!request.serviceWorker()) asked.push(request.url())
    })
    await go(path)
    await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null')).toBe(true)
    return { ...opened, asked, sent }
  }

  const mediaOf = (asked: readonly string[]) => asked.filter((url) => /\/api\/(files|profiles)\//.test(url))

  test('have the bearer in their addresses where no worker is yet, and are loaded once', {
    timeout: slowMs,
  }, async () => {
    const asked: string[] = []
    const { page } = await openKeptApp(browser, town.server, { idTag: anna, path: '/settings' })
    await page.evaluate('navigator.serviceWorker.getRegistration().then((known) => known.unregister())')
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(new URL('/', page.url()).href)
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(0)
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await moveTo(page, `/posts/${town.postId}`)
    await page.getByText('The second one!').waitFor()
    await moveTo(page, '/')
    await page.getByText('The choir meets on Thursday at seven.').waitFor()
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(0)
    const media = asked.filter((url) => /\/api\/files\/[^/]+\?variant/.test(url))
    expect(media.length).toBeGreaterThan(0)
    expect(media.filter((url) => !url.includes('token='))).toEqual([])
    expect(new Set(media).size).toBe(media.length)
  })

  test('have no bearer in the addresses of a page that the worker serves', { timeout: slowMs }, async () => {
    const { page, asked, sent, faults } = await openControlled('/')
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(0)
    await moveTo(page, `/files/${town.folderId}`)
    await page.getByText('evening-40.jpg').first().waitFor()
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(2)
    await page.getByRole('checkbox', { name: 'Select evening-40.jpg' }).check()
    await page.getByRole('checkbox', { name: 'Select evening-80.jpg' }).check()
    const archive = page.waitForEvent('download')
    await page.getByRole('toolbar').getByRole('button', { name: 'Download as zip' }).click()
    const saved = await archive
    expect([saved.suggestedFilename(), await saved.failure()]).toEqual(['files.zip', null])
    expect(mediaOf(asked).length).toBeGreaterThan(3)
    expect(asked.filter((url) => url.includes('token='))).toEqual([])
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain('token=')
    // A page that is loaded anew goes on with what the worker has.
    await page.reload()
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(2)
    expect(new Set(await sent()).size).toBe(1)
    expect(faults).toEqual([])
  })

  test('a link that leads to a file from elsewhere brings no bearer', { timeout: slowMs }, async () => {
    const { page, context, sent } = await openControlled(`/files/${town.folderId}`)
    // All that the folder has: none is asked for later.
    await expect.poll(() => picturesOn(page)).toBe(6)
    await expect
      .poll(() => page.evaluate('[...document.images].every(({ complete }) => complete)'))
      .toBe(true)
    const address = (await page.evaluate('document.images[0].src')) as string
    const before = (await sent()).length
    const other = await context.newPage()
    const answer = await other.goto(address)
    expect(answer?.ok()).toBe(false)
    expect((await sent()).length).toBe(before)
  })

  test('what cannot be saved is told, and the page stays', { timeout: slowMs }, async () => {
    const { page, context } = await openControlled('/files')
    await page.getByRole('checkbox', { name: 'Select portrait.jpg' }).check()
    const [worker] = context.serviceWorkers()
    await worker?.evaluate('void (globalThis.fetch = () => Promise.reject(new TypeError("no connection")))')
    await page.getByRole('toolbar').getByRole('button', { name: 'Download' }).click()
    await page.getByText('The file could not be saved. Try again.').waitFor()
    await page.getByText('portrait.jpg').first().waitFor()
  })

  test('a song is played from where one wants, without being loaded whole', { timeout: slowMs }, async () => {
    const client = await town.server.as(anna)
    const song = new Blob([toneOf(120)], { type: 'audio/wav' })
    await uploadFile(client, song, { fileName: 'evening.wav' })
    const { page, faults } = await openControlled('/files')
    const parts: (readonly [number, string | undefined])[] = []
    page.on('response', (answer) => {
      if (answer.request().resourceType() === 'media')
        parts.push([answer.status(), answer.request().headers().range])
    })
    await page.getByText('evening.wav').first().click()
    await page.getByRole('dialog', { name: 'evening.wav' }).waitFor()
    const seek = `new Promise((resolve) => {
      const song = document.querySelector('audio')
      const begin = () => {
        song.onseeked = () => resolve(song.currentTime)
        song.currentTime = 100
      }
      song.readyState > 0 ? begin() : song.onloadedmetadata = begin
    })`
    await expect.poll(() => page.evaluate(`document.querySelector('audio') !== null`)).toBe(true)
    expect(await page.evaluate(seek)).toBe(100)
    await expect.poll(() => parts.map(([status]) => status)).toContain(206)
    const startOf = (range = '') => Number(/bytes=(\d+)/.exec(range)?.[1])
    await expect.poll(() => parts.some(([, range]) => startOf(range) > 10_000_000)).toBe(true)
    expect(faults).toEqual([])
  })

  test('a bearer that has expired is replaced, once', { timeout: slowMs }, async () => {
    const { page, sent } = await openControlled('/')
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(0)
    await town.server.clock.advance(2 * 60 * 60_000)
    await moveTo(page, `/files/${town.folderId}`)
    await page.getByText('evening-40.jpg').first().waitFor()
    await expect.poll(() => picturesOn(page)).toBeGreaterThan(2)
    expect(new Set(await sent()).size).toBe(2)
  })

  test.each(['signed out', 'ended from another device'] as const)(
    'nobody’s bearer is left in any tab once the session was %s',
    { timeout: slowMs },
    async (how) => {
      const { page, context, sent } = await openControlled(`/files/${town.folderId}`)
      await expect.poll(() => picturesOn(page)).toBeGreaterThan(2)
      const address = (await page.evaluate('document.images[0].src')) as string
      expect(address).toContain('#with-bearer')
      const second = await context.newPage()
      const isHeard = hearing(second)
      await second.goto(new URL('/', page.url()).href)
      await expect.poll(() => picturesOn(second)).toBeGreaterThan(0)
      await isHeard
      if (how === 'signed out') {
        await moveTo(page, '/settings')
        await page.getByRole('button', { name: 'Sign out' }).click()
        for (const tab of [page, second]) await tab.waitForURL(/\/login/)
      } else {
        await endOtherSessions(town)
        for (const tab of [page, second]) await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      }
      const before = (await sent()).length
      const reads = `fetch(${JSON.stringify(address)}, { cache: 'reload' }).then(({ ok }) => ok)`
      for (const tab of [page, second]) expect(await tab.evaluate(reads)).toBe(false)
      expect((await sent()).length).toBe(before)
      await context.setOffline(true)
      const shows = `new Promise((resolve) => {
        const picture = new Image()
        picture.onload = () => resolve(true)
        picture.onerror = () => resolve(false)
        picture.src = ${JSON.stringify(address)}
      })`
      expect(await second.evaluate(shows)).toBe(false)
    },
  )
})

/** How many pictures of files and profiles a page shows. */
async function picturesOn(page: Page): Promise<number> {
  return (await page.evaluate(
    `[...document.images].filter(({ src, naturalWidth }) => src.includes('/api/') && naturalWidth > 0).length`,
  )) as number
}

/** Comes when a page that is about to open has been told something by the bus. */
function hearing(page: Page): Promise<void> {
  return new Promise((resolve) => {
    page.on('websocket', (socket) => socket.on('framereceived', () => resolve()))
  })
}

/** Has the worker write down the bearers that it sends. */
async function bearersSent(context: BrowserContext): Promise<() => Promise<readonly string[]>> {
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
  await worker.evaluate(`(() => {
    const { fetch } = globalThis
    globalThis.sent = []
    globalThis.fetch = (input, init) => {
      const bearer = init?.headers?.get('authorization')
      if (bearer) sent.push(bearer)
      return fetch(input, init)
    }
  })()`)
  return async () => (await worker.evaluate('sent')) as readonly string[]
}

/** Ends every session of Anna's but the one that does so. */
async function endOtherSessions({ server }: SmallTown): Promise<void> {
  const client = await server.as(anna)
  const { data: sessions } = await client.call(listSessions)
  for (const { sid, current } of sessions) if (!current) await client.call(revokeSession, { params: { sid } })
  // Sockets are looked through for what has ended every two seconds.
  await server.clock.advance(2_000)
}

/** Sound of so many seconds, 176 kB each, so that a browser does not load all of it at once. */
function toneOf(seconds: number): Uint8Array<ArrayBuffer> {
  const bytes = seconds * 176_400
  const head = new DataView(new ArrayBuffer(44))
  const write = (at: number, text: string) => {
    for (const [place, letter] of [...text].entries()) head.setUint8(at + place, letter.charCodeAt(0))
  }
  write(0, 'RIFF')
  head.setUint32(4, 36 + bytes, true)
  write(8, 'WAVEfmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, 1, true)
  head.setUint16(22, 2, true)
  head.setUint32(24, 44_100, true)
  head.setUint32(28, 176_400, true)
  head.setUint16(32, 4, true)
  head.setUint16(34, 16, true)
  write(36, 'data')
  head.setUint32(40, bytes, true)
  const song = new Uint8Array(44 + bytes)
  song.set(new Uint8Array(head.buffer))
  return song
}
