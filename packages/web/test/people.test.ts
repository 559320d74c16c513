import { getMe, getProfile, listActions, putSetting } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { anna, ben, carla, dora, emil, startPeopleTown } from './harness/people-town.ts'
import { picture } from './harness/picture.ts'

withChromium('people', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startPeopleTown()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, more: object = {}) => openApp(browser, server, { idTag: anna, path, ...more })
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

  test('are listed by what holds with them, and found by a part of the name', async () => {
    const { page, faults } = await open('/people')
    await page
      .getByRole('list', { name: 'Connections' })
      .getByRole('link', { name: /Ben Okafor/ })
      .waitFor()
    await page.getByRole('link', { name: 'Following' }).click()
    await page
      .getByRole('list', { name: 'Following' })
      .getByRole('link', { name: /Dora Ayala/ })
      .waitFor()
    await page.getByRole('link', { name: 'Muted' }).click()
    await page.getByRole('heading', { name: 'You have muted nobody' }).waitFor()
    await page.getByRole('searchbox').fill('okaf')
    await page
      .getByRole('list', { name: 'Search people' })
      .getByRole('link', { name: /Ben Okafor/ })
      .waitFor()
    await page.getByRole('searchbox').fill('nobody like this')
    await page.getByRole('heading', { name: /Nobody among those you know/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('are looked up by a full identity, by keys alone', async () => {
    const { page } = await open('/people')
    await page.getByRole('searchbox').focus()
    await page.keyboard.type(`@${emil}`)
    await page.keyboard.press('Enter')
    await page
      .getByRole('list', { name: 'Look up' })
      .getByRole('link', { name: /Emil Novák/ })
      .waitFor()
    await page.getByRole('searchbox').fill('absent.localhost')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Nobody is known as absent.localhost.' }).waitFor()
  })

  test('are followed, blocked and muted on their profile, and each is undone', async () => {
    const { page, faults } = await open(`/profiles/${emil}`)
    await heading(page, 'Emil Novák').waitFor()
    await button(page, 'Follow').click()
    await page.getByText('You follow Emil Novák.').waitFor()
    await button(page, 'Undo').click()
    await page.getByText('You no longer follow Emil Novák.').waitFor()
    for (const [change, state] of [
      ['Mute', 'muted'],
      ['Block', 'blocked'],
    ] as const) {
      await button(page, 'More about Emil Novák').click()
      await page.getByRole('dialog').getByRole('button', { name: change }).click()
      await page.getByText(`Emil Novák is ${state}.`).waitFor()
      await button(page, 'Undo').last().click()
      await page.getByText(`Emil Novák is no longer ${state}.`).waitFor()
    }
    const { data } = await (await server.as(anna)).call(getProfile, { params: { idTag: emil } })
    expect(data).toMatchObject({ following: false, relationship: 'none', status: 'Active' })
    expect(faults).toEqual([])
  })

  test('are asked for a connection with a message, and the request is taken back', async () => {
    const { page } = await open(`/profiles/${dora}`)
    await button(page, 'Connect').click()
    await page.getByLabel('Message with it (optional)').fill('From the library.')
    await button(page, 'Send the request').click()
    await page.getByText('Dora Ayala was asked.').waitFor()
    // What was done to Emil in the same second is sent with the next ones, in order.
    server.clock.advance(5_000)
    await server.settle()
    const query = { type: ['CONN'], status: ['C'] } as const
    const { data } = await (await server.as(dora)).call(listActions, { query })
    expect(data[0]?.content).toEqual({ message: 'From the library.' })
    await button(page, 'Take the request back').click()
    await page.getByText('There is no connection with Dora Ayala any more.').waitFor()
    await button(page, 'Connect').waitFor()
  })

  test('who ask are answered where they stand', async () => {
    const { page } = await open('/people?list=pending')
    await page.getByText('We met at the choir. May I see the photos?').waitFor()
    await button(page, 'Accept the request of Carla Lindqvist').click()
    await page.getByText('You and Carla Lindqvist are connected.').waitFor()
    await page.getByRole('heading', { name: 'No open requests' }).waitFor()
    const { data } = await (await server.as(anna)).call(getProfile, { params: { idTag: carla } })
    expect(data.connected).toBe('connected')
  })

  test('have a profile with posts; the one who is not known here shows what is for everybody', async () => {
    const { page } = await open(`/profiles/${ben}`)
    await page.getByRole('article', { name: /Plum cake/ }).waitFor()
    await expect
      .poll(() => page.getByRole('link', { name: 'Message', exact: true }).getAttribute('href'))
      .toBe(`/messages/${ben}`)
    await page.getByRole('link', { name: 'Shared with you' }).click()
    await page.getByRole('heading', { name: 'No files shared with you' }).waitFor()
    const { page: other } = await open('/profiles/absent.localhost')
    await other.getByRole('heading', { name: 'Nobody is known as absent.localhost.' }).waitFor()
  })

  test('change their own profile in its place: name, text and picture', async () => {
    const { page, faults } = await open(`/profiles/${anna}`)
    await button(page, 'Edit profile').click()
    await page.getByLabel('Name').fill('')
    await button(page, 'Save').click()
    await page.getByText('A name is needed.').waitFor()
    await page.getByLabel('Name').fill('Anna Bergmann')
    await page.getByLabel('About you').fill('Gardener, alto, neighbour.')
    await button(page, 'Save').click()
    await heading(page, 'Anna Bergmann').waitFor()
    const file = Buffer.from(await (await picture(120)).arrayBuffer())
    const chosen = page.waitForEvent('filechooser')
    await button(page, 'Change picture').click()
    await (await chosen).setFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer: file })
    const frame = page.getByRole('group', { name: /The part that is used/ })
    await frame.focus()
    for (const key of ['+', '+', 'ArrowLeft', 'ArrowUp']) await page.keyboard.press(key)
    await button(page, 'Right').click()
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Use this part').click()
    // The process that makes pictures lets all others go first.
    await page.getByText('Your picture was changed.').waitFor()
    const { data } = await (await server.as(anna)).call(getMe)
    expect(data).toMatchObject({ name: 'Anna Bergmann', x: { bio: 'Gardener, alto, neighbour.' } })
    expect(data.profilePic).toMatch(/^b1~/)
    expect(faults).toEqual([])
  })

  test('a file that is no picture is said to be none', async () => {
    const { page } = await open(`/profiles/${anna}`)
    const chosen = page.waitForEvent('filechooser')
    await button(page, 'Change cover').click()
    await (await chosen).setFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
    await page.getByText('This file is no picture that the browser can show.').waitFor()
  })

  test('a change that the server refuses is taken back, with the reason', async () => {
    const { page } = await open(`/profiles/${dora}`)
    await page.route('**/api/profiles/*', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    )
    await button(page, 'Follow').click()
    await page.getByText('You still follow Dora Ayala. The server cannot be reached.').waitFor()
    await expect.poll(() => button(page, 'Follow').getAttribute('aria-pressed')).toBe('true')
  })

  test.each([
    ['light', phone],
    ['dark', desk],
  ] as const)('are shown without a finding of axe, in %s', async (colorScheme, viewport) => {
    const { page, go, faults } = await open('/people', { colorScheme, viewport })
    const title = (name: string) => page.getByRole('heading', { name })
    for (const [path, content] of [
      ['/people', page.getByRole('list', { name: 'Connections' }).getByRole('link', { name: /Ben Okafor/ })],
      ['/people?list=pending', title('No open requests').or(title('Waiting for your answer'))],
      ['/people?list=blocked', title('You block nobody')],
      [`/profiles/${ben}`, page.getByRole('article', { name: /Plum cake/ })],
      [`/profiles/${anna}`, title('You have not posted yet')],
    ] as const) {
      await go(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('navigation').last().waitFor()
      await content.waitFor()
      expect([path, await axeFindings(page)]).toEqual([path, []])
    }
    expect(faults).toEqual([])
  })

  test('are shown in German', async () => {
    const client = await server.as(anna)
    await client.call(putSetting, { params: { name: 'language' }, body: 'de' })
    const { page } = await open('/people')
    await heading(page, 'Menschen').waitFor()
    await page.getByRole('link', { name: 'Blockiert' }).click()
    await page.getByRole('heading', { name: 'Du blockierst niemanden' }).waitFor()
    await client.call(putSetting, { params: { name: 'language' }, body: 'en' })
  })
})
