import {
  createCommunity,
  createJoinLink,
  getProfile,
  type IdTag,
  type JoinLink,
  listJoinLinks,
  putSetting,
} from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import { type Person, TestNetwork } from '../../server/test/harness/test-network.ts'
import { axeFindings, desk, openApp, phone, webBuild } from './harness/open-app.ts'

const club = 'club.localhost' as IdTag

withChromium('a link into a community', (launch) => {
  let browser: Browser
  let network: TestNetwork
  let lea: Person
  let dan: Person
  let bob: Person
  beforeAll(async () => {
    browser = await launch()
    network = new TestNetwork(new TestClock(Date.now()))
    for (const name of ['one', 'two']) await network.add(name, { webBuild })
    const admin = await network.server(0).as('one.localhost')
    for (const name of ['community.creation', 'server.registration'])
      await admin.call(putSetting, { params: { name }, body: { value: 'open' } })
    lea = await network.person(0, 'lea')
    dan = await network.person(0, 'dan')
    bob = await network.person(1, 'bob')
    const body = { type: 'community', name: 'Rowing club' } as const
    await lea.client.call(createCommunity, { params: { idTag: club }, body })
    network.announce(0, club)
  })
  afterAll(() => network?.[Symbol.asyncDispose]())

  const open = ({ at, idTag }: Person, path: string, more: object = {}) =>
    openApp(browser, network.server(at), { idTag, path, ...more })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const linkOf = ({ code }: Pick<JoinLink, 'code'>) => `${network.server(0).urlOf(club)}/join#${code}`
  const make = async (body: object = {}) => (await lea.client.at(club).call(createJoinLink, { body })).data
  const usesLeft = async () =>
    (await lea.client.at(club).call(listJoinLinks, {})).data.map(({ count }) => count)
  const roleOf = async ({ idTag }: Person) => {
    await network.settle()
    return (await lea.client.at(club).call(getProfile, { params: { idTag } })).data.role
  }
  const nameAndGo = async (page: Page, idTag: string) => {
    await page.getByLabel('Your identity').fill(idTag)
    await button(page, 'Go on').click()
  }

  test('is made by a leader, shown as a code, copied, and ended', async () => {
    const { page, context, faults } = await open(lea, `/communities/${club}?show=invite`)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('New link', { exact: true }).click()
    await page.getByLabel('What it is for (optional)').fill('Notice board')
    await page.getByLabel('How many may join with it').fill('none')
    await button(page, 'Make the link').click()
    await page.getByText('This is no number of people.').waitFor()
    await page.getByLabel('How many may join with it').fill('2')
    await button(page, 'Make the link').click()
    const links = page.getByRole('list', { name: 'Invite by link' })
    await links.getByText(/2 more may join · until /).waitFor()
    await button(page, 'QR code').click()
    await page.getByRole('img', { name: 'QR code of Notice board' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Copy the link').click()
    const [made] = (await lea.client.at(club).call(listJoinLinks, {})).data
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(made && linkOf(made))
    await button(page, 'End Notice board').click()
    await links.getByText('Notice board').waitFor({ state: 'detached' })
    expect(await usesLeft()).toEqual([])
    expect(faults).toEqual([])
  })

  test('leads somebody of another server to their own app, and makes them a member', async () => {
    await make({ count: 2 })
    const [link] = (await lea.client.at(club).call(listJoinLinks, {})).data
    const { page, go } = await open(bob, '/')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url().split('#')[0] ?? ''))
    await page.goto(link ? linkOf(link) : '')
    await page.getByRole('heading', { name: 'Join Rowing club', level: 1 }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await nameAndGo(page, bob.idTag)
    await page.getByRole('link', { name: 'Go on' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'Go on' }).click()
    await page.getByRole('heading', { name: 'You are invited to Rowing club' }).waitFor()
    await page.getByRole('heading', { name: 'Nothing that is for everybody.' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Join').click()
    await page.getByText('Rowing club takes you in.').waitFor()
    await expect.poll(async () => [await roleOf(bob), await usesLeft()]).toEqual(['contributor', [1]])
    await go(`/communities/${club}?show=members`)
    await page
      .getByRole('link', { name: new RegExp(bob.idTag) })
      .first()
      .waitFor()
    // Of a member it takes nothing, and asks nothing.
    await go(`/communities/${club}#join=${link?.code}`)
    await page.getByRole('link', { name: 'Members' }).waitFor()
    expect(await button(page, 'Join').count()).toBe(0)
    expect(asked.filter((url) => link && url.includes(link.code))).toEqual([])
  })

  test('leads somebody of the same server there at once, through signing in', async () => {
    const link = await make({ count: 1 })
    const { page } = await openPage(browser, { viewport: phone })
    await page.goto(linkOf(link))
    await nameAndGo(page, dan.idTag)
    await page.waitForURL((url) => url.pathname === '/login')
    await page.waitForURL((url) => url.hash.includes(link.code))
    const signedIn = await open(dan, `/communities/${club}#join=${link.code}`)
    await button(signedIn.page, 'Join').click()
    await signedIn.page.getByText('Rowing club takes you in.').waitFor()
    await expect.poll(() => roleOf(dan)).toBe('contributor')
  })

  test('says when it is over, and where one registers', async () => {
    const link = await make()
    const { page } = await openPage(browser, { viewport: desk, colorScheme: 'dark' })
    await page.goto(linkOf(link))
    const register = page.getByRole('link', { name: 'Register on this server' })
    await expect
      .poll(() => register.getAttribute('href'))
      .toBe(`${network.server(0).urlOf('one.localhost')}/register`)
    await page.goto(`${network.server(0).urlOf(club)}/join#${'a1'.repeat(12)}`)
    await page.getByRole('heading', { name: 'This link invites no more' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect((await network.server(0).request(lea.idTag, '/join')).status).toBe(404)
  })
})
