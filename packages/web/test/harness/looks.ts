import type { Page } from 'playwright-core'
import { desk, phone } from './windows.ts'

/** How a page is looked at. */
export interface Look {
  readonly locale: 'en-GB' | 'de-DE' | 'en-XA'
  readonly colors: 'light' | 'dark' | 'forced'
  readonly viewport: { readonly width: number; readonly height: number }
}

/** Every language × every kind of colours × phone and desk. */
export const allLooks: readonly Look[] = (['en-GB', 'de-DE'] as const).flatMap((locale) =>
  [phone, desk].flatMap((viewport) =>
    (['light', 'dark', 'forced'] as const).map((colors) => ({ locale, colors, viewport })),
  ),
)

export function nameOfLook({ locale, colors, viewport }: Look): string {
  return `${locale} ${colors} ${viewport.width} px`
}

/** Has an open page looked at in another way, as if its device and its browser were set so. */
export async function lookAt(page: Page, { locale, colors, viewport }: Look): Promise<void> {
  await page.setViewportSize(viewport)
  const [colorScheme, forcedColors] =
    colors === 'forced' ? (['light', 'active'] as const) : ([colors, 'none'] as const)
  await page.emulateMedia({ colorScheme, forcedColors })
  await page.evaluate(`(async () => {
    const languages = ${JSON.stringify([locale])}
    for (const [name, value] of Object.entries({ languages, language: languages[0] }))
      Object.defineProperty(navigator, name, { value, configurable: true })
    dispatchEvent(new Event('languagechange'))
    // Until it is laid out and drawn so.
    for (const _ of [1, 2]) await new Promise((resolve) => requestAnimationFrame(resolve))
  })()`)
}
