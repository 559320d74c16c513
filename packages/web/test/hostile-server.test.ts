import type { RequestListener, ServerResponse } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { ForeignServer } from '../../server/test/harness/foreign-server.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import { TestNetwork } from '../../server/test/harness/test-network.ts'
import { axeFindings, openApp, webBuild } from './harness/open-app.ts'

const anna = 'anna.localhost'
const mallory = 'mallory.localhost'
const club = 'club.localhost'
const slowMs = 60_000

const json = (answer: ServerResponse, status: number, body: unknown) =>
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const faults: readonly (readonly [string, (answer: ServerResponse) => unknown])[] = [
  [
    'a page',
    (answer) =>
      answer.writeHead(200, { 'content-type': 'text/html' }).end('<script>document.title=1</script>'),
  ],
  ['a redirect', (answer) => answer.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['one gigabyte', (answer) => answer.writeHead(200, { 'content-length': `${2 ** 30}` }).write('{')],
  ['silence', () => undefined],
  ['another form', (answer) => json(answer, 200, { data: [{ actionId: 7, content: '<b>' }] })],
  ['a broken line', (answer) => answer.destroy()],
]

withChromium('a hostile server', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let foreign: ForeignServer
  let ticking: ReturnType<typeof setInterval>
  beforeAll(async () => {
    browser = await launch()
    network = new TestNetwork(new TestClock(Date.now()))
    await network.add('anna', { webBuild })
    foreign = await network.addForeign(mallory, club, ...faults.map((_, at) => unknownTag(at)))
    // Ten times as fast as it is: the server waits ten seconds for silence to end.
    ticking = setInterval(() => network.clock.advance(1_000), 100)
  }, slowMs)
  afterAll(async () => {
    clearInterval(ticking)
    await network?.[Symbol.asyncDispose]()
  })

  /** Says who its people are, and gives tokens; everything else is answered in this way. */
  function answering(rest: RequestListener): void {
    foreign.onRequest = (request, answer) => {
      const { pathname } = new URL(request.url ?? '/', foreign.url)
      const [, idTag = ''] = /^\/api\/profiles\/([^/]+)$/.exec(pathname) ?? []
      const type = idTag === club ? 'community' : 'person'
      if (idTag === mallory || idTag === club)
        json(answer, 200, { data: { idTag, name: `The ${type}`, type } })
      else if (pathname === '/api/auth/access-token')
        json(answer, 200, { data: { token: 'theirs', expiresAt: network.clock.now() / 1000 + 3600 } })
      else rest(request, answer)
    }
  }

  test.each(faults)(
    'that gives %s yields an error card on every screen that asks it',
    { timeout: slowMs },
    async (_, fault) => {
      const at = faults.findIndex(([, known]) => known === fault)
      answering((_request, answer) => void fault(answer))
      const paths = [`/profiles/${mallory}`, `/communities/${club}`]
      const { page, faults: found, go } = await openApp(browser, network.server(0), { idTag: anna })
      for (const path of paths) {
        await go(path)
        await page.getByRole('heading', { name: /^The (person|community)$/, level: 1 }).waitFor()
        await page
          .getByRole('alert')
          .getByText(/^The other server/)
          .waitFor()
        await hasEnded(page)
        expect(await axeFindings(page)).toEqual([])
      }
      await go(`/profiles/${unknownTag(at)}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await hasEnded(page)
      await expect.poll(() => page.getByRole('main').innerText()).toMatch(/\w{3}/)
      // It has mended its ways.
      await go(paths[0] ?? '')
      await page
        .getByRole('alert')
        .getByText(/^The other server/)
        .waitFor()
      answering((_request, answer) =>
        json(answer, 200, { data: [], cursorPagination: { nextCursor: null, hasMore: false } }),
      )
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
      await page.getByText('No posts that you may see').waitFor()
      expect(await page.title()).not.toBe('1')
      expect(found).toEqual([])
    },
  )
})

const unknownTag = (at: number) => `unknown${at}.localhost`

/** Waits until nothing is loading, whether it says so or not. */
async function hasEnded(page: Page): Promise<void> {
  const status = page.getByRole('status').filter({ hasText: 'Loading' })
  await expect.poll(() => status.or(page.locator('main [class*="placeholder"]')).count()).toBe(0)
}
