import { uploadFile } from '@kith/client'
import { createAction } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { lookAt } from './harness/looks.ts'
import { axeFindings, cutTexts, openApp } from './harness/open-app.ts'
import { anna, ben, foundGarden, post, startPeopleTown } from './harness/people-town.ts'
import { picture } from './harness/picture.ts'

const roomy = { width: 1300, height: 900 }
const narrower = { ...roomy, width: 1299 }

const column = (page: Page, name: string) => page.getByRole('complementary', { name })

/** How much has moved on the page that nobody has asked for. */
const shifted = (page: Page) =>
  page.evaluate(`new Promise((resolve) => new PerformanceObserver((list) =>
    resolve(list.getEntries().reduce((sum, { value, hadRecentInput }) => hadRecentInput ? sum : sum + value, 0)),
  ).observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(() => resolve(0), 500))`)

/** Waits for the last post: those beyond what is seen come when the page has time. */
async function feedIsWhole(page: Page): Promise<void> {
  const last = page.getByRole('article').last()
  const place = (name: string) => last.getAttribute(name)
  await expect.poll(async () => (await place('aria-posinset')) === (await place('aria-setsize'))).toBe(true)
}

withChromium('the third column', (launch) => {
  let browser: Browser
  let server: TestServer
  let postId: string
  beforeAll(async () => {
    browser = await launch()
    server = await startPeopleTown()
    await foundGarden(server)
    const [a, b] = await Promise.all([server.as(anna), server.as(ben)])
    postId = await post(b, 'Who has seen my watering can?')
    const draft = { type: 'POST', draft: true, content: { text: 'On Saturday the garden is' } } as const
    await a.call(createAction, { body: draft })
    await uploadFile(a, await picture(20), { fileName: 'hills.jpg' })
    await uploadFile(a, await picture(200), { fileName: 'lake.jpg' })
    await server.settle()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, viewport = roomy) =>
    openApp(browser, server, { idTag: anna, path, viewport, reducedMotion: 'reduce' })

  test('has beside the feed who asks, the communities and what is begun, after the feed and without moving it', async () => {
    const { page, faults } = await open('/')
    const aside = column(page, 'At a glance')
    await aside.getByRole('button', { name: 'Accept the request of Carla Lindqvist' }).waitFor()
    await aside.getByRole('link', { name: /Garden club/ }).waitFor()
    await aside.getByRole('link', { name: /On Saturday the garden is/ }).waitFor()
    await feedIsWhole(page)
    await expect.poll(() => shifted(page)).toBeLessThanOrEqual(0.02)
    const looks = [
      { locale: 'en-GB', colors: 'light', viewport: roomy },
      { locale: 'de-DE', colors: 'dark', viewport: roomy },
      { locale: 'en-XA', colors: 'forced', viewport: roomy },
    ] as const
    for (const look of looks) {
      await lookAt(page, look)
      expect(await axeFindings(page)).toEqual([])
      await expect.poll(() => cutTexts(page)).toEqual([])
    }
    expect(faults).toEqual([])
  })

  test('is reached by keyboard after the content, and answers a request in place', async () => {
    const { page } = await open('/')
    const aside = column(page, 'At a glance')
    const accept = aside.getByRole('button', { name: 'Accept the request of Carla Lindqvist' })
    await accept.waitFor()
    await feedIsWhole(page)
    await page.getByRole('article').last().getByRole('button').last().focus()
    await page.keyboard.press('Tab')
    const isInside = () => aside.evaluate((element) => element.matches(':focus-within'))
    await expect.poll(isInside).toBe(true)
    await accept.press('Enter')
    await accept.waitFor({ state: 'detached' })
  })

  test('is neither shown nor asked for where there is no room, and comes and goes with the window', async () => {
    const { page } = await openApp(browser, server, {
      idTag: anna,
      path: '/settings/look',
      viewport: narrower,
    })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(server.urlOf(anna))
    await page.getByRole('article').first().waitFor()
    await page.waitForLoadState('networkidle')
    // What a column is made of is asked for when the page has time.
    await page.evaluate('new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))')
    await expect.poll(() => page.getByRole('complementary').count()).toBe(0)
    const ofColumn = /-aside|status=R/
    expect(asked.filter((url) => ofColumn.test(url))).toEqual([])
    await page.setViewportSize(roomy)
    await column(page, 'At a glance').waitFor()
    expect(asked.filter((url) => ofColumn.test(url))).not.toEqual([])
    await page.setViewportSize(narrower)
    await column(page, 'At a glance').waitFor({ state: 'detached' })
  })

  test('has beside a post who wrote it, and stays while a dialog is over the screen', async () => {
    const { page } = await open(`/posts/${encodeURIComponent(postId)}`)
    const aside = column(page, 'About the author')
    await aside.getByRole('link', { name: /Ben Okafor/ }).waitFor()
    await aside.getByText('Bakes for the whole street.').waitFor()
    await page.getByText('No comments yet').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'New' }).click()
    await page.getByRole('dialog', { name: 'New post' }).waitFor()
    await expect.poll(() => page.getByLabel('About the author').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('complementary').count()).toBe(0)
  })

  test('has beside files what is known of those that are selected', async () => {
    const { page } = await open('/files')
    const aside = column(page, 'What is selected')
    await aside.getByText('Select a file to see here').waitFor()
    const file = (name: string) => page.getByRole('row', { name: new RegExp(name) })
    await file('hills.jpg').focus()
    await page.keyboard.press('Space')
    await aside.getByRole('heading', { name: 'hills.jpg' }).waitFor()
    await aside
      .getByText('JPEG', { exact: false })
      .or(aside.getByText('image/', { exact: false }))
      .first()
      .waitFor()
    expect(await axeFindings(page)).toEqual([])
    await file('lake.jpg').focus()
    await page.keyboard.press('Space')
    await aside.getByRole('heading', { name: '2 selected' }).waitFor()
    await page.keyboard.press('Escape')
    await aside.getByText('Select a file to see here').waitFor()
  })
})
