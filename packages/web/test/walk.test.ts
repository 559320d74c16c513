import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { type Look, lookAt, nameOfLook } from './harness/looks.ts'
import { axeFindings, cutTexts, desk, openApp, phone, whenComplete } from './harness/open-app.ts'
import { pathIn, screenRows } from './harness/screen-paths.ts'
import { anna, type SmallTown, startSmallTown } from './harness/small-town.ts'

withChromium('every screen of the app', (launch) => {
  let browser: Browser
  let town: SmallTown
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })

  const looks: readonly Look[] = [
    { locale: 'en-GB', colors: 'light', viewport: phone },
    { locale: 'de-DE', colors: 'dark', viewport: phone },
    { locale: 'de-DE', colors: 'light', viewport: desk },
    { locale: 'en-GB', colors: 'dark', viewport: desk },
  ]
  // As wide as 1280 px at 400 %, and as high as that leaves; sentences longer than those of any language that there is.
  const zoomed = { locale: 'en-XA', colors: 'forced', viewport: { width: 320, height: 256 } } as const

  test.each(screenRows.map((row) => [row.path, row] as const))(
    '%s is accessible in every look, has room at 400 % and for a longer language, and is found again',
    async (_, row) => {
      const at = { idTag: anna, path: pathIn(town, row), reducedMotion: 'reduce' } as const
      const { page, faults, go } = await openApp(browser, town.server, at)
      const heading = page.getByRole('heading', { level: 1 }).first()
      await heading.waitFor()
      await whenComplete(page)
      expect(new URL(page.url()).pathname).not.toBe('/login')
      const title = await heading.innerText()
      for (const look of looks) {
        await lookAt(page, look)
        expect(await axeFindings(page), nameOfLook(look)).toEqual([])
      }
      await lookAt(page, zoomed)
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
      await expect.poll(() => cutTexts(page)).toEqual([])
      expect(await axeFindings(page), nameOfLook(zoomed)).toEqual([])
      await page.reload()
      await expect.poll(() => heading.innerText()).toBe(title)
      await go(row.path === '/' ? '/people' : '/')
      await expect.poll(() => heading.innerText()).not.toBe(title)
      await page.goBack()
      await expect.poll(() => heading.innerText()).toBe(title)
      await page.goForward()
      await expect.poll(() => heading.innerText()).not.toBe(title)
      expect(faults).toEqual([])
    },
  )
})
