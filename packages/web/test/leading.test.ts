import { acceptAction, createAction, createCommunity, getMe, listActions, listProfiles } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { axeFindings, desk, openApp, phone } from './harness/open-app.ts'
import { anna, ben, carla, dora, emil, foundGarden, garden, startPeopleTown } from './harness/people-town.ts'
import { picture } from './harness/picture.ts'

withChromium('those who lead a community', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await startPeopleTown()
    await foundGarden(server)
    const host = (await server.as(anna)).at(garden)
    const query = { type: ['CONN'] as const, status: ['C'] as const, audience: garden }
    const [request] = (await host.call(listActions, { query })).data
    await host.call(acceptAction, { params: { actionId: request?.actionId ?? '' } })
    await server.settle()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, more: object = {}) => openApp(browser, server, { idTag: anna, path, ...more })
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const at = (show: string) => `/communities/${garden}${show && `?show=${show}`}`

  test('change roles, ban for a time and remove', async () => {
    const { page, faults } = await open(at('members'), { viewport: desk })
    const members = page.getByRole('list', { name: 'Members' })
    const member = members.getByRole('link', { name: /Ben Okafor/ })
    await member.waitFor()
    await page.getByLabel('Role').selectOption({ label: 'Leaders' })
    await member.waitFor({ state: 'detached' })
    await members.getByRole('link', { name: /Anna Berg/ }).waitFor()
    await page.getByLabel('Role').selectOption({ label: 'All' })
    await member.waitFor()
    await page.getByRole('searchbox').fill('lindq')
    await member.waitFor({ state: 'detached' })
    await button(page, 'Manage Carla Lindqvist').click()
    await page.getByRole('radio', { name: 'Moderator' }).check()
    await button(page, 'Save the role').click()
    await page.getByText('Carla Lindqvist: Moderator.').waitFor()
    await members.getByText('Moderator').waitFor()
    await button(page, 'Manage Carla Lindqvist').click()
    await button(page, 'Ban').click()
    await page.getByRole('radio', { name: 'One day' }).check()
    await page.getByLabel('Reason, for the log (optional)').fill('Sold tomatoes twice')
    await button(page, 'Ban').click()
    await page.getByText('Carla Lindqvist is banned.').waitFor()
    await members.getByText(/banned/).waitFor()
    await button(page, 'Manage Carla Lindqvist').click()
    await page.getByText(/^Banned until/).waitFor()
    await page.getByText('Reason: Sold tomatoes twice').waitFor()
    await button(page, 'End the ban').click()
    await page.getByText('Carla Lindqvist is no longer banned.').waitFor()
    await members.getByText(/banned/).waitFor({ state: 'detached' })
    await button(page, 'Manage Carla Lindqvist').click()
    await button(page, 'Remove from the community').click()
    await page.getByText('Carla Lindqvist was removed.').waitFor()
    const query = { idTag: carla } as const
    const { data } = await (await server.as(anna))
      .at(garden)
      .call(listProfiles, { query: { ...query, community: garden } })
    expect(data).toEqual([])
    expect(faults).toEqual([])
  })

  test('answer who asks to join among their notifications, once', async () => {
    const ask = async (idTag: string) => {
      const content = { message: 'I have seeds to share.' }
      const body = { type: 'CONN', audienceTag: garden, content } as const
      await (await server.as(idTag)).call(createAction, { body })
      await server.settle()
    }
    await ask(emil)
    await ask(dora)
    const { page, faults } = await open('/notifications')
    const waiting = page.getByRole('list', { name: 'Waiting to join Garden club' })
    await waiting.getByText('I have seeds to share.').first().waitFor()
    await page.getByText('We met at the choir. May I see the photos?').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await waiting.getByRole('button', { name: 'Accept the request of Emil Novák' }).click()
    await waiting.getByRole('link', { name: /Emil Novák/ }).waitFor({ state: 'detached' })
    const host = (await server.as(anna)).at(garden)
    const roleOf = async (idTag: string) =>
      (await host.call(listProfiles, { query: { idTag } })).data.map(({ role }) => role)
    await expect.poll(() => roleOf(emil)).toEqual(['contributor'])
    // Another one who leads it is faster.
    await page.route('**/actions/*/reject', async (route) => {
      const query = { type: ['CONN'] as const, status: ['C'] as const, audience: garden }
      const [request] = (await host.call(listActions, { query })).data
      await host.call(acceptAction, { params: { actionId: request?.actionId ?? '' } })
      await route.continue()
    })
    await waiting.getByRole('button', { name: 'Refuse the request of Dora Ayala' }).click()
    await page.getByText(/^The answer could not be sent\./).waitFor()
    await waiting.waitFor({ state: 'detached' })
    await expect.poll(() => roleOf(dora)).toEqual(['contributor'])
    expect(faults.filter((fault) => !/409|404/.test(fault))).toEqual([])
  })

  test('are not told that nothing has happened while somebody waits', async () => {
    const [gil, choir] = ['gil.localhost', 'choir.localhost'] as const
    await server.createTenant(gil, { name: 'Gil Weber' })
    const body = { type: 'community', name: 'Street choir', ownerIdTag: gil } as const
    await (await server.as(anna)).call(createCommunity, { params: { idTag: choir }, body })
    await (await server.as(ben)).call(createAction, { body: { type: 'CONN', audienceTag: choir } })
    await server.settle()
    const { page, faults } = await openApp(browser, server, { idTag: gil, path: '/notifications' })
    await page.getByRole('list', { name: 'Waiting to join Street choir' }).waitFor()
    const nothing = page.getByText('Nothing has happened yet')
    await expect.poll(() => nothing.count()).toBe(0)
    await page.getByRole('button', { name: 'Accept the request of Ben Okafor' }).click()
    await nothing.waitFor()
    expect(faults).toEqual([])
  })

  test('do not leave as the last one, and are told why', async () => {
    const { page } = await open(at(''))
    await button(page, 'More about Garden club').click()
    for (const name of ['Garden club', 'End the connection with Garden club?'])
      await page
        .getByRole('dialog', { name, exact: true })
        .getByRole('button', { name: 'Leave the community' })
        .click()
    await page.getByText(/You are its last leader/).waitFor()
  })

  test('remove a post, with a reason', async () => {
    const { page } = await open(at(''))
    await button(page, 'Remove from the community').click()
    await page.getByLabel('Reason, for the log (optional)').fill('The water is on again')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from the community' }).click()
    await page.getByText('The post was removed.').waitFor()
    await page.getByRole('heading', { name: 'No posts yet' }).waitFor()
    const query = { type: ['POST'], audience: garden, status: ['A'] } as const
    expect((await (await server.as(anna)).at(garden).call(listActions, { query })).data).toEqual([])
  })

  test('read in a log what was decided, by whom and why', async () => {
    const { page, faults } = await open(at('log'))
    const log = page.getByRole('list', { name: 'Log' })
    await log.getByText('Carla Lindqvist was Member, and is Moderator now.').waitFor()
    await log.getByText('Carla Lindqvist was banned.').waitFor()
    await log.getByText('Reason: Sold tomatoes twice').waitFor()
    await log.getByText('Something that Ben Okafor wrote was removed.').waitFor()
    await log.getByText('Reason: The water is on again').waitFor()
    await expect.poll(() => log.getByText(/by Anna Berg/).count()).toBeGreaterThan(3)
    const { page: outside } = await open(at('log'), { idTag: ben })
    await outside.getByRole('heading', { name: 'Garden club', level: 1 }).waitFor()
    await outside.getByRole('link', { name: 'Members' }).waitFor()
    expect(await outside.getByRole('link', { name: 'Log' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('share files with the members, who see, save and add them', async () => {
    const { page, faults } = await open(at('files'), { idTag: ben, viewport: desk })
    await page.getByRole('heading', { name: 'No files yet' }).waitFor()
    const opening = page.waitForEvent('filechooser')
    await button(page, 'Add files').click()
    const plan = { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Beds one to nine') }
    const buffer = Buffer.from(await (await picture(90, 90, 60)).arrayBuffer())
    await (await opening).setFiles([plan, { name: 'beds.jpg', mimeType: 'image/jpeg', buffer }])
    const files = page.getByRole('list', { name: 'Files' })
    await files.getByText('plan.txt').waitFor()
    await files.getByText('beds.jpg').waitFor()
    const saving = page.waitForEvent('download')
    await button(page, 'Download plan.txt').click()
    expect((await saving).suggestedFilename()).toBe('plan.txt')
    const { page: hers } = await open(at('files'))
    await button(hers, 'Show beds.jpg').click()
    await hers.getByRole('dialog').getByRole('img', { name: 'beds.jpg' }).waitFor()
    expect(faults).toEqual([])
  })

  test('let members put their files in order, and moderators those of all', async () => {
    const { page, faults } = await open(at('files'), { idTag: ben, viewport: desk })
    const files = page.getByRole('list', { name: 'Files' })
    const act = async (on: Page, name: string, item: string) => {
      await button(on, `Actions for ${name}`).click()
      await on.getByRole('menuitem', { name: item }).click()
    }
    await button(page, 'New folder').click()
    await page.getByRole('textbox', { name: 'Name of the folder' }).fill('Plans')
    await button(page, 'Create').click()
    await files.getByRole('link', { name: 'Plans' }).waitFor()
    await act(page, 'plan.txt', 'Rename')
    await page.getByRole('textbox', { name: 'New name' }).fill('beds.txt')
    await button(page, 'Rename').click()
    await files.getByText('beds.txt').waitFor()
    await act(page, 'beds.txt', 'Move')
    const dialog = page.getByRole('dialog', { name: 'Move beds.txt' })
    await dialog.getByRole('button', { name: 'Plans' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Plans' }).click()
    await dialog.getByText('No folders in here.').waitFor()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('beds.txt was moved.').waitFor()
    await files.getByText('beds.txt').waitFor({ state: 'detached' })
    await files.getByRole('link', { name: 'Plans' }).click()
    await files.getByText('beds.txt').waitFor()
    const { page: hers } = await open(at('files'))
    await hers.getByRole('list', { name: 'Files' }).getByRole('link', { name: 'Plans' }).click()
    await act(hers, 'beds.txt', 'Delete')
    await hers.getByText('beds.txt was deleted for all members.').waitFor()
    await hers.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    await button(hers, 'Undo').click()
    await hers.getByText('beds.txt is back.').waitFor()
    await hers.getByRole('list', { name: 'Files' }).getByText('beds.txt').waitFor()
    expect(faults).toEqual([])
  })

  test.each([
    ['dark', phone],
    ['light', desk],
  ] as const)('have screens without a finding of axe, in %s', async (colorScheme, viewport) => {
    const { page, go, faults } = await open(at('log'), { colorScheme, viewport })
    const title = (name: string) => page.getByRole('heading', { name })
    const shown = {
      log: page.getByRole('list', { name: 'Log' }).or(title('Nothing was decided yet')),
      files: page.getByRole('list', { name: 'Files' }).or(title('No files yet')),
      settings: page.getByText(/You are its last leader/),
    }
    for (const [part, content] of Object.entries(shown)) {
      if (part !== 'log') await go(at(part))
      await content.waitFor()
      expect([part, await axeFindings(page)]).toEqual([part, []])
    }
    await go(at('members'))
    await page
      .getByRole('button', { name: /^Manage/ })
      .first()
      .click()
    await page.getByRole('dialog').waitFor()
    expect(['dialog', await axeFindings(page)]).toEqual(['dialog', []])
    expect(faults).toEqual([])
  })

  test('change the community where it stands, and members leave it', async () => {
    const { page, faults } = await open(at('settings'))
    await page.getByText(/You are its last leader/).waitFor()
    await expect.poll(() => button(page, 'Leave the community').getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('link', { name: 'Read the log' }).waitFor()
    await button(page, 'Edit profile').click()
    await page.getByRole('textbox', { name: 'Description' }).fill('We grow things, and eat them.')
    await button(page, 'Save').click()
    await page.getByRole('paragraph').filter({ hasText: 'We grow things, and eat them.' }).waitFor()
    const { data } = await (await server.as(ben)).at(garden).call(getMe)
    expect(data.name).toBe('Garden club')
    // A membership and its end are words of two seconds.
    server.clock.advance(2_000)
    const { page: his } = await open(at('settings'), { idTag: ben })
    await button(his, 'Leave the community').click()
    await his.getByRole('dialog').getByRole('button', { name: 'Leave the community' }).click()
    await his.getByRole('dialog').waitFor({ state: 'detached' })
    const memberOf = async () => {
      const query = { community: garden, idTag: ben } as const
      await server.settle()
      const asked = (await server.as(anna)).at(garden).call(listProfiles, { query })
      return (await asked).data.length
    }
    await expect.poll(memberOf).toBe(0)
    expect(faults).toEqual([])
  })
})
