import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { axeFindings, openApp } from './harness/open-app.ts'
import { anna, ben, type SmallTown, startSmallTown } from './harness/small-town.ts'

withChromium('the search', (launch) => {
  let browser: Browser
  let town: SmallTown
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })

  test('is reached by a key, and finds people, posts and files while one types', async () => {
    const { page, faults } = await openApp(browser, town.server, { idTag: anna })
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.keyboard.press('/')
    const field = page.getByRole('searchbox', { name: 'People, posts, files' })
    await field.fill('hills')
    await page.getByRole('link', { name: /Three evenings in the hills/ }).waitFor()
    await page.getByRole('link', { name: 'Summer in the hills' }).waitFor()
    await page.locator('main [aria-busy="false"]').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await field.fill('okafor')
    await page.getByRole('link', { name: /evenings/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /Ben Okafor/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('keeps its text in the address, and offers to look a whole identity up', async () => {
    const { page } = await openApp(browser, town.server, { idTag: anna, path: `/search?q=${ben}` })
    const lookUp = page.getByRole('link', { name: `Look up ${ben}` })
    await lookUp.waitFor()
    await expect.poll(() => lookUp.getAttribute('href')).toBe(`/profiles/${ben}`)
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe(ben)
  })

  test('says how many words a search takes', async () => {
    const path = '/search?q=a+b+c+d+e+f+g+h+i+j'
    const { page, faults } = await openApp(browser, town.server, { idTag: anna, path })
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    await page.getByRole('searchbox').fill('a b c d e f g h i j k')
    await page.getByRole('heading', { name: 'Too many words' }).waitFor()
    await page.getByText('A search takes at most 10 words.').waitFor()
    expect(faults).toEqual([])
  })

  test('says so where nothing is found, in German as well, and shows markup as text', async () => {
    const q = '<img src=x onerror=alert(1)>'
    const path = `/search?q=${encodeURIComponent(q)}`
    const { page, faults } = await openApp(browser, town.server, { idTag: anna, path, locale: 'de-DE' })
    await page.getByRole('heading', { name: 'Nichts gefunden' }).waitFor()
    await page.getByText(`Zu „${q}“ gibt es hier nichts.`).waitFor()
    expect(faults).toEqual([])
  })
})
