import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { chromiumPath, launchChromium, reachWorker } from '../packages/server/test/harness/chromium.ts'
import { pollMs } from '../packages/server/test/harness/patience.ts'
import { type PushedBrowser, PushService } from '../packages/server/test/harness/push-service.ts'
import { type Owned, password, request, step, until } from './demo-stage.ts'

/** Bob is told of a request by Alice while his browser is asleep: in Chromium, if there is one. */
export async function notify(alice: Owned, bob: Owned): Promise<void> {
  console.log('\nNotifications')
  await using service = await PushService.start()
  const pushed = service.browser()
  if (chromiumPath === undefined) {
    console.log('There is no Chromium: a program stands for the browser')
    await subscribe(bob, pushed)
    await ask(alice, bob, pushed)
    return
  }
  const browser = await launchChromium(chromiumPath)
  try {
    const { worker, deliver } = await openApp(browser, bob, pushed)
    const message = await ask(alice, bob, pushed)
    await until('Chromium shows the notification', async () => {
      // Chromium drops what is pushed to a worker that does not start in time; a push service sends it again.
      await deliver(message)
      return (await worker()).length > 0
    })
    const shown = await worker()
    console.log(`    ${JSON.stringify(shown)}`)
    strictEqual(shown.length, 1)
    strictEqual(shown[0]?.title, alice.idTag)
  } finally {
    await browser.close()
  }
}

async function subscribe(bob: Owned, { subscription }: PushedBrowser): Promise<void> {
  const { token, url } = bob
  await step('bob’s browser asks for the key of his server', 'GET', `${url}/api/auth/vapid`, { token })
  await step('and subscribes', 'POST', `${url}/api/notifications/subscription`, {
    token,
    json: { subscription },
  })
}

/** What bob’s push service has to hand over when Alice has asked for a connection. */
async function ask(alice: Owned, bob: Owned, { pushed }: PushedBrowser): Promise<unknown> {
  await step('alice asks bob for a connection', 'POST', `${alice.url}/api/actions`, {
    token: alice.token,
    json: { type: 'CONN', audienceTag: bob.idTag },
  })
  await until('bob’s push service has the notification', () => pushed.length > 0)
  const message = pushed[0]?.message as { actionType: string; issuer: string }
  console.log(`    decrypted by a library that is not Kith’s: ${JSON.stringify(message)}`)
  deepStrictEqual([message.actionType, message.issuer], ['CONN', alice.idTag])
  return message
}

interface Shown {
  readonly title: string
  readonly body: string
}

/** Bob switches notifications on in the app, and closes it. The app’s own service worker stays. */
async function openApp(browser: Browser, bob: Owned, { subscription }: PushedBrowser) {
  const context = await browser.newContext({ locale: 'en-GB', permissions: ['notifications'] })
  context.setDefaultTimeout(pollMs)
  const page = await context.newPage()
  // The push service of the browser’s maker is not asked.
  await context.addInitScript(`
    let present = null
    PushManager.prototype.getSubscription = async () => present
    PushManager.prototype.subscribe = async () => present = {
      toJSON: () => (${JSON.stringify(subscription)}),
      unsubscribe: async () => { present = null },
    }`)
  await page.goto(`${bob.url}/login`)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor()
  const deliver = await reachWorker(context, page)
  await page.goto(`${bob.url}/settings/notifications`)
  await page.getByRole('button', { name: 'Switch push notifications on' }).click()
  await page.getByText('Push notifications are on.').waitFor()
  console.log('bob switches notifications on in the app, and closes it')
  await page.goto('about:blank')
  await until('his server has no connection of his any more', async () => {
    const { bytes } = await request('GET', `${bob.url}/metrics`)
    return /^kith_sockets 0$/m.test(new TextDecoder().decode(bytes))
  })
  const worker = async (): Promise<readonly Shown[]> =>
    (await context.serviceWorkers()[0]?.evaluate(`registration.getNotifications()
      .then((all) => all.map(({ title, body }) => ({ title, body })))`)) as Shown[]
  return { worker, deliver }
}
