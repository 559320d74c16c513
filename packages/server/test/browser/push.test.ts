import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAction, getVapidKey, subscribePush } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { PushService } from '#harness/push-service.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { workerPush } from '#harness/worker-push.ts'
import { connect } from '../federation/acts.ts'

/** A service worker as a client has one: it shows what it is sent (docs/protocol/push.md). */
const worker = `
  self.addEventListener('install', () => self.skipWaiting())
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
  self.addEventListener('push', (event) => {
    const { type, actionType, issuer, preview, actionId } = event.data.json()
    if (type !== 'action') return
    event.waitUntil(
      self.registration.showNotification(issuer, { body: preview, tag: actionId, data: { actionType, actionId } }),
    )
  })`

async function serveWorker(): Promise<string> {
  const server = createServer((request, response) => {
    const isWorker = request.url === '/worker.js'
    response
      .writeHead(200, { 'content-type': isWorker ? 'text/javascript' : 'text/html' })
      .end(isWorker ? worker : '<!doctype html><title>app</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://app.localhost:${(server.address() as AddressInfo).port}`
}

withChromium('a service worker in a browser', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let service: PushService
  beforeAll(async () => {
    browser = await launch()
    network = await TestNetwork.start(2)
    service = await PushService.start()
  })
  afterAll(async () => {
    await network?.[Symbol.asyncDispose]()
    await service?.[Symbol.asyncDispose]()
  })

  async function openWorker() {
    const origin = await serveWorker()
    const { page, context, faults } = await openPage(browser, { permissions: ['notifications'] })
    await page.goto(origin)
    // A worker that is not active yet misses what is delivered.
    await page.evaluate(`navigator.serviceWorker.register('/worker.js')
      .then(() => navigator.serviceWorker.ready)
      .then(({ active }) => new Promise((resolve) => {
        const look = () => active.state === 'activated' && resolve()
        active.addEventListener('statechange', look)
        look()
      }))`)
    return { page, context, faults }
  }

  test('shows what a message of the server says, markup as text', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await connect(network, alice, bob)
    const pushed = service.browser()
    await bob.client.call(getVapidKey)
    await bob.client.call(subscribePush, { body: { subscription: pushed.subscription } })
    const text = 'Tea at <b>four</b>? 🍵'
    const { data } = await alice.client.call(createAction, {
      body: { type: 'MSG', audienceTag: bob.idTag, content: { text } },
    })
    await network.settle()
    const { page, context, faults } = await openWorker()
    const push = await workerPush(context, page)
    const shown = `navigator.serviceWorker.ready
      .then((registration) => registration.getNotifications())
      .then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`
    const notification = {
      title: alice.idTag,
      body: text,
      tag: data.actionId,
      data: { actionType: 'MSG', actionId: data.actionId },
    }
    await push([pushed.pushed[0]?.message], () =>
      expect.poll(() => page.evaluate(shown), { timeout: 10_000 }).toEqual([notification]),
    )
    expect(faults).toEqual([])
  })

  test('takes the key of the tenant for its subscription, where a bad one is refused', async () => {
    const { alice } = await network.cast('alice')
    const { publicKey } = (await alice.client.call(getVapidKey)).data
    const { page } = await openWorker()
    const subscribe = (key: string) =>
      page.evaluate(`navigator.serviceWorker.ready
        .then(({ pushManager }) => pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: ${JSON.stringify(key)} }))
        .then(() => 'subscribed', ({ name }) => name)`)
    expect(await subscribe(publicKey.slice(0, -4))).toBe('InvalidAccessError')
    // The maker's push service cannot be reached from a closed network.
    expect(['AbortError', 'subscribed']).toContain(await subscribe(publicKey))
  })
})
