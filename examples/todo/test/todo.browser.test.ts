import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AppPerson,
  acceptFile,
  makeFile,
  type OpenedApp,
  openApp,
  personAt,
  publishExample,
  shareFile,
} from '../../../packages/server/test/harness/app-people.ts'
import { withChromium } from '../../../packages/server/test/harness/browser.ts'
import { addEntry, showsEntries } from '../../../packages/server/test/harness/example-apps.ts'
import { TestNetwork } from '../../../packages/server/test/harness/test-network.ts'

withChromium('the to-do list', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let alice: AppPerson
  let bob: AppPerson
  beforeAll(async () => {
    ;[browser, network] = await Promise.all([launch(), TestNetwork.start(2)])
    const people = await network.cast('alice', 'bob')
    alice = personAt(network, people.alice)
    bob = personAt(network, people.bob)
    await publishExample(alice, 'todo')
    await publishExample(bob, 'todo')
  })
  afterAll(() => network?.[Symbol.asyncDispose]())

  /** A list of Alice's, open there and at Bob's. */
  async function openShared(name: string, { mayWrite = true, locale = 'en-GB' } = {}) {
    const hers = await openApp(browser, alice, 'To-do')
    await makeFile(hers, name)
    await shareFile(hers, network, { idTag: bob.idTag, mayWrite })
    const his = await openApp(browser, bob, 'To-do')
    await acceptFile(his, { name, owner: alice.idTag })
    if (locale === 'en-GB') return { hers, his }
    const inHisLanguage = await openApp(browser, bob, 'To-do', { locale })
    await inHisLanguage.page.getByRole('link', { name }).click()
    return { hers, his: inHisLanguage }
  }
  const box = ({ app }: OpenedApp, title: string) => app.getByLabel(title, { exact: true })
  // Playwright's `check` looks at the box once more, when it is not there any longer.
  const leave = (opened: OpenedApp, title: string) => box(opened, title).click()
  const choose = ({ app }: OpenedApp, filter: string) => app.getByText(filter, { exact: true }).click()
  const says = ({ app }: OpenedApp, text: string) => app.getByText(text, { exact: true }).waitFor()

  test('is made, kept and found again, in the look of the host', async () => {
    const opened = await openApp(browser, alice, 'To-do')
    await makeFile(opened, 'Groceries')
    await says(opened, 'Nothing to do. Add the first entry above.')
    expect(await opened.app.getByRole('group', { name: 'Show' }).isVisible()).toBe(false)
    await addEntry(opened, 'Milk')
    await showsEntries(opened, 'Milk')
    await box(opened, 'Milk').check()
    await says(opened, '0 left')
    await opened.page.reload()
    await showsEntries(opened, 'Milk')
    await expect.poll(() => box(opened, 'Milk').isChecked()).toBe(true)
    await opened.page.emulateMedia({ colorScheme: 'dark' })
    await opened.app.locator('html[data-theme=dark]').waitFor()
    expect(opened.faults).toEqual([])
  })

  test('has what several people add in the order in which they did', async () => {
    const { hers, his } = await openShared('Party')
    await says(hers, `${bob.idTag} is here`)
    await addEntry(hers, 'Cake')
    await showsEntries(his, 'Cake')
    await addEntry(his, 'Music')
    await showsEntries(hers, 'Cake', 'Music')
    await addEntry(hers, 'Balloons')
    await box(his, 'Music').check()
    await says(hers, '2 left')
    await his.app.getByRole('button', { name: 'Remove Cake' }).click()
    for (const opened of [hers, his]) await showsEntries(opened, 'Music', 'Balloons')
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('shows all, what is open or what is done, and counts what is left in each', async () => {
    const { hers, his } = await openShared('Move', { locale: 'de-AT' })
    for (const title of ['Boxes', 'Van', 'Keys']) await addEntry(hers, title)
    await showsEntries(his, 'Boxes', 'Van', 'Keys')
    await choose(hers, 'Open')
    await leave(hers, 'Van')
    await showsEntries(hers, 'Boxes', 'Keys')
    // The keyboard goes on from the entry that has taken the place.
    await box(hers, 'Keys').and(hers.app.locator(':focus')).waitFor()
    await says(hers, '2 left')
    expect(await hers.app.getByRole('button', { name: 'Remove 1 done' }).isVisible()).toBe(false)
    await choose(his, 'Erledigt')
    await showsEntries(his, 'Van')
    await says(his, '2 offen')
    await choose(his, 'Offen')
    await leave(his, 'Keys')
    await showsEntries(hers, 'Boxes')
    await says(hers, '1 left')
    await choose(his, 'Erledigt')
    await showsEntries(his, 'Van', 'Keys')
    await leave(his, 'Van')
    await showsEntries(his, 'Keys')
    await showsEntries(hers, 'Boxes', 'Van')
    await choose(hers, 'All')
    await showsEntries(hers, 'Boxes', 'Van', 'Keys')
    await his.app.getByRole('button', { name: 'Erledigte entfernen (1)' }).click()
    await says(his, 'Noch ist nichts erledigt.')
    await showsEntries(hers, 'Boxes', 'Van')
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('is filtered by keyboard, and shows what is added where it would be hidden', async () => {
    const opened = await openApp(browser, alice, 'To-do')
    await makeFile(opened, 'Keys')
    await addEntry(opened, 'First')
    const all = opened.app.getByRole('radio', { name: 'All' })
    await all.focus()
    await opened.page.keyboard.press('ArrowRight')
    await opened.page.keyboard.press('ArrowRight')
    await says(opened, 'Nothing is done yet.')
    expect(await opened.app.getByRole('radio', { name: 'Done' }).isChecked()).toBe(true)
    await addEntry(opened, 'Second')
    await showsEntries(opened, 'First', 'Second')
    expect(await all.isChecked()).toBe(true)
    expect(opened.faults).toEqual([])
  })

  test('takes what is added, ticked and removed offline, in each filter, and sends it later', async () => {
    const { hers, his } = await openShared('Camp')
    for (const title of ['Tent', 'Stove', 'Rope']) await addEntry(hers, title)
    await showsEntries(his, 'Tent', 'Stove', 'Rope')
    await network.takeDown(0)
    await says(his, 'You are offline. What you add is sent when you are back.')
    await addEntry(his, 'Map')
    await showsEntries(his, 'Tent', 'Stove', 'Rope', 'Map')
    await choose(his, 'Open')
    await leave(his, 'Tent')
    await addEntry(his, 'Lamp')
    await showsEntries(his, 'Stove', 'Rope', 'Map', 'Lamp')
    await says(his, '4 left')
    await choose(his, 'Done')
    await showsEntries(his, 'Tent')
    await choose(his, 'All')
    await his.app.getByRole('button', { name: 'Remove Rope' }).click()
    await showsEntries(his, 'Tent', 'Stove', 'Map', 'Lamp')
    await choose(his, 'Open')
    await network.bringBack(0)
    await showsEntries(hers, 'Tent', 'Stove', 'Map', 'Lamp')
    await expect.poll(() => box(hers, 'Tent').isChecked()).toBe(true)
    await his.page.getByText('Saved', { exact: true }).waitFor()
    await showsEntries(his, 'Stove', 'Map', 'Lamp')
    for (const opened of [hers, his]) await says(opened, '3 left')
    await choose(his, 'Done')
    await showsEntries(his, 'Tent')
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('tells who is offline that a filter does not show all', async () => {
    const { hers, his } = await openShared('Garden')
    for (const title of ['Rake', 'Seeds']) await addEntry(hers, title)
    await box(hers, 'Rake').check()
    await choose(his, 'Open')
    await showsEntries(his, 'Seeds')
    await network.takeDown(0)
    await his.app.getByText('You are offline.').waitFor()
    await choose(his, 'Done')
    await says(his, 'The rest is shown when you are back.')
    await network.bringBack(0)
    await showsEntries(his, 'Rake')
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('is read and filtered by who may not write, and changed by nobody else', async () => {
    const { hers, his } = await openShared('Rules', { mayWrite: false })
    for (const title of ['Be kind', 'Knock']) await addEntry(hers, title)
    await box(hers, 'Knock').check()
    await says(his, 'You may read this list, and not change it.')
    await showsEntries(his, 'Be kind', 'Knock')
    await says(his, '1 left')
    expect(await box(his, 'Be kind').isDisabled()).toBe(true)
    expect(await his.app.getByRole('button').count()).toBe(0)
    await choose(his, 'Done')
    await showsEntries(his, 'Knock')
    expect([...hers.faults, ...his.faults]).toEqual([])
  })
})
