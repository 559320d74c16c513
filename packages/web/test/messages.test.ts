import { listActions, listConversations, markConversationRead, putSetting } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { focusedText, isFocused } from './harness/focus.ts'
import { desk, openApp, openHearing, startWebServer } from './harness/open-app.ts'
import { countPainted, holdAnswer } from './harness/own-answers.ts'
import { act, makeFriends } from './harness/people.ts'

const [anna, ben, cleo, dora, eve] = ['anna', 'ben', 'cleo', 'dora', 'eve'].map(
  (name) => `${name}.localhost`,
) as [string, string, string, string, string]
async function markRead(server: TestServer, upTo: string): Promise<void> {
  const client = await server.as(anna)
  const { data } = await client.call(listConversations)
  const conversationId =
    data.find(({ lastMessage }) => lastMessage?.issuerTag === 'gina.localhost')?.conversationId ?? ''
  await client.call(markConversationRead, { params: { conversationId }, body: { upTo } })
}

const message = (to: string, text: string) =>
  ({ type: 'MSG', audienceTag: to as never, content: { text } }) as const

withChromium('messages', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: anna })
    await makeFriends(server, anna, { [ben]: 'Ben Okafor', [cleo]: 'Cleo Novak', [dora]: 'Dora Lind' })
    await server.createTenant(eve, { name: 'Eve Strange' })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const receiptsTo = async (idTag: string) => {
    const query = { type: ['ACK'], audience: idTag as never } as const
    return (await (await server.as(anna)).call(listActions, { query })).data.length
  }
  const threadOn = (page: Page) => page.getByRole('region', { name: 'Messages', exact: true })

  test('are written, arrive while one looks, and show that they were seen', async () => {
    await act(server, ben, message(anna, 'Are you coming on Sunday?'))
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/messages' })
    await page.getByRole('link', { name: 'Messages (1 new)' }).waitFor()
    await page.getByRole('link', { name: /Ben Okafor.*1 unread message/ }).click()
    await page.getByRole('heading', { name: 'Ben Okafor', level: 1 }).waitFor()
    await page.getByText('New messages', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('Yes, with cake')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const thread = threadOn(page)
    await thread.getByText('Sent', { exact: true }).waitFor()
    await server.settle()
    const other = await openApp(browser, server, { idTag: ben, path: `/messages/${anna}`, viewport: desk })
    await threadOn(other.page).getByText('Yes, with cake').waitFor()
    const shown = other.page.getByRole('main').getByRole('listitem').getByRole('link').first()
    await expect.poll(() => shown.getAttribute('aria-current')).toBe('true')
    const seen = async () => {
      await server.settle()
      return await thread.getByText('Seen', { exact: true }).count()
    }
    await expect.poll(seen).toBe(1)
    await act(server, ben, message(anna, 'Which one?'))
    await page.getByRole('status').getByText('Ben Okafor: Which one?').waitFor()
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    expect([...faults, ...other.faults]).toEqual([])
  })

  test('are begun, written and answered by keyboard alone', async () => {
    const at = { idTag: anna, path: '/messages', viewport: desk }
    const { page, faults } = await openApp(browser, server, at)
    await page.getByRole('button', { name: 'New message' }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('searchbox', { name: 'To whom?' }).fill('cleo')
    await page.getByRole('button', { name: /Cleo Novak/ }).waitFor()
    await page.getByRole('button', { name: /Ben Okafor/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Write the first message to Cleo Novak.').waitFor()
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.focus()
    await page.keyboard.type('First line')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('second line')
    await page.keyboard.press('Enter')
    await threadOn(page).getByText('Sent', { exact: true }).waitFor()
    await expect.poll(() => field.inputValue()).toBe('')
    await threadOn(page).focus()
    await page.keyboard.press('k')
    await page.keyboard.press('r')
    await page.getByText('In answer to').waitFor()
    await page.keyboard.type('And one more')
    await page.keyboard.press('Enter')
    await threadOn(page).getByRole('blockquote').waitFor()
    const query = { type: ['MSG'], audience: cleo as never } as const
    const { data } = await (await server.as(anna)).call(listActions, { query })
    expect(data.map(({ content, parentId }) => [content?.text, parentId !== undefined])).toEqual([
      ['And one more', true],
      ['First line\nsecond line', false],
    ])
    expect(faults).toEqual([])
  })

  test('are copied', async () => {
    await act(server, ben, message(anna, 'The recipe: six plums, two eggs'))
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page, faults } = await openApp(browser, server, {
      idTag: anna,
      path: `/messages/${ben}`,
      permissions,
    })
    const said = threadOn(page).getByRole('listitem').filter({ hasText: 'six plums' })
    await said.getByRole('button').last().click()
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('status').getByText('Copied.').waitFor()
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe('The recipe: six plums, two eggs')
    // What stays unread is counted in the tests below.
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    expect(faults).toEqual([])
  })

  test('with several are begun by names, go on under the first one, and reach them all', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/messages' })
    await page.getByRole('button', { name: 'New message' }).first().click()
    await page.getByRole('button', { name: 'Write to several people' }).click()
    for (const name of ['Ben', 'Cleo']) {
      await page.getByRole('searchbox', { name: 'To whom?' }).fill(name)
      const found = page.getByRole('button', { name: /localhost/ })
      await expect.poll(() => found.allInnerTexts()).toEqual([expect.stringContaining(name)])
      await found.click()
    }
    await page.getByRole('button', { name: 'Take Ben Okafor out' }).waitFor()
    await page.getByRole('button', { name: 'Write to 2 people' }).click()
    await page.getByRole('heading', { name: /Ben Okafor.*Cleo Novak/, level: 1 }).waitFor()
    for (const text of ['Choir on Friday?', 'At eight.']) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/messages\/c1~/)
    }
    await threadOn(page).getByText('At eight.').waitFor()
    for (const idTag of [ben, cleo]) {
      const conversations = async () => {
        await server.settle()
        const { data } = await (await server.as(idTag)).call(listConversations)
        const group = data.find(({ participants }) => participants.length === 2)
        return [group?.unread, group?.lastMessage?.content?.text]
      }
      await expect.poll(conversations).toEqual([2, 'At eight.'])
    }
    const other = await openApp(browser, server, { idTag: ben, path: '/messages', viewport: desk })
    await other.page.getByRole('link', { name: /Cleo Novak/ }).click()
    await other.page.getByRole('textbox', { name: 'Message' }).fill('I come')
    await other.page.keyboard.press('Enter')
    await threadOn(other.page).getByText('Sent', { exact: true }).waitFor()
    await server.settle()
    await threadOn(page).getByText('I come').waitFor()
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    expect([...faults, ...other.faults]).toEqual([])
  })

  test('are kept while they are written, and carry files that are saved', async () => {
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: `/messages/${cleo}` })
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('The plan, half')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('The plan, half')
    const opening = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Add pictures or files' }).click()
    const buffer = Buffer.from('Beds one to nine')
    await (await opening).setFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer })
    await page.getByRole('button', { name: 'Remove plan.txt' }).waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: 'Send', exact: true }).getAttribute('aria-disabled'))
      .toBe(null)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await threadOn(page)
      .getByRole('link', { name: /plan.txt/ })
      .waitFor()
    const saving = page.waitForEvent('download')
    await threadOn(page)
      .getByRole('link', { name: /plan.txt/ })
      .click()
    expect((await saving).suggestedFilename()).toBe('plan.txt')
    await page.reload()
    await field.waitFor()
    await expect.poll(() => field.inputValue()).toBe('')
    await page.getByRole('button', { name: 'Actions for the message of You' }).last().click()
    await page
      .getByRole('dialog')
      .getByText(/^Sent /)
      .waitFor()
    expect(faults).toEqual([])
  })

  test('are there once at every moment when news of them comes before the answer', async () => {
    const at = { idTag: anna, path: `/messages/${cleo}` }
    const { page, context, faults } = await openHearing(browser, server, at)
    const field = page.getByRole('textbox', { name: 'Message' })
    const painted = await countPainted(page, '[aria-label="Messages"] li', 'Said before')
    const answer = await holdAnswer(context, server, anna)
    await field.fill('Said before')
    await page.keyboard.press('Enter')
    const own = threadOn(page).getByRole('listitem').filter({ hasText: 'Said before' })
    await own.getByText('Sent', { exact: true }).waitFor()
    await expect.poll(() => own.count()).toBe(1)
    answer()
    // It is sent once the one before it has its answer, and no longer waits.
    await field.fill('Said after')
    await page.keyboard.press('Enter')
    await threadOn(page)
      .getByRole('listitem')
      .filter({ hasText: 'Said after' })
      .getByText('Sent', { exact: true })
      .waitFor()
    expect(await painted()).toEqual([1, 1])
    expect(faults).toEqual([])
  })

  test('whose answer was lost wait, and are sent once', async () => {
    const { page, context, go } = await openApp(browser, server, { idTag: anna, path: '/settings' })
    // It arrives, and neither the answer nor news of it does.
    await page.routeWebSocket(/\/ws\//, () => undefined)
    await go(`/messages/${dora}`)
    await context.route('**/api/actions', async (route) => {
      const request = route.request()
      const { authorization = '' } = request.headers()
      const headers = { authorization, 'content-type': 'application/json' }
      await server.request(anna, '/api/actions', { method: 'POST', headers, body: request.postData() })
      await route.abort()
    })
    await page.getByRole('textbox', { name: 'Message' }).fill('Only once')
    await page.keyboard.press('Enter')
    await page.getByText('Waits for the server.').waitFor()
    await context.unroute('**/api/actions')
    await page.getByText('Waits for the server.').waitFor({ state: 'detached' })
    await threadOn(page).getByText('Sent', { exact: true }).waitFor()
    const query = { type: ['MSG'], audience: dora as never } as const
    expect((await (await server.as(anna)).call(listActions, { query })).data).toHaveLength(1)
  })

  test('of an unknown person are a request, from which nothing is loaded', async () => {
    const client = await server.as(anna)
    const params = { name: 'privacy.open_messages' }
    await client.call(putSetting, { params, body: { value: true } })
    await act(server, eve, message(anna, 'Look: https://example.org'))
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/messages' })
    await page.getByRole('link', { name: /Eve Strange.*Request/ }).click()
    const request = page.getByRole('region', { name: 'Request' })
    await request.getByRole('heading', { name: 'Eve Strange is not among the people you know' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    expect(await receiptsTo(eve)).toBe(0)
    await request.getByRole('button', { name: 'Answer' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await page.getByRole('link', { name: 'All conversations' }).click()
    await page.getByRole('link', { name: /Eve Strange/ }).click()
    await request.getByRole('button', { name: 'Block' }).click()
    await page.getByText('Eve Strange is blocked.').waitFor()
    await page.getByRole('link', { name: /Eve Strange/ }).waitFor({ state: 'detached' })
    expect(await receiptsTo(eve)).toBe(0)
    expect(faults).toEqual([])
  })

  test('are many: opened at the first unread one, with older ones that make nothing jump', async () => {
    const gina = 'gina.localhost'
    await makeFriends(server, anna, { [gina]: 'Gina Rossi' })
    const texts = Array.from({ length: 300 }, (_, index) => message(anna, `Message ${index + 1}`))
    const ids = await act(server, gina, ...texts)
    await markRead(server, ids[199] ?? '')
    const params = { name: 'privacy.read_receipts' }
    await (await server.as(anna)).call(putSetting, { params, body: { value: false } })
    const { page, faults } = await openApp(browser, server, { idTag: anna, path: `/messages/${gina}` })
    const thread = threadOn(page)
    const shown = (text: string) => thread.getByText(text, { exact: true })
    await shown('New messages').waitFor()
    const heightOf = async (text: string) => (await shown(text).boundingBox())?.y ?? 0
    await expect.poll(() => heightOf('New messages')).toBeGreaterThan(100)
    await expect.poll(() => heightOf('New messages')).toBeLessThan(450)
    await expect.poll(() => shown('Message 201').isVisible()).toBe(true)
    // At the top older ones are loaded above, and what one looks at stays where it is.
    for (const [top, older] of [
      ['Message 162', 'Message 123'],
      ['Message 123', 'Message 84'],
      ['Message 84', 'Message 45'],
    ] as const) {
      await thread.evaluate((element: { scrollTop: number }) => {
        element.scrollTop = 0
      })
      await shown(older).waitFor({ state: 'attached' })
      await expect.poll(() => heightOf(top)).toBeLessThan(250)
      await expect.poll(() => heightOf(top)).toBeGreaterThan(50)
    }
    expect(await thread.getByRole('listitem').count()).toBeLessThanOrEqual(155)
    expect(await shown('Message 300').count()).toBe(0)
    await page.getByRole('button', { name: 'To the newest messages' }).click()
    await shown('Message 300').waitFor()
    await page.getByRole('link', { name: 'Messages', exact: true }).waitFor()
    expect(await receiptsTo(gina)).toBe(0)
    expect(faults).toEqual([])
  })

  test('are gone through by arrows and letters, one conversation after the other', async () => {
    const { page } = await openApp(browser, server, { idTag: anna, path: '/messages' })
    const rows = page.getByRole('main').getByRole('listitem').getByRole('link')
    await rows.first().focus()
    await page.keyboard.press('End')
    await expect.poll(() => isFocused(rows.last())).toBe(true)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => isFocused(rows.nth(1))).toBe(true)
    await page.keyboard.press('g')
    await expect.poll(() => focusedText(page)).toContain('Gina Rossi')
  })

  test('that do not exist are not found, in German', async () => {
    const at = { idTag: anna, path: `/messages/c1~${'A'.repeat(43)}`, locale: 'de-DE' }
    const { page } = await openApp(browser, server, at)
    await page.getByRole('heading', { name: 'Nicht gefunden' }).waitFor()
    await page.getByRole('link', { name: 'Nachrichten' }).click()
    await page.getByRole('heading', { name: 'Nachrichten', level: 1 }).waitFor()
  })
})
