import { uploadFile } from '@kith/client'
import { createAction, createShare, getProfile, listActions, setReaction } from '@kith/protocol'
import type { Browser, Response } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { openApp, startWebServer } from './harness/open-app.ts'
import { act, makeFriends } from './harness/people.ts'
import { picture } from './harness/picture.ts'

const [anna, ben, cleo, dora, eve] = ['anna', 'ben', 'cleo', 'dora', 'eve'].map(
  (name) => `${name}.localhost`,
) as [string, string, string, string, string]

withChromium('notifications', (launch) => {
  let browser: Browser
  let server: TestServer
  let postId: string
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: anna })
    await makeFriends(server, anna, { [ben]: 'Ben Okafor', [cleo]: 'Cleo Novak', [dora]: 'Dora Lind' })
    await server.createTenant(eve, { name: 'Eve Strange' })
    const [first = ''] = await act(server, anna, {
      type: 'POST',
      content: { text: 'The first tomatoes of the year' },
      visibility: 'P',
    })
    postId = first
    for (const idTag of [ben, cleo, dora]) {
      const client = await server.as(idTag)
      await client.call(setReaction, { params: { actionId: postId }, body: { type: 'LOVE' } })
    }
    await server.settle()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const newOf = async () => {
    const query = { status: ['N', 'C'] } as const
    return (await (await server.as(anna)).call(listActions, { query })).data.map(({ type }) => type)
  }

  test('group who reacted, and are read when they were seen', async () => {
    await act(server, ben, { type: 'CMNT', parentId: postId, content: { text: 'Keep one for me' } })
    await expect.poll(async () => (await newOf()).toSorted()).toEqual(['CMNT', 'REACT', 'REACT', 'REACT'])
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    await page.getByRole('link', { name: 'Dora Lind and 2 others reacted' }).waitFor()
    await page.getByText('The first tomatoes of the year').first().waitFor()
    await page.getByRole('link', { name: 'Ben Okafor commented' }).waitFor()
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
    await expect.poll(newOf).toEqual([])
    await page.getByRole('button', { name: 'Reactions' }).click()
    await page.getByRole('link', { name: 'Ben Okafor commented' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Files' }).click()
    await page.getByText('Nothing of this kind.').waitFor()
    expect(faults).toEqual([])
  })

  test('let requests be answered in their place, by keyboard alone', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    await page.getByRole('heading', { name: 'Notifications' }).waitFor()
    const client = await server.as(eve)
    const content = { message: 'We met at the market.' }
    await client.call(createAction, { body: { type: 'CONN', audienceTag: anna as never, content } })
    await server.settle()
    // It arrives while one looks.
    await page.getByText('We met at the market.').waitFor()
    await page.getByRole('link', { name: 'Notifications (1 new)' }).waitFor()
    await page.getByRole('button', { name: 'Accept: Eve Strange' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Accepted.').waitFor()
    await page.getByRole('link', { name: 'You and Eve Strange are connected' }).waitFor()
    const { data } = await (await server.as(anna)).call(getProfile, { params: { idTag: eve as never } })
    expect(data.relationship).toBe('connected')
    expect(faults).toEqual([])
  })

  test('keep a request that could not be answered, and say so', async () => {
    await server.createTenant('finn.localhost', { name: 'Finn Aalto' })
    await act(server, 'finn.localhost', { type: 'CONN', audienceTag: anna as never })
    const { page, context } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    await context.route('**/api/actions/*/reject', (route) => route.abort())
    await page.getByRole('button', { name: 'Decline: Finn Aalto' }).click()
    await page.getByText('This did not work. It still waits for your answer.').waitFor()
    await context.unroute('**/api/actions/*/reject')
    await page.getByRole('button', { name: 'Decline: Finn Aalto' }).click()
    await page.getByRole('button', { name: 'Decline: Finn Aalto' }).waitFor({ state: 'detached' })
    await expect.poll(newOf).toEqual([])
  })

  test('are read all at once', async () => {
    const client = await server.as(ben)
    for (let at = 0; at < 18; at += 1)
      await client.call(createAction, {
        body: { type: 'POST', visibility: 'P', content: { text: `Tomato ${at}, @${anna}` } },
      })
    await server.settle()
    await expect.poll(newOf).toHaveLength(18)
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    const mentions = page.getByRole('link', { name: /mentioned you/ })
    await mentions.first().focus()
    await page.keyboard.press('End')
    const isLast = 'document.activeElement.closest("li") === document.querySelector("main li:last-child")'
    await expect.poll(() => page.evaluate(isLast)).toBe(true)
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await expect.poll(newOf).toEqual([])
    await page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
    // The server lists them no more.
    await act(server, ben, { type: 'CMNT', parentId: postId, content: { text: 'The last one' } })
    await page
      .getByRole('link', { name: /Ben Okafor commented/ })
      .first()
      .waitFor()
    expect(await mentions.count()).toBe(18)
    await page.reload()
    await page
      .getByRole('link', { name: /Ben Okafor commented/ })
      .first()
      .waitFor()
    expect(await mentions.count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('stay where they are when the list is fetched while they are still being read', async () => {
    const client = await server.as(ben)
    for (const at of [1, 2, 3])
      await client.call(createAction, {
        body: { type: 'POST', visibility: 'P', content: { text: `Bean ${at}, @${anna}` } },
      })
    await server.settle()
    const { page, context, faults } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    const mentions = page.getByRole('link', { name: /mentioned you/ })
    await mentions.nth(2).waitFor()
    const released = Promise.withResolvers<void>()
    await context.route('**/api/actions/*/dismiss', async (route) => {
      await released.promise
      await route.continue()
    })
    const isList = (response: Response) => /\/api\/actions\?.*status=N/.test(response.url())
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    for (const text of ['while they are read', 'afterwards']) {
      const listed = page.waitForResponse(isList)
      await act(server, ben, { type: 'CMNT', parentId: postId, content: { text } })
      await (await listed).finished()
      released.resolve()
      await expect.poll(async () => (await newOf()).filter((type) => type === 'POST')).toEqual([])
    }
    expect(await mentions.count()).toBe(3)
    expect(faults).toEqual([])
  })

  test('show a picture that a friend shares once it was accepted, and lead to it', async () => {
    const client = await server.as(ben)
    const { fileId } = await uploadFile(client, await picture(120), { fileName: 'tomatoes.jpg' })
    const share = { subjectType: 'U', subjectId: anna, permission: 'R' } as const
    await client.call(createShare, { params: { fileId }, body: share })
    await server.settle()
    const { page, context, faults } = await openApp(browser, server, { idTag: anna, path: '/notifications' })
    const line = page.getByRole('listitem').filter({ hasText: 'tomatoes.jpg' })
    const accept = line.getByRole('button', { name: 'Accept: Ben Okafor' })
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await context.route('**/api/actions/*/accept', async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    await accept.click()
    await asked.promise
    // Its picture is not there before the server has heard of it.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await accept.count()).toBe(1)
    held.resolve()
    const size = () =>
      line
        .locator('img')
        .last()
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)
    await expect.poll(size).toBeGreaterThan(1)
    await line.getByRole('link').first().click()
    await page.getByRole('dialog', { name: /tomatoes.jpg/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('are counted in the navigation, up to 99', async () => {
    const hugo = 'hugo.localhost'
    await makeFriends(server, ben, { [hugo]: 'Hugo Silva' })
    const client = await server.as(ben)
    const mention = async (times: number) => {
      for (let at = 0; at < times; at += 1)
        await client.call(createAction, {
          body: { type: 'POST', visibility: 'P', content: { text: `Plum ${at}, @${hugo}` } },
        })
      await server.settle()
    }
    await mention(2)
    const { page } = await openApp(browser, server, { idTag: hugo })
    const link = page.getByRole('link', { name: /^Notifications/ }).first()
    await expect.poll(() => link.textContent()).toContain('2(2 new)')
    await mention(98)
    await page.reload()
    await expect.poll(() => link.textContent()).toContain('99+(more than 99 new)')
  })

  test('say in German what belongs there when nothing has happened', async () => {
    const at = { idTag: 'finn.localhost', path: '/notifications', locale: 'de-DE' }
    await server.createTenant('gina.localhost')
    const { page } = await openApp(browser, server, { ...at, idTag: 'gina.localhost' })
    await page.getByRole('heading', { name: 'Noch ist nichts passiert' }).waitFor()
    await expect.poll(() => page.title()).toBe('Mitteilungen – Kith')
  })
})
