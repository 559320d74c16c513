import { createFile, createShare, type FileId, type IdTag, uninstallApp, uploadFile } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AppPerson,
  type OpenedApp,
  openApp,
  publishExample,
  publishReadmeExample,
} from '#harness/app-people.ts'
import { openPage, withChromium } from '#harness/browser.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { testPassword } from '#harness/test-server.ts'

withChromium('apps', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let alice: AppPerson
  let bob: AppPerson
  beforeAll(async () => {
    ;[browser, network] = await Promise.all([launch(), TestNetwork.start(2)])
    const people = await network.cast('alice', 'bob')
    alice = at(0, people.alice.idTag)
    bob = at(1, people.bob.idTag)
    await publishExample(alice, 'todo')
  })
  afterAll(() => network?.[Symbol.asyncDispose]())

  // A server that was taken down is another one when it is back.
  const at = (index: number, idTag: string): AppPerson => ({
    idTag,
    get server() {
      return network.server(index)
    },
  })
  async function makeFile({ page }: OpenedApp, name: string): Promise<void> {
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Create and open' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
  }
  const add = async ({ app }: OpenedApp, title: string) => {
    await app.getByLabel('What is to be done').fill(title)
    await app.getByLabel('What is to be done').press('Enter')
  }
  const titles = ({ app }: OpenedApp) =>
    app
      .getByRole('listitem')
      .filter({ has: app.getByRole('checkbox') })
      .allTextContents()
  const shows = (opened: OpenedApp, ...expected: string[]) =>
    expect.poll(async () => (await titles(opened)).map((title) => title.replace('×', ''))).toEqual(expected)
  /** The dialog of the host page, by which Alice shares what she has open. */
  async function share({ page }: OpenedApp, idTag: string, mayWrite = true): Promise<void> {
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByLabel('Identity of the other person').fill(idTag)
    await page.getByLabel('may also change it').setChecked(mayWrite)
    await page.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByText(`Shared with ${idTag}.`).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await network.settle()
  }
  async function accept({ page }: OpenedApp, name: string): Promise<void> {
    await page.getByRole('button', { name: `Accept and open ${name}` }).click()
    await page.waitForURL(/[?&]file=/)
    await page.getByText(`is of ${alice.idTag}`).waitFor()
  }

  test('a to-do list is made, kept and found again', async () => {
    const opened = await openApp(browser, alice, 'To-do')
    await opened.page.getByText(`Version 1.0.0 by ${alice.idTag}`).waitFor()
    await makeFile(opened, 'Groceries')
    await opened.page.getByText(`${alice.idTag}, at `).waitFor()
    await add(opened, 'Milk')
    await shows(opened, 'Milk')
    await opened.app.getByLabel('Milk', { exact: true }).check()
    await opened.app.getByText('0 left').waitFor()
    await opened.page.reload()
    await shows(opened, 'Milk')
    await expect.poll(() => opened.app.getByLabel('Milk', { exact: true }).isChecked()).toBe(true)
    await opened.page.emulateMedia({ colorScheme: 'dark' })
    await opened.app.locator('html[data-theme=dark]').waitFor()
    await opened.page.getByRole('link', { name: 'Close' }).click()
    await opened.page.getByRole('link', { name: 'Groceries' }).waitFor()
    expect(opened.faults).toEqual([])
  })

  describe('apps on two servers', () => {
    beforeAll(async () => {
      await publishExample(bob, 'todo')
      await publishExample(alice, 'poll')
      await publishExample(bob, 'poll')
    })

    test('a list is shared with somebody of another server, who is told when that ends', async () => {
      const hers = await openApp(browser, alice, 'To-do')
      await makeFile(hers, 'Party')
      await share(hers, bob.idTag)
      const his = await openApp(browser, bob, 'To-do', { viewport: { width: 390, height: 780 } })
      await accept(his, 'Party')
      expect((await his.page.locator('#frame').boundingBox())?.height).toBeGreaterThan(600)
      await add(hers, 'Cake')
      await shows(his, 'Cake')
      await add(his, 'Music')
      await shows(hers, 'Cake', 'Music')
      await hers.app.getByText(`${bob.idTag} is here`).waitFor()

      await network.takeDown(0)
      await his.app.getByText('You are offline.').waitFor()
      await his.page.getByText('Offline', { exact: true }).waitFor()
      await add(his, 'Balloons')
      await his.page.getByText('Offline: changes wait').waitFor()
      const [warning] = await Promise.all([
        his.page.waitForEvent('dialog'),
        his.page.close({ runBeforeUnload: true }),
      ])
      expect(warning.type()).toBe('beforeunload')
      await warning.dismiss()
      await shows(his, 'Cake', 'Music', 'Balloons')
      await network.bringBack(0)
      await shows(hers, 'Cake', 'Music', 'Balloons')
      await his.page.getByText('Saved', { exact: true }).waitFor()

      await hers.page.getByRole('button', { name: 'Share' }).click()
      await hers.page.getByRole('button', { name: `End the share with ${bob.idTag}` }).click()
      await hers.page.getByText(`The share with ${bob.idTag} has ended.`).waitFor()
      network.clock.advance(5_000)
      await his.app.getByText('This list is no longer shared with you.').waitFor()
      await his.page.getByText('No longer connected').waitFor()
      await his.app.getByRole('button', { name: 'Add' }).waitFor({ state: 'hidden' })
      expect([...hers.faults, ...his.faults]).toEqual([])
    })

    test('who is not signed in comes back to the app after that, and nowhere else', async () => {
      const url = `${alice.server.urlOf(alice.idTag)}/apps/${alice.idTag}/To-do`
      const { page } = await openPage(browser)
      await page.goto(url)
      await page.getByLabel('Password').fill(testPassword)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'To-do' }).waitFor()
      expect(page.url()).toBe(url)
      for (const elsewhere of [
        'https://example.com/apps',
        '//example.com/apps',
        '/api/docs',
        'javascript:0',
      ]) {
        await page.goto(`${alice.server.urlOf(alice.idTag)}/login#to=${encodeURIComponent(elsewhere)}`)
        await page.waitForURL(`${alice.server.urlOf(alice.idTag)}/account`)
      }
    })

    test.each([
      ['database', 'rtdb', 'Hello from '],
      ['document', 'crdt', '"yes"'],
    ] as const)('the example of a %s in the README runs', async (name, capability, shown) => {
      await publishReadmeExample(alice, { name, manifest: { capabilities: [capability] } })
      const opened = await openApp(browser, alice, name === 'database' ? 'Database' : 'Document')
      await makeFile(opened, 'Example')
      await opened.app.getByText(shown).waitFor()
      expect(opened.faults).toEqual([])
    })

    test('the example of a file in the README reads one of its own, and one that was shared', async () => {
      const manifest = { capabilities: ['files:read'], fileTypes: ['text/plain'] }
      const text = `from the first byte ${'x'.repeat(1_200_000)} to the last`
      for (const person of [alice, bob]) await publishReadmeExample(person, { name: 'file', manifest })
      const client = await alice.server.as(alice.idTag)
      const upload = (fileName: string, type: string) =>
        client.upload(uploadFile, { params: { preset: 'raw', fileName }, body: new Blob([text], { type }) })
      const { fileId } = (await upload('Notes.txt', 'text/plain')).data
      await upload('Numbers.csv', 'text/csv')
      await client.call(createFile, { body: { fileTp: 'RTDB', fileName: 'Data', contentType: 'text/plain' } })
      const read = async ({ app, page }: OpenedApp) => {
        await page.getByText(`Notes.txt, ${text.length} bytes`).waitFor()
        await expect.poll(() => app.locator('body').textContent()).toBe(text)
      }
      const hers = await openApp(browser, alice, 'File')
      // Of the types that it opens and the kind that it may read; it makes none itself.
      const files = hers.page.getByRole('list', { name: 'Your files' }).getByRole('link')
      await files.first().waitFor()
      expect(await files.allTextContents()).toEqual(['Notes.txt'])
      expect(await hers.page.getByRole('button', { name: 'Create and open' }).isVisible()).toBe(false)
      await files.first().click()
      await read(hers)

      const body = { subjectType: 'U', subjectId: bob.idTag, permission: 'R' } as const
      await client.call(createShare, { params: { fileId: fileId as FileId }, body })
      await network.settle()
      const his = await openApp(browser, bob, 'File')
      await accept(his, 'Notes.txt')
      await read(his)
      expect([...hers.faults, ...his.faults]).toEqual([])
    })

    test('an app that is uninstalled ends where it is open, with a file of its own or of another server', async () => {
      const hers = await openApp(browser, alice, 'Poll')
      await makeFile(hers, 'Dinner')
      await share(hers, bob.idTag)
      const his = await openApp(browser, bob, 'Poll')
      await accept(his, 'Dinner')
      await his.page.getByText('Saved', { exact: true }).waitFor()
      for (const [{ page }, { server, idTag }] of [
        [his, bob],
        [hers, alice],
      ] as const) {
        const app = { publisher: idTag as IdTag, name: 'Poll' }
        await (await server.as(idTag)).call(uninstallApp, { params: app })
        network.clock.advance(5_000)
        await page.getByText('The app is not installed here any more.').waitFor()
        expect(await page.locator('iframe').count()).toBe(0)
        expect(await page.getByRole('button', { name: 'Open it again' }).isVisible()).toBe(false)
      }
      await publishExample(alice, 'poll')
      await publishExample(bob, 'poll')
    })

    test('a poll counts one vote of each, and shows readers the result', async () => {
      const carol = await network.person(1, 'carol')
      const reader = { idTag: carol.idTag, server: network.server(1) }
      await publishExample(reader, 'poll')
      const hers = await openApp(browser, alice, 'Poll')
      await makeFile(hers, 'Lunch')
      await hers.app.getByLabel('Question').fill('Where do we eat?')
      await hers.app.getByLabel('Answers').fill('Canteen\n\nPark\nCanteen')
      await hers.app.getByRole('button', { name: 'Start' }).click()
      await hers.app.getByRole('heading', { name: 'Where do we eat?' }).waitFor()
      await share(hers, bob.idTag)
      await share(hers, carol.idTag, false)
      const his = await openApp(browser, bob, 'Poll', { locale: 'de-AT' })
      await his.page.getByRole('button', { name: 'Lunch annehmen und öffnen' }).click()
      await his.app.getByLabel('Park').check()
      await hers.app.getByText('1 vote', { exact: true }).waitFor()
      await his.app.getByLabel('Canteen').check()
      await hers.app.getByLabel('Park').check()
      await expect.poll(() => hers.app.locator('.count').allTextContents()).toEqual(['1 · 50 %', '1 · 50 %'])
      await his.app.getByText('2 Stimmen').waitFor()
      const carols = await openApp(browser, reader, 'Poll')
      await accept(carols, 'Lunch')
      await carols.app.getByText('You see the result.').waitFor()
      await carols.app.getByText('2 votes').waitFor()
      await expect.poll(() => carols.app.getByLabel('Canteen').isDisabled()).toBe(true)
      await his.app.getByRole('button', { name: 'Meine Stimme zurücknehmen' }).click()
      await carols.app.getByText('1 vote', { exact: true }).waitFor()
      await his.page.getByRole('link', { name: 'Schließen' }).click()
      await his.page.getByRole('link', { name: `Lunch – von ${alice.idTag}` }).waitFor()
      expect([...hers.faults, ...his.faults, ...carols.faults]).toEqual([])
    })
  })
})
