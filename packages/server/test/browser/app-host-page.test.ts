import { createFile, createShare, type FileId, type IdTag, uninstallApp, uploadFile } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AppPerson,
  acceptFile,
  makeFile,
  type OpenedApp,
  openApp,
  openBeside,
  personAt,
  publishExample,
  publishReadmeExample,
  shareFile,
} from '#harness/app-people.ts'
import { openPage, withChromium } from '#harness/browser.ts'
import { addEntry, askInPoll, showsEntries, showsVotes } from '#harness/example-apps.ts'
import { TestNetwork } from '#harness/test-network.ts'
import { testPassword } from '#harness/test-server.ts'

withChromium('the page of an app', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let alice: AppPerson
  let bob: AppPerson
  beforeAll(async () => {
    ;[browser, network] = await Promise.all([launch(), TestNetwork.start(2)])
    const people = await network.cast('alice', 'bob')
    alice = personAt(network, people.alice)
    bob = personAt(network, people.bob)
    for (const person of [alice, bob])
      for (const name of ['todo', 'poll'] as const) await publishExample(person, name)
  })
  afterAll(() => network?.[Symbol.asyncDispose]())

  test('says what an app is, and lists the files that were made with it', async () => {
    const opened = await openApp(browser, alice, 'To-do')
    const { page, app, faults } = opened
    await page.getByText(`Version 1.0.0 by ${alice.idTag}`).waitFor()
    await makeFile(opened, 'Groceries')
    await page.getByText(`${alice.idTag}, at `).waitFor()
    await app.getByRole('heading', { name: 'Groceries' }).waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Groceries' }).waitFor()
    expect(faults).toEqual([])
  })

  test('speaks the language of the browser, and names whose file it is', async () => {
    const hers = await openApp(browser, alice, 'Poll')
    await makeFile(hers, 'Lunch')
    await shareFile(hers, network, bob)
    const { page, faults } = await openApp(browser, bob, 'Poll', { locale: 'de-AT' })
    await page.getByRole('button', { name: 'Lunch annehmen und öffnen' }).click()
    await page.waitForURL(/[?&]file=/)
    await page.getByRole('link', { name: 'Schließen' }).click()
    await page.getByRole('link', { name: `Lunch – von ${alice.idTag}` }).waitFor()
    expect([...hers.faults, ...faults]).toEqual([])
  })

  test('warns who leaves what is not sent yet, and says when a share ends', async () => {
    const hers = await openApp(browser, alice, 'To-do')
    await makeFile(hers, 'Party')
    await shareFile(hers, network, bob)
    const his = await openApp(browser, bob, 'To-do', { viewport: { width: 390, height: 780 } })
    await acceptFile(his, { name: 'Party', owner: alice.idTag })
    expect((await his.page.locator('#frame').boundingBox())?.height).toBeGreaterThan(600)
    await his.page.getByText('Saved', { exact: true }).waitFor()

    await network.takeDown(0)
    await his.page.getByText('Offline', { exact: true }).waitFor()
    await addEntry(his, 'Balloons')
    await his.page.getByText('Offline: changes wait').waitFor()
    const [warning] = await Promise.all([
      his.page.waitForEvent('dialog'),
      his.page.close({ runBeforeUnload: true }),
    ])
    expect(warning.type()).toBe('beforeunload')
    await warning.dismiss()
    await network.bringBack(0)
    await showsEntries(hers, 'Balloons')
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

  /** The two tabs of a person. */
  async function openBoth(person: AppPerson) {
    const list = await openApp(browser, person, 'To-do')
    return { list, poll: await openBeside(list, person, 'Poll') }
  }
  /** What is not seen is drawn seldom. */
  async function inFront(opened: OpenedApp): Promise<OpenedApp> {
    await opened.page.bringToFront()
    return opened
  }
  const click = async (opened: OpenedApp, text: string) =>
    (await inFront(opened)).app.getByText(text, { exact: true }).click()

  test('two people on two servers use two apps at once, and see the same after they were offline', async () => {
    const hers = await openBoth(alice)
    await makeFile(await inFront(hers.list), 'Trip')
    await makeFile(await inFront(hers.poll), 'Where to')
    await askInPoll(await inFront(hers.poll), 'Where to?', 'Sea\nHills')
    await shareFile(await inFront(hers.list), network, bob)
    await shareFile(await inFront(hers.poll), network, bob)
    const his = await openBoth(bob)
    await acceptFile(await inFront(his.list), { name: 'Trip', owner: alice.idTag })
    await acceptFile(await inFront(his.poll), { name: 'Where to', owner: alice.idTag })
    await addEntry(await inFront(hers.list), 'Tickets')
    await click(hers.poll, 'Sea')
    await showsEntries(his.list, 'Tickets')
    await showsVotes(his.poll, 1, 0)

    await network.takeDown(0)
    const tabs = [hers.list, hers.poll, his.list, his.poll]
    for (const { app } of tabs) await app.getByText('You are offline.').waitFor()
    await addEntry(await inFront(hers.list), 'Maps')
    await addEntry(await inFront(his.list), 'Food')
    await click(his.list, 'Tickets')
    await click(hers.poll, 'Hills')
    await click(his.poll, 'Hills')
    await showsEntries(hers.list, 'Tickets', 'Maps')
    await showsEntries(his.list, 'Tickets', 'Food')
    await showsVotes(hers.poll, 0, 1)
    await showsVotes(his.poll, 1, 1)

    await network.bringBack(0)
    for (const { list, poll } of [hers, his]) {
      await showsEntries(list, 'Tickets', 'Maps', 'Food')
      await list.app.getByText('2 left', { exact: true }).waitFor()
      await showsVotes(poll, 0, 2)
    }
    for (const { page } of tabs) await page.getByText('Saved', { exact: true }).waitFor()
    expect(tabs.flatMap(({ faults }) => faults)).toEqual([])
  })

  test('who is not signed in comes back to the app after that, and nowhere else', async () => {
    const url = `${alice.server.urlOf(alice.idTag)}/apps/${alice.idTag}/To-do`
    const { page } = await openPage(browser)
    await page.goto(url)
    await page.getByLabel('Password').fill(testPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'To-do' }).waitFor()
    expect(page.url()).toBe(url)
    for (const elsewhere of ['https://example.com/apps', '//example.com/apps', '/api/docs', 'javascript:0']) {
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
    await acceptFile(his, { name: 'Notes.txt', owner: alice.idTag })
    await read(his)
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('an app that is uninstalled ends where it is open, with a file of its own or of another server', async () => {
    const hers = await openApp(browser, alice, 'Poll')
    await makeFile(hers, 'Dinner')
    await shareFile(hers, network, bob)
    const his = await openApp(browser, bob, 'Poll')
    await acceptFile(his, { name: 'Dinner', owner: alice.idTag })
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
})
