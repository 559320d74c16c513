import { getManagedIdentity } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { linkIn } from '#harness/mail-files.ts'
import { mailbox, NameProvider } from '#harness/name-provider.ts'

withChromium('the page for activating a name', (launch) => {
  let browser: Browser
  let names: NameProvider
  beforeAll(async () => {
    browser = await launch()
    names = await NameProvider.start()
  })
  afterAll(async () => {
    await names?.[Symbol.asyncDispose]()
  })

  const linkTo = async (label: string) => linkIn((await names.mailsTo(mailbox(label))).at(-1) ?? { text: '' })

  test('makes a name its reader’s by a click, and not before', async () => {
    await names.register('first')
    const { page, faults } = await openPage(browser)
    await page.goto(await linkTo('first'))
    await page.getByRole('heading', { name: 'Activate a name' }).waitFor()
    // It is shown once the link was found to be good.
    await page.getByRole('button', { name: 'Activate it' }).waitFor()
    const alice = await names.visit('alice.localhost')
    const statusOf = async () =>
      (await alice.call(getManagedIdentity, { params: { id: 'first' } })).data.status
    expect(await statusOf()).toBe('pending')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('The name first.names.localhost is active.').waitFor()
    expect(await statusOf()).toBe('active')
    expect(page.url()).toBe(`${names.server.urlOf(names.idTag)}/activate`)
    expect(await page.getByRole('button').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('says what is wrong with a link, in German to whoever prefers it', async () => {
    await names.register('second')
    const link = await linkTo('second')
    await names.activate(new URL(link).hash.slice('#token='.length))
    const { page } = await openPage(browser, { locale: 'de-AT' })
    await page.goto(link)
    await page.getByRole('heading', { name: 'Dieser Link gilt nicht mehr' }).waitFor()
    await page.getByText('Vielleicht ist der Name schon aktiv.').waitFor()
    await page.goto(`${names.server.urlOf(names.idTag)}/activate`)
    await page.getByText('Er ist unvollständig.').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
  })
})
