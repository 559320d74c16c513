import { getVapidKey, listConversations, markConversationRead, subscribePush } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { PushService } from '../../server/test/harness/push-service.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { workerPush } from '../../server/test/harness/worker-push.ts'
import { axeFindings, goHearing, startWebServer } from './harness/open-app.ts'
import { act, makeFriends } from './harness/people.ts'
import { clickNotification, openKeptApp } from './harness/worker.ts'

const home = 'home.localhost'
const ben = 'ben.localhost'
const cara = 'cara.localhost'

withChromium('the service worker', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: home })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const openWithWorker = (path: string) =>
    openKeptApp(browser, server, { idTag: home, path, permissions: ['notifications'] })

  test('opens the app without a connection, and it goes on when that is back', async () => {
    const { page, context, go, faults } = await openWithWorker('/settings')
    await context.setOffline(true)
    await go('/settings/look')
    await page.getByRole('heading', { name: 'Look and language' }).waitFor()
    await page.getByText('No connection.').waitFor()
    await context.setOffline(false)
    await page.getByText('No connection.').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('keeps nothing but the document and the files of the build', async () => {
    const { page } = await openWithWorker('/settings')
    const kept = (await page.evaluate(`caches.keys().then((names) => Promise.all(names.map((name) =>
      caches.open(name).then((cache) => cache.keys()).then((all) => all.map(({ url }) => new URL(url).pathname))
    ))).then((all) => all.flat())`)) as string[]
    expect(kept.length).toBeGreaterThan(5)
    expect(kept.filter((path) => path !== '/home' && !path.startsWith('/assets/web/'))).toEqual([])
  })

  const notificationsOf = (page: Page) =>
    page.evaluate(`navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
      .then((all) => all.map(({ title, body, data }) => [title, body, data.path]).sort((one, other) => one[1] < other[1] ? 1 : -1))`)

  test('shows one notification per conversation, in words where the text is hidden, until it was read elsewhere', async () => {
    await makeFriends(server, home, { [ben]: 'Ben Okafor' })
    const text = { type: 'MSG', audienceTag: home as never, content: { text: 'Tea?' } } as const
    const [upTo = ''] = await act(server, ben, text)
    const client = await server.as(home)
    const [conversation] = (await client.call(listConversations)).data
    const conversationId = conversation?.conversationId ?? ''
    const opened = await openWithWorker('/settings')
    const { page, context } = opened
    // What is read elsewhere is told to pages that listen.
    await goHearing(opened, '/settings')
    await page.getByRole('link', { name: 'Messages (1 new)' }).waitFor()
    const push = await workerPush(context, page)
    const message = { type: 'action', actionType: 'MSG', issuer: ben, conversationId }
    const hidden = [ben, 'Has sent you a message.', '/messages/c1~2']
    const shown = [hidden, [ben, 'At <b>four</b>?', `/messages/${conversationId}`]]
    const messages = [
      { ...message, preview: 'Tea?', actionId: upTo },
      { ...message, preview: 'At <b>four</b>?', actionId: 'a1~2' },
      { ...message, preview: '', conversationId: 'c1~2', actionId: 'a1~3' },
      { type: 'newer' },
    ]
    await push(messages, () => expect.poll(() => notificationsOf(page), { timeout: 10_000 }).toEqual(shown))
    await client.call(markConversationRead, { params: { conversationId }, body: { upTo } })
    await expect.poll(() => notificationsOf(page)).toEqual([hidden])
  })

  test('shows what the server has encrypted for it, and leads to the conversation on a click', async () => {
    await using service = await PushService.start()
    await makeFriends(server, home, { [cara]: 'Cara Lind' })
    const client = await server.as(home)
    const pushed = service.browser()
    await client.call(getVapidKey)
    await client.call(subscribePush, { body: { subscription: pushed.subscription } })
    const text = 'Tea at <b>four</b>? 👩🏽\u200d🚀'
    await act(server, cara, { type: 'MSG', audienceTag: home as never, content: { text } })
    const messages = pushed.pushed.map(({ message }) => message)
    expect(messages).toHaveLength(1)
    const [{ conversationId }] = messages as [{ conversationId: string }]

    const opened = await openWithWorker('/settings')
    const { page, context, faults } = opened
    await goHearing(opened, '/settings')
    const push = await workerPush(context, page)
    const path = `/messages/${conversationId}`
    const isShown = () =>
      expect.poll(() => notificationsOf(page), { timeout: 10_000 }).toEqual([[cara, text, path]])
    await push(messages, isShown)
    await clickNotification(context)
    await page.waitForURL(`**${path}`)
    await page.getByRole('main').getByText(text).filter({ visible: true }).waitFor()
    expect(await notificationsOf(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('is subscribed to push messages on a tap, and no more on another', async () => {
    const service = await PushService.start()
    onTestFinished(() => service[Symbol.asyncDispose]())
    const { page, context, go, faults } = await openWithWorker('/settings')
    // The push service of the browser's maker is out of reach here.
    await context.addInitScript(`
      let present = null
      PushManager.prototype.getSubscription = async () => present
      PushManager.prototype.subscribe = async () => present = {
        toJSON: () => (${JSON.stringify(service.browser().subscription)}),
        unsubscribe: async () => { present = null },
      }`)
    await go('/settings/notifications')
    await page.getByRole('button', { name: 'Switch push notifications on' }).click()
    await page.getByText('Push notifications are on.').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Switch push notifications off' }).click()
    await page.getByRole('button', { name: 'Switch push notifications on' }).waitFor()
    expect(faults).toEqual([])
  })
})
