import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AppPerson,
  acceptFile,
  makeFile,
  openApp,
  openBeside,
  personAt,
  publishExample,
  shareFile,
} from '../../../packages/server/test/harness/app-people.ts'
import { withChromium } from '../../../packages/server/test/harness/browser.ts'
import { askInPoll, showsVotes } from '../../../packages/server/test/harness/example-apps.ts'
import { TestNetwork } from '../../../packages/server/test/harness/test-network.ts'

withChromium('the poll', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let alice: AppPerson
  let bob: AppPerson
  let carol: AppPerson
  beforeAll(async () => {
    ;[browser, network] = await Promise.all([launch(), TestNetwork.start(2)])
    const people = await network.cast('alice', 'bob')
    alice = personAt(network, people.alice)
    bob = personAt(network, people.bob)
    carol = personAt(network, await network.person(1, 'carol'))
    for (const person of [alice, bob, carol]) await publishExample(person, 'poll')
  })
  afterAll(() => network?.[Symbol.asyncDispose]())

  /** A poll of Alice's, of two answers. */
  async function openPoll(name: string) {
    const hers = await openApp(browser, alice, 'Poll')
    await makeFile(hers, name)
    await askInPoll(hers, 'Where do we eat?', 'Canteen\n\nPark\nCanteen')
    return hers
  }
  /** The same, open at Bob's as well. */
  async function openShared(name: string) {
    const hers = await openPoll(name)
    await shareFile(hers, network, { idTag: bob.idTag })
    const his = await openApp(browser, bob, 'Poll')
    await acceptFile(his, { name, owner: alice.idTag })
    return { hers, his }
  }

  test('is of two answers at least', async () => {
    const hers = await openApp(browser, alice, 'Poll')
    await makeFile(hers, 'Short')
    await hers.app.getByLabel('Question').fill('Where?')
    await hers.app.getByLabel('Answers').fill('Here\nHere')
    await hers.app.getByRole('button', { name: 'Start' }).click()
    await hers.app.getByText('Write two to ten different answers, one in each line.').waitFor()
    expect(await hers.app.getByRole('radio').count()).toBe(0)
  })

  test('counts one vote of each while they vote, change it and withdraw it', async () => {
    const { hers, his } = await openShared('Lunch')
    await his.app.getByLabel('Park').check()
    await showsVotes(hers, 0, 1)
    await hers.app.getByText('1 vote', { exact: true }).waitFor()
    await his.app.getByLabel('Canteen').check()
    await showsVotes(hers, 1, 0)
    await hers.app.getByLabel('Park').check()
    for (const { app } of [hers, his])
      await expect.poll(() => app.locator('.count').allTextContents()).toEqual(['1 · 50 %', '1 · 50 %'])
    await his.app.getByRole('button', { name: 'Withdraw my vote' }).click()
    await showsVotes(hers, 0, 1)
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('counts one vote of who has it open in two tabs', async () => {
    const first = await openPoll('Two tabs')
    const second = await openBeside(first, alice, 'Poll')
    await second.page.getByRole('link', { name: 'Two tabs' }).click()
    await first.app.getByLabel('Canteen').check()
    await expect.poll(() => second.app.getByLabel('Canteen').isChecked()).toBe(true)
    await second.app.getByLabel('Park').check()
    for (const tab of [first, second]) await showsVotes(tab, 0, 1)
    await expect.poll(() => first.app.getByLabel('Park').isChecked()).toBe(true)
    expect([...first.faults, ...second.faults]).toEqual([])
  })

  test('shows a vote that is given offline at once, and to others later', async () => {
    const { hers, his } = await openShared('Picnic')
    await hers.app.getByLabel('Park').check()
    await showsVotes(his, 0, 1)
    await network.takeDown(0)
    await his.app.getByText('You are offline. Your vote is sent when you are back.').waitFor()
    await his.app.getByLabel('Canteen').check()
    await showsVotes(his, 1, 1)
    await showsVotes(hers, 0, 1)
    await network.bringBack(0)
    await showsVotes(hers, 1, 1)
    expect([...hers.faults, ...his.faults]).toEqual([])
  })

  test('shows who may not write the result as it comes, in their language', async () => {
    const hers = await openPoll('Dinner')
    await shareFile(hers, network, { idTag: carol.idTag, mayWrite: false })
    const carols = await openApp(browser, carol, 'Poll', { locale: 'de-AT' })
    await carols.page.getByRole('button', { name: 'Dinner annehmen und öffnen' }).click()
    await carols.app.getByText('Sie sehen das Ergebnis.').waitFor()
    await hers.app.getByLabel('Park').check()
    await carols.app.getByText('1 Stimme', { exact: true }).waitFor()
    await showsVotes(carols, 0, 1)
    for (const choice of await carols.app.getByRole('radio').all())
      expect(await choice.isDisabled()).toBe(true)
    expect(await carols.app.getByRole('button', { name: 'zurücknehmen' }).isVisible()).toBe(false)
    expect([...hers.faults, ...carols.faults]).toEqual([])
  })
})
