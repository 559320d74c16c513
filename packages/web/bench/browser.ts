import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../../server/test/harness/chromium.ts'
import { watchPage } from './in-page.ts'

/** How much slower than it is the processor is made. */
export type Slowness = 1 | 4

/** A page of its own profile. */
export interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly devtools: CDPSession
  readonly context: BrowserContext
  /** What the page holds after its garbage is collected, in MB. */
  heapMb(): Promise<number>
}

interface TabOptions {
  readonly slowness?: Slowness
  /** The token of a session, with which the browser stays signed in. */
  readonly token?: string
  readonly hasWorker?: boolean
}

const phone = { width: 390, height: 844 }

export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
]

/** The browser of all measurements. */
export async function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('install Chromium, or name its path in TEST_CHROMIUM')
  return await chromium.launch({
    executablePath: chromiumPath,
    args: chromiumArguments,
  })
}

/** A tab in a fresh profile: nothing is cached. */
export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { token, slowness = 1, hasWorker = false } = options
  const serviceWorkers = hasWorker ? 'allow' : 'block'
  const context = await browser.newContext({ viewport: phone, locale: 'en-GB', serviceWorkers })
  context.setDefaultTimeout(60_000)
  if (token !== undefined) await keepSignedIn(context, url, token)
  await context.addInitScript(watchPage)
  return await newPage(context, slowness)
}

/** Another page of the same profile. */
export async function newPage(context: BrowserContext, slowness: Slowness): Promise<Tab> {
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  if (slowness > 1) await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowness })
  return {
    page,
    devtools,
    context,
    async heapMb() {
      await devtools.send('HeapProfiler.collectGarbage')
      return (await devtools.send('Runtime.getHeapUsage')).usedSize / 1e6
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Lets the browser of a context stay signed in, as the sign-in page does. */
export async function keepSignedIn(context: BrowserContext, url: string, token: string): Promise<void> {
  // The server answers for its base tenant here, whose host not every resolver knows.
  const answer = await fetch(`http://127.0.0.1:${new URL(url).port}/api/auth/browser-session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? []
  if (value === '') throw new Error(`the session of the browser answered ${answer.status}`)
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
}
