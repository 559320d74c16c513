import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, withChromium } from '#harness/browser.ts'
import { NameProvider } from '#harness/name-provider.ts'

const paths = [
  '/',
  '/login',
  '/register',
  '/activate',
  '/set-password',
  '/shared',
  '/confirm-email',
  '/follow',
  '/follow?visitor=no%20name',
  '/nothing',
]

/** How light the page and its words are, from 0 to 255. */
const lightness = `(() => {
  const of = (color) => color.match(/[0-9.]+/g).slice(0, 3).reduce((sum, each) => sum + Number(each) / 3, 0)
  const { backgroundColor, color } = getComputedStyle(document.body)
  return { ground: of(backgroundColor), words: of(color) }
})()`

withChromium('the pages of a server', (launch) => {
  let browser: Browser
  let names: NameProvider
  beforeAll(async () => {
    browser = await launch()
    names = await NameProvider.start()
  })
  afterAll(async () => {
    await names?.[Symbol.asyncDispose]()
  })

  async function look(page: Page, path: string) {
    await page.goto(`${names.server.urlOf(names.idTag)}${path}`)
    const { ground, words }: { ground: number; words: number } = await page.evaluate(lightness)
    return { language: await page.locator('html').getAttribute('lang'), isDark: ground < 60 && words > 190 }
  }

  describe.each(paths)('%s', (path) => {
    test.each([
      ['light', 'en-GB', { language: 'en', isDark: false }],
      ['dark', 'de-AT', { language: 'de', isDark: true }],
    ] as const)('follows a device that is %s and speaks %s', async (colorScheme, locale, expected) => {
      const { page, faults } = await openPage(browser, { colorScheme, locale })
      expect(await look(page, path)).toEqual(expected)
      expect(faults).toEqual([])
    })
  })

  test.each([
    ['dark', 'light', { theme: 'dark contrast' }],
    ['light', 'dark', { theme: 'light', darkMode: 'true' }],
    ['dark', 'light', { theme: 'default', darkMode: 'true' }],
  ] as const)(
    'are %s on a device that is %s, where the app was chosen to be',
    async (chosen, colorScheme, kept) => {
      const { page, faults } = await openPage(browser, { colorScheme })
      // The page for signing in empties the storage, a while after it is shown.
      await look(page, '/register')
      await page.evaluate(`localStorage.setItem('kith-look', ${JSON.stringify(JSON.stringify(kept))})`)
      expect((await look(page, '/login')).isDark).toBe(chosen === 'dark')
      expect(faults).toEqual([])
    },
  )
})
