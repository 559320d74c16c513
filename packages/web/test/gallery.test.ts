import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, withChromium } from '../../server/test/harness/browser.ts'
import { startFurnishedTown } from './harness/furnished-town.ts'
import { desk, openApp, phone } from './harness/open-app.ts'
import { pathIn, screenRows } from './harness/screen-paths.ts'
import { anna } from './harness/small-town.ts'

const folder = process.env.GALLERY

const devices = [
  { device: 'phone', viewport: phone, isMobile: true, hasTouch: true, locale: 'en-GB' },
  { device: 'desk', viewport: desk, locale: 'de-DE' },
]
const looks = devices.flatMap((one) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ ...one, colorScheme })),
)

/** Pages for whoever is not signed in. */
const publicPaths = ['/', '/login']

/** Pictures of all screens on one page, for people to look at: `npm run web:gallery`. */
if (folder !== undefined)
  withChromium('the gallery of screens', (launch) => {
    test('is made', { timeout: 900_000 }, async () => {
      const out = resolve(folder)
      await mkdir(out, { recursive: true })
      const town = await startFurnishedTown()
      const figures = new Map<string, string[]>()
      const show = async (page: Page, path: string, name: string) => {
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.waitForLoadState('networkidle')
        await page.screenshot({ path: join(out, `${name}.png`), animations: 'disabled' })
        const figure = `<figure><img src="${name}.png" loading="lazy" alt=""><figcaption>${name}</figcaption></figure>`
        figures.set(path, [...(figures.get(path) ?? []), figure])
      }
      try {
        const browser = await launch()
        const base = town.server.urlOf(anna)
        for (const { device, ...look } of looks) {
          const suffix = `${device}-${look.colorScheme}`
          const { page, context } = await openPage(browser, look)
          for (const path of publicPaths) {
            await page.goto(base + path)
            await show(page, `public ${path}`, `public${nameOf(path)}-${suffix}`)
          }
          await context.close()
          const { page: app, go } = await openApp(browser, town.server, { idTag: anna, ...look })
          for (const row of screenRows) {
            await go(pathIn(town, row))
            await show(app, row.path, `screen${nameOf(row.path)}-${suffix}`)
          }
          await app.context().close()
        }
      } finally {
        await town.server.stop()
      }
      const style =
        '<style>div{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}img{max-height:40rem;border:1px solid}</style>'
      const head = `<!doctype html><meta charset="utf-8"><title>Screens</title>${style}`
      const rows = [...figures].map(([path, shown]) => `<h2>${path}</h2><div>${shown.join('')}</div>`)
      await writeFile(join(out, 'index.html'), head + rows.join('\n'))
      expect([...figures.values()].flat()).toHaveLength(
        (screenRows.length + publicPaths.length) * looks.length,
      )
    })
  })
else test.skip('the gallery of screens is made by `npm run web:gallery`', () => undefined)

function nameOf(path: string): string {
  return path.replaceAll(/[^\w]+/g, '-').replace(/-$/, '')
}
