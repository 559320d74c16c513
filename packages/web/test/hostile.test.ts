import { listActions } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { FaultyLine } from './harness/faulty-line.ts'
import {
  anna,
  type HostileTown,
  hostileTexts,
  lookAlike,
  mallory,
  startHostileTown,
} from './harness/hostile-town.ts'
import { axeFindings, desk, openApp, whenComplete } from './harness/open-app.ts'
import { act } from './harness/people.ts'

const narrow = { width: 320, height: 700 }

/** What a text of somebody else has become on the page that it must not: elements, links that run, a wider page. */
async function harmOn(page: Page): Promise<unknown> {
  return await page.evaluate(`({
    scripts: document.querySelectorAll('main script, main iframe, main [onerror], main b, main object').length,
    links: [...document.querySelectorAll('a[href]')].filter((a) => !/^(https?|mailto):$/.test(a.protocol)).map((a) => a.href),
    pictures: [...document.images].filter((img) => img.src.endsWith('/x')).length,
    isRun: document.title === '1',
    width: Math.max(0, document.documentElement.scrollWidth - innerWidth),
  })`)
}
const none = { scripts: 0, links: [], pictures: 0, isRun: false, width: 0 }

withChromium('what others write', (launch) => {
  let browser: Browser
  let town: HostileTown
  beforeAll(async () => {
    browser = await launch()
    town = await startHostileTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })

  const open = async (path: string, options: object = {}) => {
    const opened = await openApp(browser, town.server, { idTag: anna, path, viewport: narrow, ...options })
    await opened.page.getByRole('heading', { level: 1 }).first().waitFor()
    await whenComplete(opened.page)
    return opened
  }

  test.each([
    '/',
    '/notifications',
    '/messages',
    `/messages/${mallory}`,
    '/people',
    '/people?list=followers',
    `/profiles/${mallory}`,
    `/profiles/${lookAlike}`,
    '/profiles/marks.localhost',
    '/profiles/wide.localhost',
    '/profiles/unseen.localhost',
    '/search?q=markup',
    '/search?q=links',
    '/files/recent',
  ])('is harmless on %s, which keeps its layout', async (path) => {
    for (const viewport of [narrow, desk]) {
      const { page, faults, context } = await open(path, { viewport })
      await expect.poll(() => harmOn(page)).toEqual(none)
      expect(await axeFindings(page)).toEqual([])
      expect(faults).toEqual([])
      await context.close()
    }
  })

  test.each(Object.keys(hostileTexts) as (keyof typeof hostileTexts)[])(
    'is harmless on the page of a post: %s',
    async (name) => {
      const { page, faults } = await open(`/posts/${town.posts[name]}`)
      await page.getByRole('article').filter({ hasText: name }).first().waitFor()
      await expect.poll(() => harmOn(page)).toEqual(none)
      expect(await axeFindings(page)).toEqual([])
      expect(faults).toEqual([])
    },
  )

  test('is shown as it is written, with links to the web alone', async () => {
    const { page } = await open(`/posts/${town.posts.markup}`)
    await page.getByText(hostileTexts.markup).first().waitFor()
    await page.getByTitle(/1970/).first().waitFor()
    const other = await open(`/posts/${town.posts.links}`)
    const article = other.page.getByRole('article').first()
    await expect.poll(() => article.getByRole('link', { name: 'https://ok.example/ok' }).count()).toBe(1)
    await other.page.getByTitle(/9999/).first().waitFor()
  })

  test('has few marks on a letter, and is folded where it is long', async () => {
    const { page } = await open(`/posts/${town.posts.marks}`)
    const marks = await page.getByRole('article').filter({ hasText: 'marks Z' }).first().innerText()
    expect(/\p{M}{7}/u.test(marks)).toBe(false)
    const { page: feed } = await open(`/profiles/${mallory}`)
    await feed.getByRole('button', { name: 'Show all' }).first().waitFor()
    const tallest = () =>
      feed.evaluate(
        `Math.max(...[...document.querySelectorAll('main article')].map((a) => a.getBoundingClientRect().height))`,
      )
    await expect.poll(tallest).toBeLessThan(2_500)
  })

  test('of an identity that reads as another stays an A-label', async () => {
    const { page } = await open(`/profiles/${lookAlike}`)
    await page.getByText(lookAlike).first().waitFor()
    expect(await page.getByText('аррӏе').count()).toBe(0)
  })

  test('of a name of which nothing is seen, the identity is shown', async () => {
    // Tall enough for all lines: others than those near are not rendered.
    const { page } = await open('/people', { viewport: { width: 1280, height: 3000 } })
    for (const idTag of ['empty.localhost', 'unseen.localhost'])
      await expect.poll(() => page.getByText(idTag).count()).toBeGreaterThan(1)
  })

  test('of a type and with members that nobody knows is a plain card', async () => {
    const { page, faults } = await open(`/posts/${town.unknownId}`)
    await page.getByText('Rain').first().waitFor()
    await expect.poll(() => harmOn(page)).toEqual(none)
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('shows pictures of any shape, and those that fail, in boxes of a screen', async () => {
    await using line = await FaultyLine.open()
    for (const fault of ['none', { code: 'E-INTERNAL' }] as const) {
      line.set(fault, (path) => path.startsWith('/api/files/'))
      const { page, faults, context } = await open(`/posts/${town.picturesId}`, {
        proxy: { server: line.url },
      })
      await page.getByRole('button', { name: /^Picture 1 of/ }).waitFor()
      const heights = await page
        .getByRole('button', { name: /^Picture \d of/ })
        .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().height))
      expect(Math.min(...heights)).toBeGreaterThan(40)
      expect(Math.max(...heights)).toBeLessThan(700)
      await expect.poll(() => harmOn(page)).toEqual(none)
      expect(faults).toEqual([])
      await context.close()
    }
  })

  test('comes by the bus twice, late, malformed or of a kind nobody knows, and changes nothing wrong', async () => {
    await using line = await FaultyLine.open()
    const { page, faults } = await open('/', { proxy: { server: line.url }, viewport: desk })
    await page.getByRole('article').first().waitFor()
    const say = async (text: string) => {
      await act(town.server, mallory, { type: 'POST', visibility: 'C', content: { text } })
      await page.getByRole('button', { name: /^\d+ new posts?$/ }).click()
      await page.getByRole('article').filter({ hasText: text }).first().waitFor()
    }
    await say('Before the noise')
    const [known] = (await (await town.server.as(anna)).call(listActions, { query: { limit: 1 } })).data
    const events = [
      { cmd: 'ACTION', data: known },
      { cmd: 'ACTION', data: known },
      { cmd: 'ACTION', data: known, seq: 1 },
      { cmd: 'ACTION' },
      { cmd: 'ACTION', data: null },
      { cmd: 'ACTION', data: { ...known, actionId: 7 } },
      { cmd: 'ACTION', data: { ...known, actionId: 'a1~odd', issuer: {}, content: 3, createdAt: 'soon' } },
      { cmd: 'ACTION_STATUS', data: 'D' },
      { cmd: 'STAT', data: [] },
      { cmd: 'CONVERSATION', data: 0 },
      { cmd: 'SETTING', data: {} },
      { cmd: 'FILE', data: '' },
      { cmd: 'PROFILE', data: false },
      { cmd: 'SESSION', data: {} },
      { cmd: 'toString', data: {} },
      { cmd: 'FUTURE', data: { of: ['another', 'server'] } },
      { data: {} },
    ]
    for (const event of events) line.say(JSON.stringify({ id: 'x', ...event }))
    await say('After the noise')
    await expect.poll(() => page.getByRole('article').filter({ hasText: 'Before the noise' }).count()).toBe(1)
    for (const text of ['no JSON', '[]', 'null', '7']) line.say(text)
    await say('After the nonsense')
    await expect.poll(() => line.sockets).toBeGreaterThan(0)
    await expect.poll(() => harmOn(page)).toEqual(none)
    expect(faults).toEqual([])
  })
})
