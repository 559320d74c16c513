import { createAction, createFile } from '@kith/protocol'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { ScreenRow } from '../src/app/screen-table.ts'
import { FaultyLine } from './harness/faulty-line.ts'
import { axeFindings, openApp, openHearing } from './harness/open-app.ts'
import { pathIn, screenRows } from './harness/screen-paths.ts'
import { anna, type SmallTown, startSmallTown } from './harness/small-town.ts'

let town: SmallTown

function useTown(): void {
  beforeAll(async () => {
    if (town) return
    town = await startSmallTown()
    await town.server.createTenant(lone, { name: 'Lone' })
  })
}
afterAll(async () => {
  await town?.server.stop()
})

const lone = 'lone.localhost'

// They are made of what the app holds itself: nothing has to come before they are of use.
const ownScreens = ['/new', '/search', '/settings', '/settings/look']

/** The app over a line that has faults, with what goes wrong on its pages. */
async function openOverLine(browser: Browser, line: FaultyLine, path: string) {
  return await openApp(browser, town.server, { idTag: anna, path, proxy: { server: line.url } })
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).first()
const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).first()

/** Tries again, what was refused meanwhile too, until what is wanted is there and nothing has failed. */
async function tryUntilThere(page: Page, wanted: Locator): Promise<void> {
  const again = page.getByRole('button', { name: 'Try again' })
  const alerts = page.getByRole('alert')
  await expect
    .poll(async () => {
      // It may be gone before it is clicked.
      if ((await again.count()) > 0)
        await again
          .first()
          .click({ timeout: 1_000 })
          .catch(() => undefined)
      return { isThere: (await wanted.count()) > 0, alerts: await alerts.count() }
    })
    .toEqual({ isThere: true, alerts: 0 })
}

function groupsOf<Item>(size: number, items: readonly Item[]): Item[][] {
  const starts = items.flatMap((_, at) => (at % size === 0 ? [at] : []))
  return starts.map((at) => items.slice(at, at + size))
}

/** One screen through all its states, in the order in which a bad day brings them. */
async function walkStates(browser: Browser, row: ScreenRow): Promise<void> {
  await using line = await FaultyLine.open()
  line.set('held')
  const { page, faults } = await openOverLine(browser, line, pathIn(town, row))
  const isAccessible = async (state: string) =>
    expect(await axeFindings(page), `${row.path} ${state}`).toEqual([])
  await heading(page).waitFor()
  await status(page, 'Loading').waitFor({ state: 'attached' })
  await isAccessible('loading')
  line.set({ code: 'E-RATELIMIT', retryAfterSecs: 2 })
  await status(page, 'Too many requests. Please wait a moment.').waitFor()
  await page.getByRole('timer').filter({ hasText: 'Next try in' }).first().waitFor()
  await isAccessible('told to wait')
  line.set({ code: 'E-INTERNAL' })
  const alert = page.getByRole('alert').first()
  await alert.filter({ hasText: 'Something went wrong on the server.' }).waitFor()
  await alert.getByText('Details').click()
  await alert.getByText('E-INTERNAL, Request r1-as-the-test-wants-it').waitFor()
  await isAccessible('failed')
  line.set({ code: 'E-AUTH-FORBIDDEN' })
  await page.getByRole('button', { name: 'Try again' }).first().click()
  await page.getByText('You may not do this.').filter({ visible: true }).first().waitFor()
  line.set('none')
  await tryUntilThere(page, heading(page))
  expect(faults).toEqual([])
}

withChromium('the states of every screen', (launch) => {
  useTown()
  const asking = screenRows.filter(({ path }) => !ownScreens.includes(path))

  // Most of the time of one is waiting.
  test.each(groupsOf(3, asking).map((rows) => [rows.map(({ path }) => path).join(' '), rows] as const))(
    '%s load, wait as they are told, say what has failed, and go on',
    async (_, rows) => {
      const browser = await launch()
      await Promise.all(rows.map((row) => walkStates(browser, row)))
    },
  )

  test.each(
    screenRows.filter(({ path }) => ownScreens.includes(path)).map((row) => [row.path, row] as const),
  )('%s is there whatever the server does', async (_, row) => {
    await using line = await FaultyLine.open()
    for (const fault of ['held', { code: 'E-INTERNAL' }] as const) {
      line.set(fault)
      const { page, faults, context } = await openOverLine(await launch(), line, pathIn(town, row))
      await heading(page).waitFor()
      expect(await axeFindings(page)).toEqual([])
      expect(faults).toEqual([])
      line.set('none')
      await context.close()
    }
  })
})

withChromium('the state of a screen', (launch) => {
  useTown()

  const unknownId = 'A'.repeat(43)
  const absent = [
    `/posts/a1~${unknownId}`,
    '/posts/nonsense',
    `/files/d1~${unknownId}`,
    `/messages/c1~${unknownId}`,
    '/communities/nobody',
    '/communities/ben.localhost',
  ]
  test('is one and the same page for whatever is not there', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, { idTag: anna, path: '/search' })
    const seen = new Set<string>()
    for (const path of absent) {
      await go(path)
      await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
      seen.add(await page.getByRole('main').innerText())
    }
    expect([...seen]).toEqual([expect.stringContaining('This page does not exist, or you may not see it.')])
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'Go to the home page' }).click()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(faults).toEqual([])
  })

  test('stays that page when the bus opens', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, { idTag: anna, path: '/search' })
    const openBus = Promise.withResolvers<void>()
    const told: string[] = []
    await page.routeWebSocket(/\/ws\//, async (socket) => {
      await openBus.promise
      const server = socket.connectToServer()
      socket.onMessage((message) => server.send(message))
      server.onMessage((message) => {
        told.push(String(message))
        socket.send(message)
      })
    })
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('nonsense') && asked.push(request.url()))
    await go('/posts/nonsense')
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    const before = asked.length
    openBus.resolve()
    // What happens before it is open, it does not tell.
    await expect.poll(() => told.join()).toContain('"ack"')
    const client = await town.server.as(lone)
    await client.call(createAction, { body: { type: 'CONN', audienceTag: anna } })
    await expect.poll(() => told.join()).toContain(lone)
    expect(asked.slice(before)).toEqual([])
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    expect(faults).toEqual([])
  })

  test('stays that page while it is asked again', async () => {
    const { page, faults } = await openHearing(await launch(), town.server, {
      idTag: anna,
      path: `/files/d1~${unknownId}`,
    })
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    const askedAgain = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    await page.route(`**/api/files/*${unknownId}/metadata`, async (route) => {
      askedAgain.resolve()
      await answer.promise
      await route.continue()
    })
    const client = await town.server.as(anna)
    await client.call(createFile, { body: { fileTp: 'FLDR', fileName: 'News' } })
    await askedAgain.promise
    expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual(['Not found'])
    const answered = page.waitForResponse(/metadata/)
    answer.resolve()
    await answered
    expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual(['Not found'])
    expect(faults).toEqual([])
  })

  const empty = {
    '/': 'Nothing here yet',
    '/messages': 'No conversations yet',
    '/new/drafts': 'No drafts',
    '/files': 'Nothing here yet',
    '/files/photos': 'Nothing here yet',
    '/files/trash': 'The trash is empty',
    '/notifications': 'Nothing has happened yet',
    '/search': 'What are you looking for?',
    '/people': 'No connections yet',
    '/communities': 'No communities yet',
    '/bookmarks': 'No bookmarks yet',
  }
  test('says what belongs there when there is nothing yet', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, { idTag: lone })
    for (const [path, told] of Object.entries(empty)) {
      await go(path)
      const heading = page.getByRole('heading', { name: told }).first()
      await heading.waitFor()
      // What belongs here, or the next step.
      const more = heading.locator('..').locator('p, a, button')
      await expect.poll(() => more.count(), { message: path }).toBeGreaterThan(0)
      expect(await axeFindings(page), path).toEqual([])
    }
    expect(faults).toEqual([])
  })

  test('is not offered where the server lacks what it needs', async () => {
    await using line = await FaultyLine.open()
    line.set(
      { code: 'E-NOTFOUND' },
      (path) => path === '/api/conversations' || path === '/api/files/timeline',
    )
    const { page, faults, go } = await openOverLine(await launch(), line, '/')
    const navigation = page.getByRole('navigation', { name: 'Main navigation' })
    await navigation.getByRole('link', { name: 'Files' }).waitFor()
    await navigation.getByRole('link', { name: 'Messages' }).waitFor({ state: 'detached' })
    for (const [path, title] of [
      ['/messages', 'Messages'],
      ['/files/photos', 'Photos'],
    ] as const) {
      await go(path)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.getByText('This server does not offer this.').waitFor()
      expect(await axeFindings(page)).toEqual([])
    }
    expect(faults).toEqual([])
  })

  test('leaves what is there when a part of it fails', async () => {
    await using line = await FaultyLine.open()
    line.set({ code: 'E-INTERNAL' }, (path) => path === '/api/actions')
    const path = `/posts/${encodeURIComponent(town.postId)}`
    const { page, faults } = await openOverLine(await launch(), line, path)
    await page.getByRole('article').filter({ hasText: 'Three evenings in the hills.' }).first().waitFor()
    await page.getByRole('alert').filter({ hasText: 'Something went wrong on the server.' }).waitFor()
    line.set('none')
    await tryUntilThere(page, page.getByText('The second one!'))
    expect(faults).toEqual([])
  })

  test('counts down while a busy server asks for patience, and goes on by itself', async () => {
    await using line = await FaultyLine.open()
    line.set({ code: 'E-UNAVAILABLE', retryAfterSecs: 4 }, (path) => path === '/api/me/usage')
    const { page, faults } = await openOverLine(await launch(), line, '/settings/storage')
    await status(page, 'The server is busy. Please wait a moment.').waitFor()
    await page.getByRole('timer').filter({ hasText: 'Next try in' }).waitFor()
    line.set('none')
    await page.getByRole('timer').waitFor({ state: 'detached' })
    await page.getByText('The server is busy. Please wait a moment.').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Go to your files' }).waitFor()
    expect(faults).toEqual([])
  })

  test('is slow after ten seconds, can be stopped, and asked for again', async () => {
    await using line = await FaultyLine.open()
    line.set('held', (path) => path === '/api/me/usage')
    const { page, faults } = await openOverLine(await launch(), line, '/settings/storage')
    await status(page, 'This takes longer than usual.').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await status(page, 'You stopped this.').waitFor()
    line.set('none')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('You stopped this.').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })
})
