import { type Client, uploadFile } from '@kith/client'
import { createAction, listActions, putSetting } from '@kith/protocol'
import type { Browser, Page, Response, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { isFocused } from './harness/focus.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { countPainted } from './harness/own-answers.ts'
import { picture } from './harness/picture.ts'
import { anna, ben, carla, type SmallTown, startSmallTown } from './harness/small-town.ts'

let browser: Browser
let town: SmallTown

async function post(client: Client, content: object, more: object = {}): Promise<string> {
  const { data } = await client.call(createAction, {
    body: { type: 'POST', visibility: 'C', content: content as Record<string, unknown>, ...more },
  })
  await town.server.settle()
  return data.actionId
}

const articles = (page: Page) => page.getByRole('feed').getByRole('article')

async function openFeed(at: Partial<Parameters<typeof openApp>[2]> = {}) {
  const opened = await openApp(browser, town.server, { idTag: anna, ...at })
  await articles(opened.page).first().waitFor()
  return opened
}

function useTown(launch: () => Promise<Browser>) {
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })
}

withChromium('the home feed', (launch) => {
  useTown(launch)

  test('shows posts newest first, takes a reaction and a bookmark, and opens one', async () => {
    const { page, faults, go } = await openFeed()
    const card = articles(page).filter({ hasText: 'Three evenings in the hills.' })
    await expect
      .poll(() => card.getAttribute('aria-label'))
      .toContain('Ben Okafor, Three evenings in the hills.')
    await expect.poll(() => card.getAttribute('aria-posinset')).toBe('1')
    await card.getByRole('button', { name: 'Love, 1 reaction' }).click()
    await card.getByRole('button', { name: 'Wow' }).click()
    await card.getByRole('button', { name: 'Wow, 1 reaction' }).waitFor()
    const isKept = (answer: Response) =>
      answer.url().includes('/api/collections/') && answer.request().method() !== 'GET'
    const bookmark = (pressed: boolean) => card.getByRole('button', { name: 'Bookmark', pressed })
    await Promise.all([page.waitForResponse(isKept), bookmark(false).click()])
    await page.reload()
    await card.getByRole('button', { name: 'Wow, 1 reaction' }).waitFor()
    await bookmark(true).waitFor()
    await go('/bookmarks')
    await page.getByRole('heading', { name: 'Bookmarks' }).waitFor()
    await Promise.all([page.waitForResponse(isKept), bookmark(true).click()])
    await page.getByRole('heading', { name: 'No bookmarks yet' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await go('/')
    await card.getByRole('link', { name: 'Comment, 2 comments' }).click()
    await page.getByRole('heading', { name: 'Post by Ben Okafor' }).waitFor()
    await page.getByText('You have seen everything.').waitFor({ state: 'hidden' })
    expect(faults).toEqual([])
  })

  test('is read and answered by keys alone', async () => {
    const { page } = await openFeed()
    await page.keyboard.press('j')
    const first = articles(page).first()
    await expect.poll(() => isFocused(first)).toBe(true)
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('l')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await first.getByRole('button', { name: 'Like, 1 reaction' }).waitFor()
    await first.focus()
    await page.keyboard.press('b')
    await first.getByRole('button', { name: 'Bookmark', pressed: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Post by Ben Okafor' }).waitFor()
    await page.goBack()
    await expect.poll(() => isFocused(first)).toBe(true)
    await page.keyboard.press('r')
    await expect.poll(() => isFocused(page.getByRole('textbox', { name: 'Your comment' }))).toBe(true)
    await page.keyboard.type('By keys alone')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'By keys alone' }).waitFor()
  })

  test('lets what is new wait behind a button, and moves nothing', async () => {
    const { page } = await openFeed()
    await post(await town.server.as(ben), { text: 'Just now' })
    const button = page.getByRole('button', { name: '1 new post' })
    await button.waitFor()
    expect(await page.getByText('Just now').count()).toBe(0)
    await button.click()
    await articles(page).first().filter({ hasText: 'Just now' }).waitFor()
    await expect.poll(() => button.count()).toBe(0)
  })

  test('marks where one left off the last time', async () => {
    const { page, go } = await openFeed()
    await page.getByText('You were here last time.').waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate(`localStorage.getItem('kith-feed-seen')`)).not.toBe(null)
    await go('/manifest.webmanifest')
    town.server.clock.advance(60_000)
    await post(await town.server.as(ben), { text: 'While you were away' })
    await go('/')
    await articles(page).first().filter({ hasText: 'While you were away' }).waitFor()
    await articles(page).nth(1).getByText('You were here last time.').waitFor()
  })

  test('takes back what the server refuses, and says so', async () => {
    const { page } = await openFeed()
    await page.route('**/reaction', (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'E-AUTH-FORBIDDEN', message: 'no' } } }),
    )
    const card = articles(page).filter({ hasText: 'The choir meets' })
    await card.getByRole('button', { name: 'React' }).click()
    await card.getByRole('button', { name: 'Sad' }).click()
    await page.getByText('You may not do this.').waitFor()
    await card.getByRole('button', { name: 'React', exact: true }).waitFor()
  })
})

withChromium('the home feed, further', (launch) => {
  useTown(launch)

  test('shows the later of two reactions while the former is on its way', async () => {
    const { page, faults } = await openFeed()
    const wanted = Promise.withResolvers<void>()
    const hold = (route: Route) => wanted.promise.then(() => route.continue())
    await page.route('**/reaction', hold, { times: 1 })
    const card = articles(page).filter({ hasText: 'The choir meets' })
    await card.getByRole('button', { name: 'React' }).click()
    await Promise.all([page.waitForRequest('**/reaction'), card.getByRole('button', { name: 'Wow' }).click()])
    await card.getByRole('button', { name: 'Wow, 1 reaction' }).click()
    await card.getByRole('button', { name: 'Sad' }).click()
    await card.getByRole('button', { name: 'Sad, 1 reaction' }).waitFor()
    const painted = await countPainted(page, '[aria-label^="Sad, 1 reaction"]', '')
    await Promise.all([page.waitForResponse('**/reaction'), wanted.resolve()])
    const own = async () => {
      const { data } = await (await town.server.as(anna)).call(listActions, { query: { type: ['POST'] } })
      return data.find(({ content }) => String(content?.text).startsWith('The choir'))?.stat.ownReaction
    }
    await expect.poll(own).toBe('SAD')
    expect(await painted()).toEqual([1, 1])
    expect(faults).toEqual([])
  })

  test('shows hostile texts as they are', async () => {
    const carlas = await town.server.as(carla)
    const texts = [
      '<img src=x onerror=alert(1)> <script>alert(1)</script>',
      'javascript:alert(1) data:text/html,x',
      `a${'\u0301'.repeat(10_000)}`,
      '\u202Eevil.exe https://example.org/\u202Egpj.exe',
      '@\u0430nna.example.com',
    ]
    for (const text of texts) await post(carlas, { text })
    await post(carlas, { text: 'word '.repeat(9_000) })
    await post(carlas, { title: 7, text: 'with odd members', tags: [], unknown: { a: 1 } }).catch(
      () => undefined,
    )
    const { page, faults } = await openFeed()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    await page.getByText('javascript:alert(1) data:text/html,x').waitFor()
    await page.getByRole('button', { name: 'Show all' }).first().waitFor()
    expect(
      await page.locator('main a[href^="javascript:"], main a[href^="data:"], main script').count(),
    ).toBe(0)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(phone.width)
    expect(faults).toEqual([])
  })

  test('shows five pictures as four and how many are left', async () => {
    const bens = await town.server.as(ben)
    const uploads = [10, 80, 150, 220, 290].map(async (hue) =>
      uploadFile(bens, await picture(hue), { fileName: `${hue}.jpg` }),
    )
    const attachments = (await Promise.all(uploads)).map(({ fileId }) => fileId)
    await post(bens, { text: 'Five' }, { attachments })
    const { page } = await openFeed()
    const card = articles(page).filter({ hasText: 'Five' })
    await expect.poll(() => card.getByRole('button', { name: /^Picture/ }).count()).toBe(4)
    expect(await axeFindings(page)).toEqual([])
    await card.getByRole('button', { name: 'Picture 4 of 5, +1' }).click()
    await page.getByRole('button', { name: 'Next picture' }).click()
    await page.getByRole('dialog', { name: 'Picture 5 of 5' }).waitFor()
  })

  test('stays at its place when one comes back, with few nodes, whatever its length', async () => {
    const bens = await town.server.as(ben)
    for (let at = 0; at < 30; at += 1)
      await bens.call(createAction, {
        body: { type: 'POST', visibility: 'C', content: { text: `Post number ${at}` } },
      })
    await town.server.settle()
    const { page } = await openFeed()
    const target = articles(page).filter({ hasText: 'Post number 4' })
    const isReached = () => isFocused(target)
    const goOn = async () => {
      await page.keyboard.press('j')
      return await isReached()
    }
    await expect.poll(goOn, { interval: 5 }).toBe(true)
    // With a frame the list hears how far it was scrolled.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await articles(page).count()).toBeLessThan(20)
    const before = await target.boundingBox()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Post by Ben Okafor' }).waitFor()
    await page.goBack()
    await expect.poll(isReached).toBe(true)
    const moved = async () => Math.abs(((await target.boundingBox())?.y ?? 0) - (before?.y ?? 0))
    await expect.poll(moved).toBeLessThan(24)
  })

  test('shows what is shared with one’s followers, until one takes that back', async () => {
    const actionId = await post(await town.server.as(ben), { text: 'Pass this on' }, { visibility: 'P' })
    const { page, faults } = await openFeed()
    const card = articles(page).filter({ hasText: 'Pass this on' }).first()
    const isPosted = (answer: Response) =>
      answer.url().endsWith('/api/actions') && answer.request().method() === 'POST'
    const [answer] = await Promise.all([
      page.waitForResponse(isPosted),
      card.getByRole('button', { name: 'Share with my followers' }).click(),
    ])
    // Until then it cannot be taken back.
    await answer.finished()
    await card.getByRole('button', { name: /^Share no longer/ }).waitFor()
    await town.server.settle()
    const query = { type: ['REPOST'] as const, issuer: anna }
    const reposts = async () => (await (await town.server.as(anna)).call(listActions, { query })).data
    await expect.poll(reposts).toMatchObject([{ subject: actionId }])
    await card.getByRole('button', { name: /^Share no longer/ }).click()
    await card.getByRole('button', { name: 'Share with my followers' }).waitFor()
    await expect.poll(async () => (await reposts()).filter(({ subType }) => subType !== 'DEL')).toEqual([])
    expect(faults).toEqual([])
  })

  test('hears no more of who is muted, until that is undone', async () => {
    const { page } = await openFeed({ idTag: carla })
    const ofBen = page.getByRole('button', { name: 'More about the post of Ben Okafor' })
    await ofBen.first().click()
    await page.getByRole('menuitem', { name: 'Mute Ben Okafor' }).click()
    await page.getByText('You see no posts of Ben Okafor any more.').waitFor()
    await expect.poll(() => ofBen.count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await ofBen.first().waitFor()
  })

  test('shows nothing of who is muted by an answer from before the server knew', async () => {
    const { page } = await openFeed({ idTag: carla })
    const ofBen = page.getByRole('button', { name: 'More about the post of Ben Okafor' })
    const isToKnow = Promise.withResolvers<void>()
    await page.route('**/api/profiles/ben.localhost', async (route) => {
      if (route.request().method() === 'PATCH') await isToKnow.promise
      await route.continue()
    })
    await ofBen.first().click()
    await page.getByRole('menuitem', { name: 'Mute Ben Okafor' }).click()
    await expect.poll(() => ofBen.count()).toBe(0)
    const isFeed = (answer: Response) => /\/api\/actions\?.*type=POST/.test(answer.url())
    const [answer] = await Promise.all([
      page.waitForResponse(isFeed),
      page.getByRole('button', { name: 'Look for new posts' }).click(),
    ])
    await answer.finished()
    isToKnow.resolve()
    await page.getByText('You see no posts of Ben Okafor any more.').waitFor()
    await page.getByRole('button', { name: /^\d+ new posts?$/ }).waitFor({ state: 'detached' })
    expect(await ofBen.count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await ofBen.first().waitFor()
  })

  test('takes a press on what it does not know yet', async () => {
    const bens = await town.server.as(ben)
    const actionId = await post(bens, { text: 'Pressed at once' }, { visibility: 'P' })
    const { page, faults } = await openApp(await launch(), town.server, { idTag: anna, path: '/search' })
    const isToCome = Promise.withResolvers<void>()
    await page.route(/\/api\/(actions\?.*type=REPOST|collections)/, async (route) => {
      if (route.request().method() === 'GET') await isToCome.promise
      await route.continue()
    })
    await page.goto(town.server.urlOf(anna))
    const card = articles(page).filter({ hasText: 'Pressed at once' }).first()
    await card.getByRole('button', { name: 'Share with my followers' }).click()
    await card.getByRole('button', { name: 'Bookmark' }).click()
    isToCome.resolve()
    await card.getByRole('button', { name: /^Share no longer/ }).waitFor()
    await card.getByRole('button', { name: 'Bookmark', pressed: true }).waitFor()
    const annas = await town.server.as(anna)
    const query = { type: ['REPOST'] as const, issuer: anna }
    const shared = async () => (await annas.call(listActions, { query })).data.map(({ subject }) => subject)
    await expect.poll(shared).toContain(actionId)
    expect(faults).toEqual([])
  })

  test('looks for what is new when one asks, by a button or by pulling', async () => {
    const { page, faults } = await openFeed({ hasTouch: true })
    let asked = 0
    page.on('request', (request) => {
      if (/\/api\/actions\?.*type=POST/.test(request.url())) asked += 1
    })
    // While it is asked already, it is not asked a second time.
    const asksAfter = async (act: () => Promise<unknown>) => {
      await expect.poll(() => button.getAttribute('aria-busy')).toBe(null)
      const before = asked
      const isAsked = () => act().then(() => asked > before)
      await expect.poll(isAsked).toBe(true)
    }
    const button = page.getByRole('button', { name: 'Look for new posts' })
    await asksAfter(() => button.click())
    await page.evaluate('window.scrollTo(0, 0)')
    const pull = `{
      const touch = (clientY) => [new Touch({ identifier: 1, target: document.body, clientX: 100, clientY })]
      const say = (type, y) => window.dispatchEvent(new TouchEvent(type, { touches: y === undefined ? [] : touch(y) }))
      say('touchstart', 100)
      say('touchmove', 150)
      say('touchmove', 320)
      say('touchend')
    }`
    await asksAfter(() => page.evaluate(pull))
    expect(faults).toEqual([])
  })

  test('shows a file that is shared as a card, and says in which language a post is', async () => {
    const b = await town.server.as(ben)
    const { fileId } = await uploadFile(b, await picture(40, 90, 60), {
      fileName: 'choir.jpg',
      visibility: 'P',
    })
    const content = { text: 'Das Lied vom Freitag', title: 'The choir', lang: 'de' }
    const actionId = await post(b, content, { type: 'SHRE', subject: fileId, visibility: 'P' })
    const path = `/posts/${encodeURIComponent(actionId)}`
    const { page, faults } = await openApp(browser, town.server, { idTag: anna, path })
    const card = page.getByRole('article', { name: /Das Lied vom Freitag|The choir/ })
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: /The choir/ }).click(),
    ])
    expect(saved.suggestedFilename()).toBe('choir.jpg')
    await expect.poll(() => card.getByText('Das Lied vom Freitag').getAttribute('lang')).toBe('de')
    expect(faults).toEqual([])
  })

  test('speaks German', async () => {
    const client = await town.server.as(carla)
    await client.call(putSetting, { params: { name: 'language' }, body: { value: 'de' } })
    const { page } = await openFeed({ idTag: carla, locale: 'de-DE' })
    await page.getByRole('heading', { name: 'Start' }).waitFor()
    await page.getByRole('button', { name: 'Reagieren' }).first().waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  test.each(['light', 'dark'] as const)(
    'is accessible in %s, with a menu and a picture open',
    async (colorScheme) => {
      const { page } = await openFeed({ colorScheme, viewport: desk })
      await page
        .getByRole('button', { name: /^More about/ })
        .first()
        .click()
      await page.getByRole('menuitem').first().waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'React' }).first().click()
      await page.getByRole('toolbar').getByRole('button', { name: 'Wow' }).waitFor()
      expect(await axeFindings(page)).toEqual([])
    },
  )
})
