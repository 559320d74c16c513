import type { Client } from '@kith/client'
import {
  createReference,
  createShare,
  listFileShares,
  listFiles,
  listReferences,
  listShares,
} from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { namesIn } from './harness/file-steps.ts'
import { axeFindings, desk, openApp } from './harness/open-app.ts'
import { anna, ben, startSmallTown } from './harness/small-town.ts'

withChromium('sharing files', (launch) => {
  let browser: Browser
  let server: TestServer
  let a: Client
  let folderId: string
  beforeAll(async () => {
    browser = await launch()
    const town = await startSmallTown()
    server = town.server
    folderId = town.folderId
    a = await server.as(anna)
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, options: object = {}) =>
    openApp(browser, server, { idTag: anna, path, viewport: desk, ...options })

  test('a file is shared with a person and by a link, and both are ended', async () => {
    const { page, faults } = await open('/files')
    await page.getByRole('button', { name: 'Actions for shopping.txt' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByRole('combobox', { name: 'Identity' }).fill(ben)
    await page.getByRole('combobox', { name: 'May' }).selectOption({ label: 'view and edit' })
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('button', { name: 'End sharing with Ben Okafor' }).waitFor()
    const { data } = await a.call(listFiles, { query: { search: 'shopping' } })
    const fileId = data[0]?.fileId ?? ''
    const shares = async () => (await a.call(listFileShares, { params: { fileId } })).data
    await expect.poll(() => shares()).toMatchObject([{ subjectId: ben, permission: 'W' }])
    await page.getByText('New link').click()
    await page.getByRole('textbox', { name: 'What it is for' }).fill('For the neighbours')
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByRole('button', { name: 'QR code' }).click()
    await page.getByRole('img', { name: 'QR code of the link For the neighbours' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new DOMException("no"))')
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByText('The browser did not allow copying.').waitFor()
    await page.getByRole('button', { name: 'End the link For the neighbours' }).click()
    await page.getByText('No links yet.').waitFor()
    await page.getByRole('button', { name: 'End sharing with Ben Okafor' }).click()
    await page.getByText('Not shared with anyone yet.').waitFor()
    await expect.poll(() => shares()).toEqual([])
    const query = { type: 'share.file', resourceId: fileId } as const
    await expect.poll(async () => (await a.call(listReferences, { query })).data).toEqual([])
    expect(faults).toEqual([])
  })

  test('a link ends after a time, and after a number of uses', async () => {
    const { page, faults } = await open('/files')
    await page.getByRole('button', { name: 'Actions for portrait.jpg' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByText('New link').click()
    await page.getByRole('textbox', { name: 'What it is for' }).fill('For the printer')
    await page.getByRole('combobox', { name: 'Ends' }).selectOption({ label: 'after a week' })
    const uses = page.getByRole('textbox', { name: 'How often it can be opened' })
    await uses.fill('often')
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByText('This is a whole number from 1 on, or nothing.').waitFor()
    await uses.fill('3')
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByText('3 uses left').waitFor()
    const { data } = await a.call(listReferences, { query: { type: 'share.file' } })
    const link = data.find(({ description }) => description === 'For the printer')
    expect(link).toMatchObject({ count: 3, accessLevel: 'read' })
    const inAWeek = Date.now() / 1000 + 7 * 86_400
    expect(Math.abs(Number(link?.expiresAt) - inAWeek)).toBeLessThan(3_600)
    expect(faults).toEqual([])
  })

  test('a role is changed in place, and what comes from a folder above is named and leads there', async () => {
    const share = { subjectType: 'U', subjectId: ben, permission: 'R' } as const
    await a.call(createShare, { params: { fileId: folderId }, body: share })
    const link = { type: 'share.file', resourceId: folderId, description: 'For the choir' } as const
    await a.call(createReference, { body: { ...link, accessLevel: 'write', count: null } })
    const { page, faults } = await open(`/files/${folderId}`)
    await page.getByRole('button', { name: 'Actions for evening-0.jpg' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByText('Because of the folder “Summer in the hills”').waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: `${ben}: view` })
      .waitFor()
    await page.getByRole('listitem').filter({ hasText: 'the link For the choir: view and upload' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Change it for the folder “Summer in the hills”' }).click()
    await page.getByRole('dialog', { name: 'Share “Summer in the hills”' }).waitFor()
    await page
      .getByRole('combobox', { name: 'What Ben Okafor may do' })
      .selectOption({ label: 'view and edit' })
    const shares = async () => (await a.call(listFileShares, { params: { fileId: folderId } })).data
    await expect.poll(shares).toMatchObject([{ subjectId: ben, permission: 'W' }])
    await page.getByRole('button', { name: 'End the link For the choir' }).click()
    await page.getByText('No links yet.').waitFor()
    await page.getByRole('button', { name: 'End sharing with Ben Okafor' }).click()
    await page.getByText('Not shared with anyone yet.').waitFor()
    expect(faults).toEqual([])
  })

  test('several files are shared with a person, and as a folder by a link', async () => {
    const { page, faults } = await open(`/files/${folderId}`)
    const choose = async () => {
      await page.getByRole('checkbox', { name: 'Select evening-200.jpg' }).check()
      await page.getByRole('checkbox', { name: 'Select evening-240.jpg' }).check()
      await page.getByRole('toolbar', { name: '2 selected' }).getByRole('button', { name: 'Share' }).click()
    }
    await choose()
    const dialog = page.getByRole('dialog', { name: 'Share 2 files' })
    await dialog.getByRole('combobox', { name: 'Identity' }).fill(ben)
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const query = { subjectId: ben, subjectType: 'U' } as const
    await expect.poll(async () => (await a.call(listShares, { query })).data).toHaveLength(2)
    await choose()
    await dialog.getByRole('textbox', { name: 'Name of the folder' }).fill('Two evenings')
    await dialog.getByRole('button', { name: 'Move them there and share it' }).click()
    await page.getByRole('dialog', { name: 'Share “Two evenings”' }).getByText('New link').waitFor()
    const inside = async () => {
      const found = await a.call(listFiles, { query: { search: 'Two evenings' } })
      return found.data[0] ? await namesIn(a, found.data[0].fileId) : []
    }
    await expect.poll(inside).toEqual(['evening-200.jpg', 'evening-240.jpg'])
    expect(faults).toEqual([])
  })

  test('who else may see a file is chosen in its details', async () => {
    const { page, faults } = await open('/files')
    await page.getByRole('button', { name: 'Actions for shopping.txt' }).click()
    await page.getByRole('menuitem', { name: 'Details' }).click()
    const dialog = page.getByRole('dialog', { name: 'shopping.txt' })
    await dialog.getByRole('combobox', { name: /^Who may see it/ }).selectOption({ label: 'my connections' })
    const visibility = async () => {
      const { data } = await a.call(listFiles, { query: { search: 'shopping' } })
      return data[0]?.visibility
    }
    await expect.poll(visibility).toBe('C')
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole('combobox', { name: /^Who may see it/ }).selectOption({ label: 'nobody else' })
    await expect.poll(visibility).toBe(null)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Actions for Summer in the hills' }).click()
    await page.getByRole('menuitem', { name: 'Details' }).click()
    await page
      .getByRole('dialog', { name: 'Summer in the hills' })
      .getByRole('combobox', { name: /^Who may see it/ })
      .selectOption({ label: 'everybody, also without an account' })
    await page.getByText('This shows its name. What is in it keeps its own.').waitFor()
    expect(faults).toEqual([])
  })
})
