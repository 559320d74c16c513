import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { addAuthenticator } from '../../../server/test/harness/chromium.ts'
import { pollMs } from '../../../server/test/harness/patience.ts'
import { watchPage } from '../harness/page-faults.ts'
import { picture } from '../harness/picture.ts'

/** A browser of its own, with a person in front of it: it is used by what its controls are and how they are called. */
export class Device {
  readonly name: string
  readonly page: Page
  /** What breaks the content security policy, throws, is logged as an error, or goes to another origin. */
  readonly faults: string[] = []
  /** How often a document was loaded. */
  loads = 0
  #own = ''

  private constructor(name: string, page: Page) {
    this.name = name
    this.page = page
    page.on('domcontentloaded', () => {
      this.loads += 1
    })
    page.on('pageerror', (error) => this.faults.push(String(error)))
    watchPage(page, () => this.#own, this.faults)
  }

  static async open(browser: Browser, name: string, options: BrowserContextOptions): Promise<Device> {
    const context = await browser.newContext({
      locale: 'en-GB',
      serviceWorkers: 'block',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...options,
    })
    context.setDefaultTimeout(pollMs)
    const page = await context.newPage()
    await addAuthenticator(context, page)
    await page.clock.install()
    return new Device(name, page)
  }

  async opens(url: string): Promise<void> {
    this.#own = new URL(url).origin
    await this.page.goto(url)
  }

  async presses(button: string | RegExp): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click()
  }

  async follows(link: string | RegExp): Promise<void> {
    await this.page
      .getByRole('link', { name: link, exact: typeof link === 'string' })
      .first()
      .click()
  }

  /** Follows a link of the main navigation: of the bar or the rail, or of the menu above. */
  async goesTo(screen: string): Promise<void> {
    const named = { name: new RegExp(`^${screen}( \\(\\d+ new\\))?$`) }
    const link = this.page.getByRole('link', named).first()
    const menu = this.page.getByRole('button', { name: 'More screens' })
    await link.or(menu).first().waitFor()
    if (!(await link.isVisible())) await menu.click()
    await link.click()
    await this.seesScreen(screen)
  }

  async fills(field: string, text: string): Promise<void> {
    await this.page.getByLabel(field, { exact: true }).fill(text)
  }

  async choosesFrom(field: string, option: string): Promise<void> {
    await this.page.getByLabel(field, { exact: true }).selectOption({ label: option })
  }

  /** Presses a button that asks for a file, and chooses a photo. */
  async choosesPhoto(button: string, fileName: string, hue: number): Promise<void> {
    const opening = this.page.waitForEvent('filechooser')
    await this.presses(button)
    const buffer = Buffer.from(await (await picture(hue)).arrayBuffer())
    await (await opening).setFiles({ name: fileName, mimeType: 'image/jpeg', buffer })
  }

  async seesScreen(title: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor()
  }

  async sees(text: string | RegExp): Promise<void> {
    const found = this.page.getByText(text, { exact: typeof text === 'string' })
    await found.filter({ visible: true }).first().waitFor()
  }

  async seesNoMore(thing: Locator | string): Promise<void> {
    const gone = typeof thing === 'string' ? this.page.getByText(thing, { exact: true }) : thing
    await gone.waitFor({ state: 'detached' })
  }

  post(text: string | RegExp): Locator {
    return this.page.getByRole('article', { name: text })
  }

  /** The time of this browser alone. */
  async waits(ms: number): Promise<void> {
    await this.page.clock.fastForward(ms)
  }

  close(): Promise<void> {
    return this.page.context().close()
  }
}
