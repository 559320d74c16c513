import { createAction, getProfile, putSetting } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { finger } from './harness/finger.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { anna, ben, dora, emil, foundGarden, garden, post, startPeopleTown } from './harness/people-town.ts'

withChromium('communities', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startPeopleTown()
    await foundGarden(server)
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, more: object = {}) => openApp(browser, server, { idTag: anna, path, ...more })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const at = (show: string) => `/communities/${garden}${show && `?show=${show}`}`

  test('are listed, and one opens with its posts', async () => {
    const { page, faults } = await open('/communities')
    await page
      .getByRole('list', { name: 'Yours' })
      .getByRole('link', { name: /Garden club/ })
      .click()
    await page.getByRole('heading', { name: 'Garden club', level: 1 }).waitFor()
    await page.getByRole('article', { name: /The water is off/ }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Write a post' }).count()).toBe(1)
    expect(faults).toEqual([])
  })

  test('are named as those who may read a post for members', async () => {
    const b = await server.as(ben)
    const body = {
      type: 'POST',
      visibility: 'C',
      content: { text: 'Seeds for all of us' },
      audienceTag: garden,
    }
    await b.call(createAction, { body: body as never })
    await server.settle()
    const { page } = await open(at(''))
    const article = page.getByRole('article', { name: /Seeds for all of us/ })
    await article.getByRole('img', { name: `for those who belong to ${garden}` }).waitFor()
  })

  test('narrow the home feed to one of them, or to people', async () => {
    const { page, faults } = await open('/')
    const ofGarden = page.getByRole('article', { name: /The water is off/ })
    const ofBen = page.getByRole('article', { name: /Plum cake/ })
    await ofGarden.waitFor()
    await ofBen.waitFor()
    await page.getByLabel('Show').selectOption({ label: 'Garden club' })
    await ofBen.waitFor({ state: 'detached' })
    await ofGarden.waitFor()
    expect(await ofBen.count()).toBe(0)
    await page.getByLabel('Show').selectOption({ label: 'People' })
    await ofGarden.waitFor({ state: 'detached' })
    await ofBen.waitFor()
    expect(faults).toEqual([])
  })

  test('show what is new in them when they are pulled down, also to those who hear nothing of it', async () => {
    const inHand = { viewport: phone, isMobile: true, hasTouch: true }
    const { page, faults } = await open(at(''), { idTag: emil, ...inHand })
    await page.getByRole('article', { name: /The water is off/ }).waitFor()
    await page.waitForLoadState('networkidle')
    await post(await server.as(ben), 'The water is on again.', garden)
    await server.settle()
    const { put, move, lift } = await finger(page)
    await put(60, 150)
    let y = 200
    await expect
      .poll(async () => {
        y += 20
        await move(60, y)
        return page.getByText('Let go to refresh').isVisible()
      })
      .toBe(true)
    await lift()
    await page.getByRole('article', { name: /The water is on again/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('show to those outside what is for everybody, and no members', async () => {
    const { page } = await open(at(''), { idTag: emil })
    await page.getByRole('article', { name: /The water is off/ }).waitFor()
    await page.waitForLoadState('networkidle')
    await button(page, 'Ask to join').click()
    await page
      .getByRole('dialog', { name: 'Ask to join Garden club' })
      .getByText(/you are a member/)
      .waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByRole('link', { name: 'Members' }).count()).toBe(0)
  })

  test('invite by identity; who is invited answers, and is a member', async () => {
    const { page } = await open(at('invite'))
    await page.getByRole('heading', { name: 'Invite by link' }).waitFor()
    await page.getByRole('combobox', { name: 'Identity' }).fill('no identity')
    await button(page, 'Send the invitation').click()
    await page.getByText('This is no identity.').waitFor()
    await page.getByRole('combobox', { name: 'Identity' }).fill(dora)
    await page.getByLabel('Message with it (optional)').fill('Your roses!')
    await button(page, 'Send the invitation').click()
    await page.getByText(`${dora} was invited.`).waitFor()
    await server.settle()
    const hers = await open('/communities', { idTag: dora })
    await hers.page.getByText('Anna Berg invites you. Your roses!').waitFor()
    await button(hers.page, 'Accept the invitation to Garden club').click()
    await hers.page.getByText('Garden club was asked to take you in.').waitFor()
    const host = (await server.as(anna)).at(garden)
    const roleOf = async (idTag: string) => {
      await server.settle()
      return (await host.call(getProfile, { params: { idTag } })).data.role
    }
    await expect.poll(() => roleOf(dora)).toBe('contributor')
  })

  test('let their leaders answer who asks to join', async () => {
    const { page } = await open(at('requests'))
    await page.getByText('I have tomato plants to give away.').waitFor()
    await button(page, 'Accept the request of Carla Lindqvist').click()
    await page.getByText('Carla Lindqvist is a member now.').waitFor()
    await page.getByRole('heading', { name: 'No open requests' }).waitFor()
  })

  test.each([
    ['light', phone],
    ['dark', desk],
  ] as const)('are shown without a finding of axe, in %s', async (colorScheme, viewport) => {
    const { page, go, faults } = await open('/communities', { colorScheme, viewport })
    const list = (name: string) => page.getByRole('list', { name })
    const noRequests = page.getByRole('heading', { name: 'No open requests' })
    for (const [path, content] of [
      ['/communities', list('Yours').getByRole('link', { name: /Garden club/ })],
      [at(''), page.getByRole('article', { name: /The water is off/ })],
      [at('members'), list('Members').getByRole('button', { name: 'Manage Ben Okafor' })],
      [at('requests'), list('Requests').or(noRequests)],
      [at('invite'), page.getByText('New link', { exact: true })],
    ] as const) {
      await go(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await content.waitFor()
      expect([path, await axeFindings(page)]).toEqual([path, []])
    }
    expect(faults).toEqual([])
  })

  test('are shown in German, and a first-time visitor is told what belongs here', async () => {
    const client = await server.as(emil)
    await client.call(putSetting, { params: { name: 'language' }, body: 'de' })
    const { page } = await open('/communities', { idTag: emil })
    await page.getByRole('heading', { name: 'Noch keine Gemeinschaften' }).waitFor()
    await page.getByRole('link', { name: 'Gemeinschaft gründen' }).waitFor()
  })
})
