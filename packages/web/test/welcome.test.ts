import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  getMe,
  listActions,
  listApiKeys,
  listPasskeys,
  listReferences,
  listSessions,
  listSettings,
  putSetting,
  revokeSession,
} from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import { startSmtpServer } from '../../server/test/harness/smtp-server.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import { type TestServer, testPassword } from '../../server/test/harness/test-server.ts'
import { focusedText } from './harness/focus.ts'
import { axeFindings, desk, openApp, openHearing, phone, startWebServer } from './harness/open-app.ts'
import { picture } from './harness/picture.ts'

const home = 'home.localhost'
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const step = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) })

async function choosePicture(page: Page, name: string): Promise<void> {
  const [opened] = await Promise.all([page.waitForEvent('filechooser'), button(page, name).click()])
  const buffer = Buffer.from(await (await picture(120, 300, 200)).arrayBuffer())
  await opened.setFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer })
}

withChromium('the first day', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: home })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const person = async (idTag: string) => {
    await server.createTenant(idTag)
    return await server.as(idTag)
  }

  test('gets a name, a picture and a passkey', async () => {
    const idTag = 'ada.localhost'
    const client = await person(idTag)
    const { page, faults } = await openApp(browser, server, { idTag, path: '/welcome' })
    await heading(page, 'First steps').waitFor()
    await choosePicture(page, 'Choose a picture')
    await page.getByRole('dialog').getByRole('button', { name: 'Use this part' }).click()
    await button(page, 'Choose another picture').waitFor()
    await button(page, 'Save the name').click()
    await page.getByText('Write the name by which people know you.').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada Lind')
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => (await client.call(getMe)).data)
      .toMatchObject({
        name: 'Ada Lind',
        profilePic: expect.any(String),
      })
    await button(page, 'Make a passkey').click()
    await expect.poll(async () => (await client.call(listPasskeys)).data).toHaveLength(1)
    await step(page, 'Invite people').getByRole('button', { name: 'Not now' }).waitFor()
    await expect.poll(() => focusedText(page)).toContain('Invite people')
    await page.getByText('2 of 5 done').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'You', exact: true }).click()
    await page.getByRole('link', { name: /^Ada Lind/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('is left for later step by step, and found again from the home page and the settings', async () => {
    const idTag = 'bea.localhost'
    const client = await person(idTag)
    const { page, faults } = await openApp(browser, server, { idTag, path: '/welcome' })
    await button(page, 'Not now').click()
    await step(page, 'Sign in without a password').getByRole('button', { name: 'Not now' }).click()
    await step(page, 'Invite people').getByRole('button', { name: 'Not now' }).waitFor()
    await page.getByRole('link', { name: 'Go to the home page' }).click()
    const line = page.getByRole('region', { name: 'First steps' })
    await line.getByText('3 of your first steps are left.').waitFor()
    await heading(page, 'Nothing here yet').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await line.getByRole('link', { name: 'Go on' }).click()
    await step(page, 'Sign in without a password').getByText('Later').waitFor()
    await page.goBack()
    await line.getByRole('button', { name: 'Put aside' }).click()
    await expect.poll(() => line.count()).toBe(0)
    await expect
      .poll(async () => {
        const { data } = await client.call(listSettings, { query: {} })
        return String(Object.fromEntries(data)['ui.welcome'])
      })
      .toContain('"isAside":true')
    await page.reload()
    await heading(page, 'Home').waitFor()
    await expect.poll(() => line.count()).toBe(0)
    await page.getByRole('link', { name: 'You', exact: true }).click()
    await page.getByRole('link', { name: 'First steps' }).click()
    await step(page, 'Your name and picture').getByText('Later').waitFor()
    expect(faults).toEqual([])
  })

  describe('further first days', () => {
    test('of somebody who is not the administrator speak of one’s own address alone', async () => {
      const idTag = 'ben.localhost'
      await person(idTag)
      const { page, context } = await openApp(browser, server, { idTag, path: '/welcome', viewport: desk })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await button(page, 'Invite people').click()
      await page.getByText(`${server.urlOf(idTag)}/`, { exact: true }).waitFor()
      expect(await heading(page, 'Your server').count()).toBe(0)
      expect(await button(page, 'Make an invitation').count()).toBe(0)
      await button(page, 'QR code').click()
      await page.getByRole('img', { name: 'QR code: Your address' }).waitFor()
      await step(page, 'Invite people').getByText('Done').waitFor()
      await button(page, 'Copy').click()
      await page.getByRole('status').getByText('Copied.').waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${server.urlOf(idTag)}/`)
      const mail = await page.getByRole('link', { name: 'By mail' }).getAttribute('href')
      expect(decodeURIComponent(mail ?? '')).toContain(`${server.urlOf(idTag)}/`)
    })

    test('are spoken of in the language that is chosen there', async () => {
      const idTag = 'cem.localhost'
      await person(idTag)
      const { page } = await openApp(browser, server, { idTag, path: '/welcome' })
      await page.getByRole('radio', { name: 'Deutsch' }).check()
      await heading(page, 'Erste Schritte').waitFor()
      await button(page, 'Dein Name und dein Bild').waitFor()
    })

    test('install the app where the browser offers it', async () => {
      const idTag = 'dan.localhost'
      await person(idTag)
      const { page } = await openApp(browser, server, { idTag, path: '/welcome' })
      await button(page, 'Install the app').click()
      await page.getByText('In Chrome and Edge').waitFor()
      await page.evaluate(`dispatchEvent(Object.assign(new Event('beforeinstallprompt', { cancelable: true }), {
        prompt() { dispatchEvent(new Event('appinstalled')); return Promise.resolve({ outcome: 'accepted' }) },
      }))`)
      await page.getByRole('button', { name: 'Install', exact: true }).click()
      await page.getByText('You are using the installed app.').waitFor()
      await step(page, 'Install the app').getByText('Done').waitFor()
    })

    test('of the administrator tell how the server stands, with invitations to it', async () => {
      const client = await server.as(home)
      const { page, faults } = await openApp(browser, server, { idTag: home, path: '/welcome' })
      const checks = page.getByRole('region', { name: 'Your server' })
      await checks.getByText('is a name of this machine alone').waitFor()
      await checks.getByText('No mail server is set').waitFor()
      await checks.getByText('None was made by “kith backup” yet.').waitFor()
      await checks.getByText('Only people with an invitation').waitFor()
      await button(page, 'Invite people').waitFor()
      expect(await axeFindings(page)).toEqual([])
      await writeFile(join(server.running.services.config.dataDir, 'last-backup'), new Date().toISOString())
      await checks.getByRole('button', { name: 'Look again' }).click()
      await checks.getByText('The last one was made').waitFor()
      await checks.getByRole('button', { name: 'Let everybody register' }).click()
      await checks.getByText('Everybody can make an account here').waitFor()
      await button(page, 'Invite people').click()
      await page.getByText(`${server.urlOf(home)}/register`, { exact: true }).waitFor()
      await button(page, 'Invite people').click()
      await checks.getByRole('button', { name: 'Only with an invitation' }).click()
      await checks.getByText('Only people with an invitation').waitFor()

      await button(page, 'Invite people').click()
      await page.getByRole('radio', { name: 'Up to ten people' }).check()
      await button(page, 'Make an invitation').click()
      const made = page.getByRole('listitem').filter({ hasText: 'For 10 people' })
      await made.waitFor()
      const [reference] = (await client.call(listReferences, { query: { type: 'invite' } })).data
      expect(reference).toMatchObject({ count: 10, expiresAt: expect.any(Number) })
      await made.getByText(`${server.urlOf(home)}/register#token=${reference?.refId}`).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await made.getByRole('button', { name: /^Revoke the invitation/ }).click()
      await page.getByText('The invitation was revoked.').waitFor()
      await expect
        .poll(async () => (await client.call(listReferences, { query: { type: 'invite' } })).data)
        .toEqual([])
      expect(faults).toEqual([])
    })

    test('tell the administrator whether mail leaves', async () => {
      await using smtp = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
      const client = await server.as(home)
      for (const [name, value] of [
        ['email.smtp.host', '127.0.0.1'],
        ['email.smtp.port', smtp.port],
      ] as const)
        await client.call(putSetting, { params: { name }, query: { scope: 'global' }, body: { value } })
      const { page } = await openApp(browser, server, { idTag: home, path: '/welcome' })
      const checks = page.getByRole('region', { name: 'Your server' })
      await checks.getByText('You have no e-mail address here yet').waitFor()
      await checks.getByRole('link', { name: 'Set your e-mail address' }).click()
      await page.getByLabel('New e-mail address').fill('me@example.org')
      await button(page, 'Send a link there').click()
      await page.getByText('A link is on its way to me@example.org.').waitFor()
      await page.goBack()
      await checks.getByRole('button', { name: 'Send me a mail' }).click()
      await checks.getByText('A mail is on its way to me@example.org.').waitFor()
      await expect.poll(() => smtp.received.flatMap(({ to }) => to)).toContain('me@example.org')
      await smtp[Symbol.asyncDispose]()
      await checks.getByRole('button', { name: 'Send me a mail' }).click()
      await checks.getByText('It failed at this stage: connect.').waitFor()
    })
  })

  describe('who was signed out meanwhile', () => {
    test('signs in with a passkey, with what was typed kept', async () => {
      const idTag = 'fay.localhost'
      await person(idTag)
      const { page, faults } = await openHearing(browser, server, { idTag, path: '/settings/security' })
      await button(page, 'Add a passkey').click()
      await page.getByText('The passkey was added.').waitFor()
      await page.getByRole('textbox', { name: 'Name of the new passkey' }).fill('typed')
      const client = await server.as(idTag)
      const { data: sessions } = await client.call(listSessions)
      for (const { sid, current } of sessions)
        if (!current) await client.call(revokeSession, { params: { sid } })
      // Sockets are looked through for what has ended every two seconds.
      await server.clock.advance(2_000)
      const dialog = page.getByRole('dialog', { name: 'Sign in again' })
      await dialog.getByLabel('Password').fill('something else')
      await page.keyboard.press('Enter')
      await dialog.getByText('This is not the password of the account.').waitFor()
      expect(await axeFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await expect.poll(() => dialog.count()).toBe(0)
      const typed = page.getByRole('textbox', { name: 'Name of the new passkey' })
      await expect.poll(() => typed.inputValue()).toBe('typed')
      await page.reload()
      await heading(page, 'Passkeys').waitFor()
      expect(faults).toEqual([])
    })

    test('proves anew who asks before a key is made', async () => {
      const idTag = 'gus.localhost'
      const client = await person(idTag)
      const { page } = await openApp(browser, server, { idTag, path: '/settings/keys' })
      await page.getByRole('textbox', { name: 'What is it for?' }).fill('calendar')
      await server.clock.advance(16 * 60_000)
      await button(page, 'Make the key').click()
      const proof = page.getByRole('dialog', { name: 'Is it you?' })
      await proof.getByLabel('Password').fill(testPassword)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'This is your new key' }).waitFor()
      expect((await client.call(listApiKeys)).data.map(({ name }) => name)).toEqual(['calendar'])
    })
  })

  test('who comes from another server types their identity, and follows from their own app', async () => {
    const idTag = 'hal.localhost'
    const client = await person(idTag)
    await server.createTenant('eva.localhost', { name: 'Eva Brandt' })
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings' })
    await heading(page, 'Settings').waitFor()
    // Another host than that of the app.
    const visitor = await page.context().newPage()
    await visitor.goto(`${server.urlOf('eva.localhost')}/`)
    await visitor.getByText('Follow from your own server').click()
    const typed = visitor.getByLabel('Your identity')
    await typed.fill('nonsense')
    await visitor.keyboard.press('Enter')
    await visitor.getByText('This is not an identity.').waitFor()
    await typed.fill(idTag)
    await visitor.keyboard.press('Enter')
    await visitor.getByRole('link', { name: 'Go on' }).click()
    await visitor.waitForURL(`${server.urlOf(idTag)}/profiles/eva.localhost`)
    await button(visitor, 'Follow').click()
    await expect
      .poll(async () => (await client.call(listActions, { query: { type: ['FLLW'] } })).data)
      .toHaveLength(1)
    expect(faults).toEqual([])
  })
})

withChromium('from the set-up link', (launch) => {
  test('it is a few taps to the first photo', async () => {
    const browser = await launch()
    const clock = new TestClock(Date.now())
    await using fresh = await startWebServer({ baseIdTag: home, env: { BASE_PASSWORD: '' }, clock })
    const { page, faults } = await openPage(browser, { viewport: phone, serviceWorkers: 'block' })
    let taps = 0
    const tap = async (of: ReturnType<Page['getByRole']>) => {
      taps += 1
      await of.click()
    }
    await page.goto(fresh.running.setUpUrl ?? '')
    await page.getByLabel('New password').fill('a new password')
    await page.getByLabel('The same again').fill('a new password')
    taps += 2
    await tap(button(page, 'Set the password'))
    await tap(page.getByRole('link', { name: 'Later' }))
    await page.waitForURL(/\/welcome$/)
    await page.clock.install()
    await tap(page.getByRole('link', { name: 'Share your first photo' }))
    await choosePicture(page, 'Pictures')
    // The button, and the picture in the dialog of the device.
    taps += 2
    await tap(button(page, /^Share/))
    await tap(page.getByRole('dialog').getByRole('button', { name: 'Without' }))
    await page.getByText('Your post leaves soon').waitFor()
    await page.clock.fastForward(10_000)
    const client = await fresh.as(home)
    await expect
      .poll(async () => (await client.call(listActions, { query: { type: ['POST'] } })).data[0]?.files?.[0])
      .toMatchObject({ fileName: 'me.jpg' })
    expect(taps).toBeLessThanOrEqual(9)
    expect(faults).toEqual([])
  })
})
