import type { IdTag } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import { TestNetwork } from '../../server/test/harness/test-network.ts'
import { openApp, webBuild } from './harness/open-app.ts'

const anna = 'anna.localhost'
const only = 'takes messages only from people they know. Connect first.'

withChromium('messages to people who do not know the writer', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let cleo: IdTag
  beforeAll(async () => {
    browser = await launch()
    network = new TestNetwork(new TestClock(Date.now()))
    await network.add('anna', { webBuild })
    await network.add('street')
    await network.person(0, 'ben')
    cleo = (await network.person(1, 'cleo')).idTag
  })
  afterAll(async () => {
    await network?.[Symbol.asyncDispose]()
  })

  const write = async (to: string) => {
    const server = network.server(0)
    const opened = await openApp(browser, server, { idTag: anna, path: `/messages/${to}` })
    await opened.page.getByRole('textbox', { name: 'Message' }).fill('Good morning')
    await opened.page.getByRole('button', { name: 'Send', exact: true }).click()
    return opened
  }

  test('are said to be refused where both live on one server', async () => {
    const { page } = await write('ben.localhost')
    await page.getByRole('alert').getByText(`Not delivered. ben.localhost ${only}`).waitFor()
    expect(await page.getByText('You may not do this').count()).toBe(0)
  })

  test('are not said to be sent once another server has refused them', async () => {
    network.announce(1, cleo)
    const { page, faults } = await write(cleo)
    const thread = page.getByRole('region', { name: 'Messages', exact: true })
    const refusals = async () => {
      await network.settle()
      return await thread.getByRole('alert').getByText(`Not delivered. ${cleo} ${only}`).count()
    }
    await expect.poll(refusals).toBe(1)
    await expect.poll(() => thread.getByText('Sent', { exact: true }).count()).toBe(0)
    expect(faults).toEqual([])
  })
})
