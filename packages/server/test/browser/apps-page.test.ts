import type { Client } from '@kith/client'
import { deleteAction, type IdTag, installApp, listInstalledApps, uninstallApp } from '@kith/protocol'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type MadePackage, offerApp } from '#harness/app-package.ts'
import { openPage, signInBrowser, withChromium } from '#harness/browser.ts'
import { TestServer } from '#harness/test-server.ts'

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7" fill="red"/></svg>'
const notes: MadePackage = {
  manifest: {
    titles: { de: 'Notizen', 'de-AT': 'Notizerl' },
    description: 'Write things down',
    descriptions: { de: 'Dinge aufschreiben' },
    icon: 'pictures/icon 1.svg',
    capabilities: ['rtdb'],
  },
  entries: [{ path: 'pictures/icon 1.svg', bytes: icon }],
}
const newerNotes: MadePackage = {
  ...notes,
  version: '1.1.0',
  manifest: { ...notes.manifest, capabilities: ['rtdb', 'files:read'], fileTypes: ['text/plain'] },
}

withChromium('the page of apps', (launch) => {
  let browser: Browser
  let server: TestServer
  let round = 0
  // Each test has a publisher and a follower of its own.
  let publisher: string
  let reader: string
  let alice: Client
  let bob: Client

  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    round += 1
    publisher = `alice${round}.localhost`
    reader = `bob${round}.localhost`
    for (const idTag of [publisher, reader]) await server.createTenant(idTag)
    await server.relate(reader, publisher, { isFollowing: true })
    await server.relate(publisher, reader, { isFollower: true })
    alice = await server.as(publisher)
    bob = await server.as(reader)
  })

  /** Offers an app, later than the one before, and waits until it has arrived. */
  async function offer(made: MadePackage = {}, by = alice) {
    server.clock.advance(1_000)
    const offered = await offerApp(by, made)
    await server.settle()
    return offered
  }
  const install = async (made: MadePackage = {}) => {
    const offered = await offer(made)
    await bob.call(installApp, { body: { actionId: offered.actionId } })
    return offered
  }
  const installed = async () =>
    (await bob.call(listInstalledApps)).data.map(({ name, version, autoUpdate }) => ({
      name,
      version,
      autoUpdate,
    }))
  async function open(options: BrowserContextOptions = {}) {
    const { context, page, faults } = await openPage(browser, options)
    await signInBrowser(context, server, reader)
    await page.goto(`${server.urlOf(reader)}/apps`)
    return { page, faults }
  }
  const said = (page: Page, words: string) =>
    expect.poll(() => page.getByRole('status').textContent()).toBe(words)
  const listed = (page: Page, list: string) =>
    page.getByRole('list', { name: list, exact: true }).getByRole('listitem')
  const titles = (page: Page, list: string) => listed(page, list).getByRole('heading').allTextContents()
  const focused = (page: Page) => page.locator(':focus').textContent()

  test('leads from an app that is searched for to its own page, by the keyboard and in German', async () => {
    await offer(notes)
    await offer({ name: 'Poll', manifest: { titles: { de: 'Umfrage' } } })
    const { page, faults } = await open({ locale: 'de-DE' })
    await expect.poll(() => titles(page, 'Zum Installieren')).toEqual(['Umfrage', 'Notizen'])
    await page.getByLabel('Eine App suchen').fill('notiz')
    await page.keyboard.press('Enter')
    await said(page, 'Gezeigte Apps: 1')
    expect(await listed(page, 'Zum Installieren').locator('p').allTextContents()).toEqual([
      'Dinge aufschreiben',
      `Version 1.0.0 von ${publisher}`,
      'Verlangt: Echtzeit-Datenbanken',
    ])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Notizen installieren')
    await page.keyboard.press('Enter')
    await said(page, 'Notizen ist installiert.')
    expect(await installed()).toEqual([{ name: 'Notes', version: '1.0.0', autoUpdate: false }])
    expect(await titles(page, 'Zum Installieren')).toEqual([])
    expect(await listed(page, 'Installiert').locator('p').allTextContents()).toEqual([
      'Dinge aufschreiben',
      `Version 1.0.0 von ${publisher}`,
      'Darf verwenden: Echtzeit-Datenbanken',
    ])
    const picture = listed(page, 'Installiert').locator('img')
    await expect
      .poll(() => picture.evaluate((shown: unknown) => (shown as { naturalWidth: number }).naturalWidth))
      .toBe(7)
    expect(await picture.getAttribute('alt')).toBe('')

    await page.getByLabel('Eine App suchen').fill('nirgends')
    await page.getByRole('button', { name: 'Suchen' }).click()
    await said(page, 'Nichts gefunden.')
    await page.getByRole('link', { name: 'Notizen' }).click()
    await page.waitForURL(`**/apps/${publisher}/Notes`)
    expect(faults).toEqual([])
  })

  test.each([
    ['en-GB', 'Notes', 'Write things down'],
    ['de-AT', 'Notizerl', 'Dinge aufschreiben'],
  ])('names apps as it is done in %s', async (locale, title, description) => {
    await install(notes)
    const { page } = await open({ locale })
    await page.getByRole('link', { name: title, exact: true }).waitFor()
    await page.getByText(description, { exact: true }).waitFor()
  })

  test('offers a newer version with what it asks for in addition, and leaves the focus on the app', async () => {
    await install(notes)
    await offer(newerNotes)
    const { page, faults } = await open()
    await page.getByText('Would also ask for: reading the file that you open with it').waitFor()
    expect(await titles(page, 'To install')).toEqual([])
    await page.getByRole('button', { name: 'Update to 1.1.0: Notes' }).click()
    await said(page, 'Notes has version 1.1.0 now.')
    expect(await installed()).toEqual([{ name: 'Notes', version: '1.1.0', autoUpdate: false }])
    await page
      .getByText('May use: real-time databases, reading the file that you open with it', { exact: true })
      .waitFor()
    expect(await page.getByRole('button', { name: 'Update to' }).count()).toBe(0)
    expect(await focused(page)).toBe('Notes')
    expect(faults).toEqual([])
  })

  test('offers no older version where the newest one was taken back', async () => {
    await offer(notes)
    const { actionId } = await install(newerNotes)
    await alice.call(deleteAction, { params: { actionId } })
    await server.settle()
    const { page } = await open()
    await listed(page, 'Installed').getByText('Its publisher has taken it back').waitFor()
    expect(await page.getByRole('button').allTextContents()).not.toContain('Update to 1.0.0')
    expect(await titles(page, 'To install')).toEqual([])
  })

  test('lets an app update by itself, and says when that is not possible any more', async () => {
    await install(notes)
    const { page } = await open({ locale: 'de-DE' })
    const choice = page.getByRole('checkbox', { name: 'Von selbst aktualisieren: Notizen' })
    await choice.check()
    await said(page, 'Notizen aktualisiert sich von jetzt an selbst.')
    expect(await installed()).toEqual([{ name: 'Notes', version: '1.0.0', autoUpdate: true }])
    await choice.uncheck()
    await said(page, 'Notizen aktualisiert sich nicht mehr selbst.')
    expect(await installed()).toEqual([{ name: 'Notes', version: '1.0.0', autoUpdate: false }])
    // In another tab.
    await bob.call(uninstallApp, { params: { publisher: publisher as IdTag, name: 'Notes' } })
    await choice.click()
    await page.getByRole('alert').getByText('Das ist hier nicht oder nicht mehr bekannt.').waitFor()
    await expect.poll(() => choice.isChecked()).toBe(false)
    expect(await installed()).toEqual([])
  })

  test('says that an app was taken back, and since when', async () => {
    const { actionId } = await install(notes)
    await alice.call(deleteAction, { params: { actionId } })
    await server.settle()
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(server.clock.now())
    const { page } = await open()
    await page
      .getByText(`Its publisher has taken it back on ${day}. It stays until you uninstall it.`)
      .waitFor()
    await page.getByRole('checkbox', { name: 'Update by itself: Notes' }).check()
    await said(page, 'Notes updates by itself from now on.')
    await page.getByRole('button', { name: 'Uninstall Notes' }).waitFor()
  })

  test('uninstalls after a question alone', async () => {
    await install(notes)
    await install({ name: 'Poll' })
    const { page, faults } = await open()
    const start = page.getByRole('button', { name: 'Uninstall Notes' })
    const dialog = page.getByRole('dialog', { name: 'Uninstall Notes?' })
    await start.click()
    await dialog.getByText('The files that were made with it stay.').waitFor()
    await dialog.getByRole('button', { name: 'Keep' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await start.click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await focused(page)).toBe('Uninstall')
    expect(await installed()).toHaveLength(2)

    await start.click()
    await dialog.getByRole('button', { name: 'Uninstall' }).click()
    await said(page, 'Notes is uninstalled.')
    expect(await installed()).toMatchObject([{ name: 'Poll' }])
    expect(await focused(page)).toBe('Installed')
    expect(await titles(page, 'To install')).toEqual(['Notes'])

    // What was answered before is no answer.
    await page.getByRole('button', { name: 'Uninstall Poll' }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Search' }).click()
    await said(page, 'Apps shown: 1')
    expect(await titles(page, 'Installed')).toEqual(['Poll'])
    await page.getByRole('button', { name: 'Uninstall Poll' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click()
    await listed(page, 'Installed').getByText('No app is installed.').waitFor()
    expect(faults).toEqual([])
  })

  test('shows as text what publishers write', async () => {
    const markup = '<img src=x onerror=alert(1)>{version}'
    const titles = { en: `<b>${markup}` }
    const hostile = { name: 'Bold', manifest: { titles, description: markup, descriptions: { en: markup } } }
    await install(hostile)
    await offer({ ...hostile, name: 'Bolder' })
    const { page, faults } = await open()
    await page.getByRole('button', { name: `Install <b>${markup}`, exact: true }).waitFor()
    for (const list of ['Installed', 'To install']) {
      expect(await listed(page, list).getByRole('heading').allTextContents()).toEqual([`<b>${markup}`])
      expect(await listed(page, list).locator('.hint').first().textContent()).toBe(markup)
    }
    await page.getByRole('button', { name: `Uninstall <b>${markup}`, exact: true }).click()
    await page.getByRole('heading', { name: `Uninstall <b>${markup}?`, exact: true }).waitFor()
    expect(await page.locator('main :is(b, img)').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('lists more than a page on demand, but newer versions at once', async () => {
    await install()
    await offer({ version: '1.1.0' })
    const names = Array.from({ length: 22 }, (_, at) => `App ${String(at + 1).padStart(2, '0')}`)
    const own = await server.as(reader)
    for (const name of names) await offer({ name }, own)
    const { page } = await open()
    await page.getByRole('button', { name: 'Update to 1.1.0: Notes' }).waitFor()
    expect(await titles(page, 'To install')).toEqual(names.slice(2).reverse())
    await page.getByRole('button', { name: 'More' }).click()
    await said(page, 'Apps shown: 22')
    expect(await titles(page, 'To install')).toEqual(names.toReversed())
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Install App 02')
    await page.getByRole('button', { name: 'More' }).waitFor({ state: 'hidden' })
  })

  test('goes on to the page that has something to install', async () => {
    await offer({ name: 'First' })
    for (let at = 1; at <= 20; at += 1) await install({ name: `App ${at}` })
    const { page } = await open()
    await page.getByRole('button', { name: 'Install First' }).waitFor()
    expect(await titles(page, 'To install')).toEqual(['First'])
  })
})
