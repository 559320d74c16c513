import { createAction } from '@kith/protocol'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { ScreenRow } from '../src/app/screen-table.ts'
import { finger } from './harness/finger.ts'
import { openApp, openHearing, phone } from './harness/open-app.ts'
import { pathIn, screenRows } from './harness/screen-paths.ts'
import { anna, ben, carla, type SmallTown, startSmallTown } from './harness/small-town.ts'

/** What can be touched and is smaller than a finger. Links within text are as high as its lines; those in the head of a post
 * reach beyond theirs (`crampedLinks`). */
const smallTargets = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((target) => target.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((target) => !target.closest('p, article header'))
    .flatMap((target) => {
      const isBox = target.matches('[type=checkbox], [type=radio]')
      const { width, height } = (isBox ? (target.closest('label') ?? target.parentElement) : target).getBoundingClientRect()
      // What only readers hear has a size of one pixel.
      if (width <= 1 || (width >= 44 && height >= 44)) return []
      const name = target.getAttribute('aria-label') ?? target.textContent
      return [target.tagName + ' ' + name.trim() + ': ' + Math.round(width) + ' x ' + Math.round(height)]
    })`)

/** Links in the heads of posts that have no square with room for a finger, whatever they look like. */
const crampedLinks = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('article header a[href]')].flatMap((link) => {
    link.scrollIntoView({ block: 'center' })
    const { left, right, top, bottom } = link.getBoundingClientRect()
    const isOn = (x, y) => document.elementFromPoint(x, y)?.closest('a') === link
    const offsets = [1, 15, 29, 43]
    const isSquare = (x, y) => offsets.every((dx) => offsets.every((dy) => isOn(x + dx, y + dy)))
    for (let y = top - 44; y <= bottom; y += 2)
      for (let x = left - 60; x <= right; x += 2) if (isSquare(x, y)) return []
    return [link.textContent]
  })`)

/** Waits until what follows from what is shown has begun. */
const twoFrames = (page: Page) =>
  page.evaluate(`(async () => {
    for (const _ of [1, 2]) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  })()`)

/** Pulls the page down with a finger that is on it, as far as it counts: the browser passes moves on at its own rate. */
async function pullFrom(
  y: number,
  move: (x: number, y: number) => Promise<unknown>,
  letGo: Locator,
): Promise<void> {
  let to = y
  await expect
    .poll(async () => {
      to += 20
      await move(60, to)
      return letGo.isVisible()
    })
    .toBe(true)
}

interface Written {
  readonly path: string
  /** The button that opens the dialog in which the field is. */
  readonly opens?: string
  readonly field: string
  readonly button: string | RegExp
}

withChromium('on a phone', (launch) => {
  let browser: Browser
  let town: SmallTown
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })

  const inHand = { viewport: phone, isMobile: true, hasTouch: true }

  const parts: readonly (readonly ScreenRow[])[] = [0, 1, 2, 3].map((part) =>
    screenRows.filter((_, at) => at % 4 === part),
  )

  test.each(parts.map((rows) => [rows] as const))('all targets have room for a finger', async (rows) => {
    const { page, go } = await openApp(browser, town.server, { idTag: anna, ...inHand })
    for (const row of rows) {
      await go(pathIn(town, row))
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
      expect([row.path, await smallTargets(page)]).toEqual([row.path, []])
      expect([row.path, await crampedLinks(page)]).toEqual([row.path, []])
    }
  })

  test.each([
    ['/notifications', '/api/actions', 'You and Ben Okafor are connected'],
    ['/messages', '/api/conversations', 'Could you send me the photos of the rehearsal?'],
    ['/people', '/api/profiles', 'Carla Lindqvist'],
    ['/communities', '/api/profiles', 'No communities yet'],
    ['/files', '/api/files', 'portrait.jpg'],
    [`/profiles/${ben}`, '/api/actions', 'Three evenings in the hills.'],
  ])('%s is asked for anew when it is pulled down, and by nothing less', async (path, asked, shown) => {
    // What other screens have sent is no news on this one.
    await town.server.settle()
    const { page } = await openHearing(browser, town.server, { idTag: anna, path, ...inHand })
    await page.getByRole('main').getByText(shown).first().waitFor()
    await twoFrames(page)
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    const isAsked = () => requests.filter((one) => one === asked).length
    const letGo = page.getByText('Let go to refresh')
    const { put, move, lift } = await finger(page)
    for (const [x, y] of [
      [330, 220],
      [60, 200],
    ] as const) {
      await put(60, 150)
      await move(x, y)
      await lift()
    }
    await expect.poll(() => page.getByText('Pull to refresh').count()).toBe(0)
    expect(isAsked()).toBe(0)
    await put(60, 150)
    await pullFrom(200, move, letGo)
    await lift()
    await expect.poll(isAsked).toBeGreaterThan(0)
    await letGo.waitFor({ state: 'detached' })
  })

  const keyboardHeight = 336
  const uncovered = phone.height - keyboardHeight

  /** An on-screen keyboard as browsers show it: one that covers what it leaves as it was, and one that makes the page smaller. */
  const keyboards: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
    [
      'covers the page',
      (page) =>
        page.evaluate(`{
          Object.defineProperty(visualViewport, 'height', { configurable: true, get: () => innerHeight - ${keyboardHeight} })
          visualViewport.dispatchEvent(new Event('resize'))
        }`),
    ],
    ['makes the page smaller', (page) => page.setViewportSize({ ...phone, height: uncovered })],
  ]

  /** Whether all of an element is above the keyboard, and nothing else lies over it. */
  const isInSight = (target: Locator) =>
    target.evaluate((element, bottomMost) => {
      const { left, right, top, bottom } = element.getBoundingClientRect()
      const [x, y] = [(left + right) / 2, (top + bottom) / 2]
      const on = (at: number) => element.contains(element.ownerDocument.elementFromPoint(x, at))
      return top >= 0 && bottom <= bottomMost && on(y) && on(top + 3) && on(bottom - 3)
    }, uncovered)

  const written = (town: SmallTown): readonly Written[] => [
    { path: '/new', field: 'Text', button: /^Share/ },
    { path: `/posts/${town.postId}`, field: 'Your comment', button: 'Send' },
    { path: `/messages/${ben}`, field: 'Message', button: 'Send' },
    { path: '/files', opens: 'New folder', field: 'Name', button: 'Create' },
  ]

  test.each(keyboards)('a keyboard that %s covers no field, nor what sends it', async (_, open) => {
    for (const { path, opens, field, button } of written(town)) {
      const { page } = await openApp(browser, town.server, { idTag: anna, path, ...inHand })
      if (opens !== undefined) await page.getByRole('button', { name: opens }).click()
      const text = page.getByRole('textbox', { name: field })
      await text.fill('Plums '.repeat(opens === undefined ? 300 : 1))
      await text.focus()
      await open(page)
      const send = page.getByRole('button', { name: button })
      const inSight = async () => [path, await isInSight(text), await isInSight(send)]
      await expect.poll(inSight).toEqual([path, true, true])
      await page.context().close()
    }
  })

  test.each(keyboards)(
    'what comes above a field leaves it in sight, with a keyboard that %s',
    async (_, open) => {
      const { page, go } = await openApp(browser, town.server, { idTag: anna, path: '/search', ...inHand })
      const isToCome = Promise.withResolvers<void>()
      await page.route(/\/api\/actions\?.*CMNT/, async (route) => {
        await isToCome.promise
        await route.continue()
      })
      await go(`/posts/${town.postId}`)
      const text = page.getByRole('textbox', { name: 'Your comment' })
      await text.fill('Plums '.repeat(300))
      await open(page)
      await expect.poll(() => isInSight(text)).toBe(true)
      isToCome.resolve()
      await page.getByText('The second one!').waitFor()
      await expect.poll(() => isInSight(text)).toBe(true)
      // Whoever goes away from it is not brought back.
      await page.evaluate('scrollTo(0, 0)')
      await expect.poll(() => isInSight(text)).toBe(false)
      const content = { text: 'And once more' }
      const carlas = await town.server.as(carla)
      await carlas.call(createAction, { body: { type: 'CMNT', parentId: town.postId, content } })
      await page.getByText('And once more').waitFor({ state: 'attached' })
      expect(await page.evaluate('scrollY')).toBe(0)
    },
  )

  test('a page is pulled also by what is taken out of it meanwhile', async () => {
    const { page } = await openApp(browser, town.server, { idTag: anna, path: '/notifications', ...inHand })
    await page.getByRole('main').getByText('You and Ben Okafor are connected').waitFor()
    const { put, move, lift } = await finger(page)
    await page.evaluate(`addEventListener('touchstart', (event) => (globalThis.touched = event.target))`)
    await put(60, 150)
    await expect.poll(() => page.evaluate('globalThis.touched !== undefined')).toBe(true)
    await page.evaluate('globalThis.touched.replaceWith(globalThis.touched.cloneNode(true))')
    await pullFrom(150, move, page.getByText('Let go to refresh'))
    await lift()
    await page.getByText('Let go to refresh').waitFor({ state: 'detached' })
  })

  test('the bar stays clear of what the system has at the lower edge', async () => {
    const { page, context } = await openApp(browser, town.server, { idTag: anna, ...inHand })
    const devtools = await context.newCDPSession(page)
    const insets = { bottom: 34 }
    await devtools.send('Emulation.setSafeAreaInsetsOverride', { insets })
    const lowest = async () => {
      const link = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link').last()
      const box = await link.boundingBox()
      return box ? box.y + box.height : Number.NaN
    }
    await expect.poll(lowest).toBeLessThanOrEqual(phone.height - insets.bottom)
    expect(await lowest()).toBeGreaterThan(0)
  })
})
