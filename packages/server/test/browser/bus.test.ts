import { createAction } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'

/** Runs in the page: listens with the browser's own WebSocket, as `connectBus` does. */
function listenInPage(url: string): string {
  return `new Promise((resolve) => {
    const told = []
    const socket = new WebSocket(${JSON.stringify(url)})
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, cmd: 'ping' }))
    socket.onmessage = ({ data }) => { told.push(JSON.parse(data)); window.told = told; if (told.length === 1) resolve('open') }
    socket.onclose = ({ code, reason }) => { window.ended = [code, reason]; resolve('closed') }
  })`
}

withChromium('the bus in a browser', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start({ baseIdTag: home })
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('tells events to a page of another origin', async () => {
    const token = await server.signIn(home)
    const { page } = await openPage(browser)
    await page.goto(`${server.urlOf(home).replace(home, 'app.localhost')}/healthz`)
    const url = `${server.urlOf(home).replace('http', 'ws')}/ws/bus?token=${token}`
    expect([await page.evaluate(listenInPage(url)), await page.evaluate('window.ended')]).toEqual([
      'open',
      undefined,
    ])
    await server
      .client(home, token)
      .call(createAction, { body: { type: 'POST', content: { text: 'Hello' } } })
    await page.waitForFunction('window.told.length === 2')
    expect(await page.evaluate('window.told')).toMatchObject([
      { id: 1, cmd: 'ack', data: { status: 'pong' } },
      { cmd: 'ACTION', data: { content: { text: 'Hello' } }, seq: 1 },
    ])
  })

  test('tells a page why it is not let in', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${server.urlOf(home).replace(home, 'app.localhost')}/healthz`)
    const url = `${server.urlOf(home).replace('http', 'ws')}/ws/bus?token=bad`
    const closed = page.evaluate(listenInPage(url))
    // The second that a looping client has to wait is the server's.
    const moving = setInterval(() => server.clock.advance(1000), 50)
    onTestFinished(() => clearInterval(moving))
    expect(await closed).toBe('closed')
    expect(await page.evaluate('window.ended')).toEqual([1008, 'authentication failed'])
  })
})
