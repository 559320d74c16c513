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
    await expect.poll(() => page.locator('#identity').textContent()).toBe('guest.home.localhost')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your account is made' }).waitFor()
    await page.getByText('kept for guest@example.org on the server').waitFor()
    expect(page.url()).toBe(`${server.urlOf(home)}/register`)
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('registered-title')

    await page.goto(await lastLink())
    await page.getByLabel('New password').fill('a good password')
    await page.getByLabel('The same again').fill('a good password')
    await page.keyboard.press('Enter')
    await page.getByText('You are signed in as guest.home.localhost.').waitFor()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await status(page).getByText('The passkey was added.').waitFor()
    expect(faults).toEqual([])
  })

  test('asks the server nothing about what is no name and no address, and says which field it is', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(await invite())
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/profiles/')) asked.push(request.url())
    })
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('dave müller')
    await expect.poll(() => page.locator('#identity').textContent()).toBe('…')
    await page.getByLabel('E-mail address').fill('dave@example')
    await problem(page).getByText('Name: letters, digits and hyphens, such as anna.').waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('wanted')
    await name.fill('dave')
    await expect.poll(() => problem(page).textContent()).toBe('')
    expect(asked).toEqual([])
    await page.getByLabel('From another identity provider').check()
    await problem(page).getByText('such as anna.example.com.').waitFor()
    await page.getByLabel('Below home.localhost').check()
    await status(page).getByText('dave.home.localhost can be had.').waitFor()
    await page.getByRole('button', { name: 'Register' }).click()
    await problem(page).getByText('E-mail address: a whole one, such as anna@example.com.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('email')
    expect(asked.filter((url) => url.endsWith('/register'))).toEqual([])
    expect(faults).toEqual([])
  })

  test('tells what is wrong with a name or an invitation before anything is sent', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(`${server.urlOf(home)}/register`)
    await problem(page).getByText('you need an invitation').waitFor()
    expect(await page.getByLabel('E-mail address').isVisible()).toBe(false)

    await page.goto(`${server.urlOf(home)}/register#token=${'x'.repeat(24)}`)
    await page.getByRole('heading', { name: 'This link is no longer good' }).waitFor()
    await page.getByText('Ask the person who invited you for another one.').waitFor()
    expect(await page.getByLabel('E-mail address').isVisible()).toBe(false)

    await page.goto(await invite())
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
    await page.getByRole('heading', { name: 'Ihr Konto ist angelegt' }).waitFor()
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
    await page.getByLabel('Its name on the web').fill('garden')
    await page.keyboard.press('Enter')
    await problem(page).getByText('a whole domain name, such as garden.example.org').waitFor()
    await page.getByLabel('Its name on the web').fill('garden.home.localhost')
    await page.keyboard.press('Enter')
    await status(page).getByText('The community garden.home.localhost is made').waitFor()
    expect(page.url()).toBe(`${server.urlOf('taken.home.localhost')}/communities/new`)
    await page.getByRole('link', { name: 'Go to the community' }).waitFor()
    await page.reload()
    await status(page).getByText('a community is made by invitation').waitFor()
    expect(await page.getByRole('button', { name: 'Found a community' }).count()).toBe(0)
    const club = await server.client('garden.home.localhost').call(getMe)
    expect(club.data).toMatchObject({ name: 'Garden club', type: 'community' })
    expect(faults).toEqual([])
  })
})
