import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { uploadFile } from '@kith/client'
import {
  createAction,
  createApiKey,
  deleteFile,
  getAccessToken,
  listActions,
  listApiKeys,
  listPasskeys,
  listSessions,
  revokeSession,
  startAccountExport,
  updateRelationship,
} from '@kith/protocol'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { CommandLine } from '../../server/test/harness/command-line.ts'
import { TestServer, testPassword } from '../../server/test/harness/test-server.ts'
import { isFocused, typeQuickly } from './harness/focus.ts'
import { axeFindings, desk, openApp, openHearing, startWebServer } from './harness/open-app.ts'
import { picture } from './harness/picture.ts'

const home = 'home.localhost'

withChromium('the settings', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startWebServer({ baseIdTag: home })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const person = async (name: string) => {
    const idTag = `${name.toLowerCase()}.localhost`
    await server.createTenant(idTag, { name })
    return idTag
  }
  /** Does something, until the server has taken the setting that it changes. */
  const whenSaved = async (page: Page, act: () => Promise<void>) => {
    const isSaved = (answer: Response) =>
      answer.request().method() === 'PUT' && answer.url().includes('/api/settings/')
    const [saved] = await Promise.all([page.waitForResponse(isSaved), act()])
    expect(saved.status()).toBe(200)
  }
  const onRoot = (page: Page, what: string) => page.evaluate(`document.documentElement.${what}`)

  test('lead to every section and back, with one’s own profile at the top', async () => {
    const idTag = await person('Ada')
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings' })
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    const profile = page.getByRole('link', { name: /Ada.*profile/ })
    await expect.poll(() => profile.getAttribute('href')).toBe(`/profiles/${idTag}`)
    const links = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    await expect.poll(() => links.count()).toBe(9)
    for (let at = 0; at < 9; at += 1) {
      await links.nth(at).focus()
      await page.keyboard.press('Enter')
      const heading = page.getByRole('heading', { level: 1 })
      await page.getByRole('link', { name: 'Settings', exact: true }).first().waitFor()
      await expect
        .poll(() => heading.evaluate((element) => element === element.ownerDocument.activeElement))
        .toBe(true)
      await page.goBack()
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    }
    expect(faults).toEqual([])
  })

  test('change the look at once, keep it on the server, and show it on other devices without a reload', async () => {
    const idTag = await person('Bea')
    const at = { idTag, path: '/settings/look', colorScheme: 'light' } as const
    const { page, faults } = await openApp(browser, server, at)
    const other = await openHearing(browser, server, at)
    await other.page.getByRole('radio', { name: 'Dark' }).waitFor()
    await page.getByRole('radio', { name: 'Dark' }).check()
    await page.getByRole('checkbox', { name: 'More contrast' }).check()
    await page.getByRole('radio', { name: 'Very large' }).check()
    await expect.poll(() => onRoot(page, 'dataset.scheme')).toBe('dark')
    await expect.poll(() => page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe('24px')
    await expect.poll(() => onRoot(other.page, 'dataset.textSize')).toBe('24')
    await expect.poll(() => onRoot(other.page, 'dataset.contrast')).toBe('more')
    expect(await axeFindings(page)).toEqual([])
    await page.reload()
    await expect.poll(() => onRoot(page, 'dataset.scheme')).toBe('dark')
    await expect.poll(() => page.getByRole('checkbox', { name: 'More contrast' }).isChecked()).toBe(true)
    expect([...faults, ...other.faults]).toEqual([])
  })

  test('switch single keys off as shortcuts, on this device', async () => {
    const idTag = await person('Bob')
    const { page } = await openApp(browser, server, { idTag, path: '/settings/look' })
    const keys = page.getByRole('checkbox', { name: 'Shortcuts with single keys' })
    await keys.uncheck()
    await page.reload()
    const heading = page.getByRole('heading', { name: 'Look and language' })
    await heading.focus()
    await typeQuickly(page, 'gh')
    expect(await page.evaluate('location.pathname')).toBe('/settings/look')
    await keys.check()
    await heading.focus()
    await typeQuickly(page, 'gh')
    await page.waitForURL((url) => url.pathname === '/')
  })

  test('speak the language that is chosen, else that of the browser', async () => {
    const idTag = await person('Cem')
    const { page } = await openApp(browser, server, { idTag, path: '/settings/look', locale: 'de-DE' })
    await page.getByRole('heading', { name: 'Aussehen und Sprache' }).waitFor()
    await page.getByRole('radio', { name: 'English' }).check()
    await page.getByRole('heading', { name: 'Look and language' }).waitFor()
    await expect.poll(() => onRoot(page, 'lang')).toBe('en')
    await expect.poll(() => page.title()).toBe('Look and language – Kith')
    await page.getByRole('radio', { name: 'As in the browser' }).check()
    await page.getByRole('heading', { name: 'Aussehen und Sprache' }).waitFor()
  })

  test('a change that the server does not take is undone, and said', async () => {
    const idTag = await person('Dan')
    const { page } = await openApp(browser, server, { idTag, path: '/settings/privacy' })
    await page.route('**/api/settings/*', (route) => route.fulfill({ status: 500, body: '' }))
    const messages = page.getByRole('checkbox', { name: 'Messages from unknown people' })
    await messages.click()
    await page.getByText('Something went wrong on the server.').waitFor()
    await expect.poll(() => messages.isChecked()).toBe(false)
    await page.unroute('**/api/settings/*')
    const receipts = page.getByRole('checkbox', { name: 'Read receipts' })
    await whenSaved(page, () => messages.check())
    await whenSaved(page, () => receipts.uncheck())
    await whenSaved(page, () => page.getByRole('radio', { name: 'Followers' }).check())
    await page.reload()
    await expect.poll(() => page.getByRole('radio', { name: 'Followers' }).isChecked()).toBe(true)
    await expect.poll(() => messages.isChecked()).toBe(true)
    await expect.poll(() => receipts.isChecked()).toBe(false)
  })

  test('choose what push notifications are about', async () => {
    const idTag = await person('Eli')
    const { page } = await openApp(browser, server, { idTag, path: '/settings/notifications' })
    await whenSaved(page, () => page.getByRole('checkbox', { name: 'Reactions' }).check())
    await page.reload()
    await expect.poll(() => page.getByRole('checkbox', { name: 'Reactions' }).isChecked()).toBe(true)
  })

  test('take a block back', async () => {
    const [idTag, blocked] = [await person('Fay'), await person('Gus')]
    const client = await server.as(idTag)
    await client.call(updateRelationship, { params: { idTag: blocked }, body: { relationship: 'block' } })
    const { page } = await openApp(browser, server, { idTag, path: '/settings/privacy' })
    await page.getByRole('button', { name: 'Unblock Gus' }).click()
    await page.getByText('You have blocked or muted nobody.').waitFor()
  })

  test('make, list and revoke an API key, which is shown once', async () => {
    const idTag = await person('Hal')
    const client = await server.as(idTag)
    await client.call(createApiKey, { body: { name: 'backup', scope: 'read' } })
    const { page, context, faults } = await openApp(browser, server, { idTag, path: '/settings/keys' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('textbox', { name: 'What is it for?' }).fill('calendar')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const shown = page.getByRole('dialog', { name: 'This is your new key' })
    await shown.getByRole('button', { name: 'Copy the key' }).click()
    await shown.getByText('Copied.').waitFor()
    const key = String(await page.evaluate('navigator.clipboard.readText()'))
    expect((await server.request(idTag, '/api/actions', bearer(key))).status).toBe(200)
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Revoke the key calendar' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The key was revoked.').waitFor()
    const { data } = await client.call(listApiKeys)
    expect(data.map(({ name }) => name)).toEqual(['backup'])
    expect(faults).toEqual([])
  })

  test('sign other devices out, one or all', async () => {
    const idTag = await person('Ida')
    for (let devices = 0; devices < 3; devices += 1) await server.signIn(idTag)
    const { page } = await openApp(browser, server, { idTag, path: '/settings/sessions', viewport: desk })
    const others = page.getByRole('button', { name: /^Sign out (?!all)/ })
    await others.first().click()
    await page.getByText('Signed out there.').waitFor()
    await expect.poll(() => others.count()).toBe(2)
    await page.getByRole('button', { name: 'Sign out all other devices' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out all other devices' }).click()
    await page.getByText('You are signed in on this device alone.').waitFor()
    await page.getByRole('link', { name: 'Approve a device' }).waitFor()
  })

  test('sign all other devices out, also after some that have ended already', async () => {
    const idTag = await person('Ina')
    const [first, last] = [await server.as(idTag), await server.as(idTag)]
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/sessions' })
    const others = page.getByRole('button', { name: /^Sign out (?!all)/ })
    await expect.poll(() => others.count()).toBeGreaterThan(1)
    const count = await others.count()
    const third = await server.as(idTag)
    await page.reload()
    await expect.poll(() => others.count()).toBe(count + 1)
    // Wherever the list begins, it begins with one of these.
    for (const client of [first, third]) {
      const own = (await client.call(listSessions)).data.find(({ current }) => current)
      await client.call(revokeSession, { params: { sid: own?.sid ?? '' } })
    }
    await page.getByRole('button', { name: 'Sign out all other devices' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out all other devices' }).click()
    await page.getByText('You are signed in on this device alone.').waitFor()
    await expect(last.call(listSessions)).rejects.toMatchObject({ status: 401 })
    expect(faults).toEqual([])
  })

  test('add and remove a passkey, after a fresh proof when the sign-in is old', async () => {
    const idTag = await person('Jon')
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/security' })
    const client = await server.as(idTag)
    const field = page.getByRole('textbox', { name: 'Name of the new passkey' })
    await expect.poll(() => field.inputValue()).toBe('Chrome on Linux')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey was added.').waitFor()
    await page.getByRole('button', { name: 'Rename the passkey Chrome on Linux' }).click()
    const naming = page.getByRole('dialog', { name: 'Rename this passkey' })
    await naming.getByRole('textbox', { name: 'New name' }).fill('Phone')
    expect(await axeFindings(page)).toEqual([])
    await naming.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('The passkey was renamed.').waitFor()
    await server.clock.advance(16 * 60_000)
    await page.getByRole('button', { name: 'Remove the passkey Phone' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    const proof = page.getByRole('dialog', { name: 'Is it you?' })
    await expect.poll(() => isFocused(proof.getByLabel('Password'))).toBe(true)
    await page.keyboard.type('something else')
    await page.keyboard.press('Enter')
    await proof.getByText('This is not the password of the account.').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await proof.getByRole('button', { name: 'With a passkey' }).click()
    await page.getByText('The passkey was removed.').waitFor()
    expect((await client.call(listPasskeys)).data).toEqual([])
    // The session before the proof has ended: its place was taken.
    const { data } = await client.call(listSessions)
    expect(data.map(({ method }) => method).sort()).toEqual(['passkey', 'password'])
    expect(faults).toEqual([])
  })

  test('change the password and stay signed in', async () => {
    const idTag = await person('Kim')
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/security' })
    const fill = async (present: string) => {
      await page.getByLabel('Present password').fill(present)
      await page.getByLabel('New password').fill('another horse battery')
      await page.keyboard.press('Enter')
    }
    await fill('something else')
    await page.getByText('This is not your present password.').waitFor()
    await fill(testPassword)
    await page.getByText('The password was changed.').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
    expect(await server.signIn(idTag, 'another horse battery')).toBeTruthy()
    expect(faults).toEqual([])
  })

  test('tell of e-mail, storage and what happened', async () => {
    const idTag = await person('Lea')
    await server.signIn(idTag)
    const { page, go } = await openApp(browser, server, { idTag, path: '/settings/security' })
    await page.getByText('There is none. If you forget the password').waitFor()
    await page.getByLabel('New e-mail address').fill('lea@example.org')
    await page.getByRole('button', { name: 'Send a link there' }).click()
    await page.getByText('A link is on its way to lea@example.org.').waitFor()
    await page.getByText(/lea@example.org waits to be confirmed/).waitFor()
    await go('/settings/storage')
    await page.getByText(/0 bytes of .* used/).waitFor()
    await go('/settings/log')
    await page.getByText('Another e-mail address was asked for').waitFor()
    await page.getByText('Signed in').first().waitFor()
  })

  test('tell what takes room, by kind, and have it deleted', async () => {
    const idTag = await person('Ron')
    const client = await server.as(idTag)
    await uploadFile(client, await picture(200, 1600, 900), { fileName: 'hill.jpg' })
    const text = new Blob(['word '.repeat(40_000)], { type: 'text/plain' })
    await uploadFile(client, text, { fileName: 'long.txt' })
    const old = await uploadFile(client, new Blob(['x'.repeat(3_000)]), { fileName: 'old.bin' })
    await client.call(deleteFile, { params: { fileId: old.fileId } })
    await server.settle()
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/storage' })
    const kinds = page.getByRole('list', { name: 'Used by kind' }).getByRole('listitem')
    await kinds.filter({ hasText: /^Documents200 kB$/ }).waitFor()
    for (const name of [/^Pictures/, /^Previews of pictures/, /^Other files and apps/])
      await kinds.filter({ hasText: name }).waitFor()
    const deletable = page.getByRole('region', { name: 'What could be deleted' })
    await deletable.getByText('In the trash: 1 file, 3 kB').waitFor()
    await expect.poll(() => axeFindings(page)).toEqual([])
    await deletable.getByRole('button', { name: 'Empty the trash' }).click()
    await deletable.getByRole('button', { name: 'Delete 1 file now: it cannot be undone' }).click()
    await deletable.getByText('In the trash: ').waitFor({ state: 'detached' })
    await kinds.filter({ hasText: 'Other files' }).waitFor({ state: 'detached' })
    await deletable.getByRole('button', { name: 'Delete long.txt for good' }).click()
    await deletable.getByRole('button', { name: 'Delete long.txt now: it cannot be undone' }).click()
    await kinds.filter({ hasText: 'Documents' }).waitFor({ state: 'detached' })
    await kinds.filter({ hasText: /^Pictures/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('download everything that belongs to the account, after a fresh proof, for another server', async () => {
    const idTag = await person('Sue')
    const client = await server.as(idTag)
    const photo = await picture(120, 1200, 800)
    const { fileId } = await uploadFile(client, photo, { fileName: 'lake.jpg' })
    await client.call(createAction, {
      body: { type: 'POST', content: { text: 'The lake' }, attachments: [fileId] },
    })
    await server.settle()
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/data' })
    await page.getByText(/It will take about .* most of it your files/).waitFor()
    expect(await axeFindings(page)).toEqual([])
    server.clock.advance(16 * 60_000)
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    const proof = page.getByRole('dialog', { name: 'Is it you?' })
    await proof.getByLabel('Password').fill(testPassword)
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    expect(download.suggestedFilename()).toMatch(/^sue\.localhost-\d{4}-\d\d-\d\d\.tar$/)
    await page.getByText(/Everything was sent on/).waitFor()
    await page.getByRole('button', { name: 'Download again' }).waitFor()
    await expect.poll(() => axeFindings(page)).toEqual([])
    expect(faults).toEqual([])

    await using there = await CommandLine.open()
    const file = join(there.folder, 'sue.tar')
    await download.saveAs(file)
    expect(await there.run(['import', file])).toMatchObject({ exitCode: 0, err: '' })
    await using moved = await TestServer.start({ dataDir: there.dataDir })
    const again = await moved.as(idTag)
    const { data: posts } = await again.call(listActions, { query: { type: 'POST' } })
    expect(posts.map(({ content }) => content)).toEqual([{ text: 'The lake' }])
    const { token } = (await again.call(getAccessToken, {})).data
    const kept = await moved.request(idTag, `/api/files/${fileId}`, bearer(token))
    expect(Buffer.from(await kept.arrayBuffer()).equals(Buffer.from(await photo.arrayBuffer()))).toBe(true)
  })

  test('say that the download of the account broke off, and why', async () => {
    const idTag = await person('Tim')
    const client = await server.as(idTag)
    const noise = new Blob([randomBytes(24 * 1024 * 1024)])
    await uploadFile(client, noise, { fileName: 'noise.bin' })
    const { page, faults } = await openApp(browser, server, { idTag, path: '/settings/data', viewport: desk })
    const { ticket } = (await client.call(startAccountExport)).data
    const leaving = new AbortController()
    const address = `/api/export/archive?ticket=${ticket}`
    const answer = await server.request(idTag, address, { signal: leaving.signal })
    await answer.body?.getReader().read()
    await page.reload()
    await page.getByText('The server prepares the file.').waitFor()
    server.clock.advance(15_000)
    await page.getByText(/sent so far/).waitFor()
    await page.getByRole('progressbar', { name: 'Sent of the download' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(await page.getByRole('button', { name: /^Download/ }).count()).toBe(0)
    leaving.abort()
    await page.getByText('The download is not complete.').waitFor()
    await page.getByText('It was cancelled, or the connection broke.').waitFor()
    await expect.poll(() => axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('sign out', async () => {
    const idTag = await person('Mia')
    const { page, context } = await openApp(browser, server, { idTag, path: '/settings' })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/\/login/)
    expect(await context.cookies()).toEqual([])
  })
})

function bearer(key: string): RequestInit {
  return { headers: { authorization: `Bearer ${key}` } }
}
