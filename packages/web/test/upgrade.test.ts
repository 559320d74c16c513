import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { CuttableLink } from '../../server/test/harness/cuttable-link.ts'
import { TestServer } from '../../server/test/harness/test-server.ts'
import { writeFormerBuild } from './harness/former-build.ts'
import { openApp, webBuild } from './harness/open-app.ts'
import { anna } from './harness/small-town.ts'

const text = (page: Page) => page.getByRole('textbox', { name: 'Text' })

withChromium('an app that is open while its server gets a new one', (launch) => {
  let browser: Browser
  let folder: string
  beforeAll(async () => {
    browser = await launch()
    folder = await mkdtemp(join(tmpdir(), 'kith-upgrade-'))
    await writeFormerBuild(webBuild, join(folder, 'former'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** The former app with something typed, and what puts the new one in its place. */
  async function openFormer(serviceWorkers: 'allow' | 'block') {
    const dataDir = await mkdtemp(join(folder, 'data-'))
    const link = await CuttableLink.open()
    onTestFinished(() => link[Symbol.asyncDispose]())
    const at = { baseIdTag: anna, dataDir, link }
    const former = await TestServer.start({ ...at, webBuild: join(folder, 'former') })
    const { page, faults } = await openApp(browser, former, { idTag: anna, path: '/new', serviceWorkers })
    let loads = 0
    page.on('domcontentloaded', () => {
      loads += 1
    })
    await text(page).fill('Half a thought')
    await page.getByText('Saved as a draft').waitFor()
    const upgrade = async () => {
      await former.stop()
      const server = await TestServer.start({ ...at, webBuild })
      onTestFinished(() => server.stop())
      await page.getByText('No connection.').waitFor({ state: 'detached' })
    }
    return { page, faults, dataDir, upgrade, loads: () => loads }
  }

  async function goTo(page: Page, link: string, heading = link): Promise<void> {
    const others = page.getByRole('button', { name: 'More screens' })
    if (!(await page.getByRole('link', { name: link, exact: true }).first().isVisible())) await others.click()
    await page.getByRole('link', { name: link, exact: true }).first().click()
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }

  test('goes on as it is, since the files of its build stay', async () => {
    const { page, faults, upgrade, loads } = await openFormer('block')
    await upgrade()
    for (const screen of ['People', 'Files', 'Communities']) await goTo(page, screen)
    await goTo(page, 'New', 'New post')
    await expect.poll(() => text(page).inputValue()).toBe('Half a thought')
    expect([loads(), faults]).toEqual([0, []])
  })

  test('whose files are gone is loaded anew, once, and nothing that was typed is lost', async () => {
    const { page, dataDir, upgrade, loads } = await openFormer('block')
    await rm(join(dataDir, 'web'), { recursive: true })
    await upgrade()
    await goTo(page, 'People')
    expect(loads()).toBe(1)
    await goTo(page, 'Communities')
    await goTo(page, 'New', 'New post')
    await expect.poll(() => text(page).inputValue()).toBe('Half a thought')
    expect(loads()).toBe(1)
  })

  test('is offered the new one, and takes it when that is wanted', async () => {
    const { page, upgrade, loads } = await openFormer('allow')
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await upgrade()
    await page.getByRole('status').getByText('There is a new version of Kith.').waitFor()
    await expect.poll(() => text(page).inputValue()).toBe('Half a thought')
    await text(page).fill('Half a thought, and more')
    expect(loads()).toBe(0)
    await page.getByRole('button', { name: 'Reload' }).click()
    await expect.poll(() => page.evaluate('document.scripts[0].src')).not.toMatch(/0\.js$/)
    await expect.poll(() => text(page).inputValue()).toBe('Half a thought, and more')
  })
})
