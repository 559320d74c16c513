import { createReference, getMe, type IdTag, inviteCommunity } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

const home = 'home.localhost'
const status = (page: Page) => page.getByRole('status').first()
const problem = (page: Page) => page.getByRole('alert')

withChromium('the page for registering', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start({ baseIdTag: home })
    await server.createTenant('taken.home.localhost')
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function invite(): Promise<string> {
    const admin = await server.as(home)
    const { data } = await admin.call(createReference, { body: { type: 'invite' } })
    return `${server.urlOf(home)}/register#token=${data.refId}`
  }

  async function lastLink(): Promise<string> {
    await server.settle()
    const mails = await readMails(server.running.services.config.mail.directory)
    return linkIn(mails.at(-1) ?? { text: '' })
  }

  test('leads from an invitation to an account with a password and a passkey', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(await invite())
    await page.getByLabel('Name', { exact: true }).fill('taken')
    await page.getByLabel('E-mail address').fill('guest@example.org')
    await problem(page).getByText('taken.home.localhost is taken.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Guest')
    expect(await page.locator('#identity').textContent()).toBe('guest.home.localhost')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor()
    await page.getByText('A mail to guest@example.org has the link').waitFor()
    expect(page.url()).toBe(`${server.urlOf(home)}/register`)
    expect(await page.evaluate('document.activeElement.id')).toBe('registered-title')

    await page.goto(await lastLink())
    await page.getByLabel('New password').fill('a good password')
    await page.getByLabel('The same again').fill('a good password')
    await page.keyboard.press('Enter')
    await page.getByText('You are signed in as guest.home.localhost.').waitFor()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await status(page).getByText('The passkey was added.').waitFor()
    expect(faults).toEqual([])
  })

  test('tells what is wrong with a name or an invitation before anything is sent', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(`${server.urlOf(home)}/register`)
    await problem(page).getByText('you need an invitation').waitFor()
    expect(await page.getByLabel('E-mail address').isVisible()).toBe(false)

    await page.goto(`${server.urlOf(home)}/register#token=${'x'.repeat(24)}`)
    await page.reload()
    await page.getByLabel('Name', { exact: true }).fill('free')
    await page.getByLabel('Name', { exact: true }).blur()
    await problem(page).getByText('This invitation is not known here').waitFor()

    await page.goto(await invite())
    await page.reload()
    await page.getByLabel('Name', { exact: true }).fill('free')
    await page.getByLabel('Name', { exact: true }).blur()
    await status(page).getByText('free.home.localhost can be had.').waitFor()
    await page.getByLabel('A domain of my own').check()
    await page.getByLabel('Name', { exact: true }).fill('free.localhost')
    await page.getByLabel('Name', { exact: true }).blur()
    await status(page).getByText('free.localhost can be had.').waitFor()
    await page.getByLabel('From another identity provider').check()
    await page.getByLabel('Name', { exact: true }).fill('free.elsewhere.localhost')
    await page.getByLabel('Name', { exact: true }).blur()
    await problem(page).getByText('free.elsewhere.localhost cannot be had here.').waitFor()
    expect(faults).toEqual([])
  })

  test('speaks German to whoever prefers it, and so do the mail and the account', async () => {
    const { page } = await openPage(browser, { locale: 'de-AT' })
    await page.goto(await invite())
    await page.getByRole('heading', { name: 'Registrieren' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('gast')
    await page.getByLabel('E-Mail-Adresse').fill('gast@example.org')
    await page.getByRole('button', { name: 'Registrieren' }).click()
    await page.getByRole('heading', { name: 'Sehen Sie in Ihre Mail' }).waitFor()
    await server.settle()
    const mails = await readMails(server.running.services.config.mail.directory)
    const subjects = mails.filter(({ to }) => to.includes('gast@')).map(({ subject }) => subject)
    expect(subjects).toEqual(['Willkommen: wählen Sie Ihr Passwort'])
  })

  test('lets who was invited found a community, also when they have to sign in first', async () => {
    const admin = await server.as(home)
    const body = { targetIdTag: 'taken.home.localhost' as IdTag }
    const { data } = await admin.call(inviteCommunity, { body })
    const { page, faults } = await openPage(browser)
    await page.goto(data.inviteUrl)
    await page.waitForURL('**/login*')
    await page.getByLabel('Password').fill(testPassword)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/communities/new*')
    await page.getByLabel('What it is called').fill('Garden club')
    await page.getByLabel('Its name on the web').fill('garden.home.localhost')
    await page.keyboard.press('Enter')
    await status(page).getByText('The community garden.home.localhost is made').waitFor()
    expect(page.url()).toBe(`${server.urlOf('taken.home.localhost')}/communities/new`)
    const club = await server.client('garden.home.localhost').call(getMe)
    expect(club.data).toMatchObject({ name: 'Garden club', type: 'community' })
    expect(faults).toEqual([])
  })
})
