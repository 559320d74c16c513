import { listConversations, listFiles, markConversationRead } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { axeFindings, goHearing, openApp, startWebServer } from './harness/open-app.ts'
import { act, makeFriends } from './harness/people.ts'
import { openKeptApp } from './harness/worker.ts'

const home = 'home.localhost'
const ben = 'ben.localhost'

/** Hands something over as the system does when one shares it with the installed app. */
const share = (
  page: Page,
  said: Readonly<Record<string, string>>,
  fileName?: string,
  action = '/new/shared',
) =>
  page.evaluate(`(() => {
    const form = document.createElement('form')
    Object.assign(form, { method: 'POST', enctype: 'multipart/form-data', action: '${action}' })
    for (const [name, value] of Object.entries(${JSON.stringify(said)}))
      form.append(Object.assign(document.createElement('input'), { name, value }))
    const given = new DataTransfer()
    if (${fileName !== undefined}) given.items.add(new File(['Plums'], '${fileName}', { type: 'text/plain' }))
    const input = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true })
    input.files = given.files
    form.append(input)
    document.body.append(form)
    form.submit()
  })()`)

// What the pages of a context ask, as a window of the installed app would answer.
const inWindow = `
  const asked = matchMedia.bind(globalThis)
  globalThis.matchMedia = (query) => asked(query === '(display-mode: browser)' ? 'not all' : query)`

withChromium('the installed app', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: home })
    await makeFriends(server, home, { [ben]: 'Ben Okafor' })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const text = (page: Page) => page.getByRole('textbox', { name: 'Text' })

  test('opens the composer with what other programs share', async () => {
    const at = { idTag: home, path: '/settings' }
    const { page, context, go, faults } = await openKeptApp(browser, server, at)
    await context.addInitScript(inWindow)
    await go('/settings')
    await share(
      page,
      { title: 'Plum cake', text: 'With cinnamon', url: 'https://example.org/plums' },
      'plums.txt',
    )
    await expect
      .poll(() => text(page).inputValue())
      .toBe('Plum cake\nWith cinnamon\nhttps://example.org/plums')
    await page.getByRole('button', { name: 'Remove plums.txt' }).waitFor()
    await page.getByText('Saved as a draft').waitFor()
    await expect.poll(() => page.evaluate('location.search')).toMatch(/^\?draft=/)
    await page.reload()
    await page.getByRole('button', { name: 'Remove plums.txt' }).waitFor()
    await page.getByRole('button', { name: 'Throw away' }).click()
    expect(faults).toEqual([])
  })

  test('takes nothing that a page elsewhere sends into a tab', async () => {
    const { page, context, go } = await openKeptApp(browser, server, { idTag: home, path: '/settings' })
    await go('/settings')
    const address = new URL('/new/shared', page.url()).href
    await context.route('http://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Elsewhere</title>' }),
    )
    await page.goto('http://elsewhere.example/')
    await share(page, { text: 'Written elsewhere' }, 'planted.txt', address)
    await page.getByText('What you shared did not arrive. Please share it again.').waitFor()
    await expect.poll(() => text(page).inputValue()).toBe('')
    const { data: files } = await (await server.as(home)).call(listFiles, {})
    expect(files.map(({ fileName }) => fileName)).not.toContain('planted.txt')
  })

  test('says so where what was shared is not there any more', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: home, path: '/settings' })
    await share(page, { text: 'Nobody takes this' })
    await page.getByText('What you shared did not arrive. Please share it again.').waitFor()
    await expect.poll(() => text(page).inputValue()).toBe('')
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('has on its icon how much is new', async () => {
    const opened = await openApp(browser, server, { idTag: home, path: '/manifest.webmanifest' })
    const { page, context } = opened
    await context.addInitScript(`
      globalThis.badges = []
      navigator.setAppBadge = async (count) => { badges.push(count) }`)
    await goHearing(opened, '/settings')
    const [upTo = ''] = await act(server, ben, {
      type: 'MSG',
      audienceTag: home as never,
      content: { text: 'Tea?' },
    })
    const shown = () => page.evaluate('badges.at(-1)')
    // Other news may be counted as well, and comes when it comes.
    const inBar = async () => {
      const links = page.getByRole('link', { name: /\(\d+ new\)/ })
      const names = await links.evaluateAll((all) =>
        all.map((link) => `${link.getAttribute('aria-label')} ${link.textContent}`),
      )
      return names.reduce((sum, name) => sum + Number(/\((\d+) new\)/.exec(name)?.[1]), 0)
    }
    const isSame = async () => (await shown()) === (await inBar())
    await page.getByRole('link', { name: 'Messages (1 new)' }).waitFor()
    await expect.poll(isSame).toBe(true)
    const client = await server.as(home)
    const [conversation] = (await client.call(listConversations)).data
    const params = { conversationId: conversation?.conversationId ?? '' }
    await client.call(markConversationRead, { params, body: { upTo } })
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    await expect.poll(isSame).toBe(true)
  })
})
