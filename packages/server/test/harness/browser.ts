import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { describe, onTestFinished } from 'vitest'
import { addAuthenticator, chromiumPath, launchChromium } from './chromium.ts'
import { pollMs } from './patience.ts'
import { skipSuite } from './skip-suite.ts'
import type { TestServer } from './test-server.ts'

// Of the files of a worker, each of whose pages has a profile of its own. It ends with the process.
let launched: Promise<Browser> | undefined

/** A suite that drives a real Chromium: the one at TEST_CHROMIUM, or the system's. */
export function withChromium(name: string, suite: (launch: () => Promise<Browser>) => void): void {
  const path = chromiumPath
  if (path === undefined) {
    skipSuite(name, 'needs Chromium: install it, or name its path in TEST_CHROMIUM')
    return
  }
  const launch = () => {
    launched ??= launchChromium(path)
    return launched
  }
  describe(name, () => suite(launch))
}

/** A page in a profile of its own, with a passkey authenticator; closes with the test. What breaks the content security
 * policy, or throws, is collected. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(pollMs)
  const page = await context.newPage()
  const faults = faultsOf(page)
  await addAuthenticator(context, page)
  return { context, page, faults }
}

/** What breaks the content security policy on a page, or throws, from now on. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text())
  })
  return faults
}

/** Signs the browser of a context in on the host of a tenant, as its pages do. */
export async function signInBrowser(
  context: BrowserContext,
  server: TestServer,
  idTag: string,
): Promise<void> {
  const headers = { authorization: `Bearer ${await server.tokenOfSession(idTag)}` }
  const answer = await server.request(idTag, '/api/auth/browser-session', { method: 'POST', headers })
  if (!answer.ok) throw new Error(`no cookie for ${idTag}: ${answer.status} ${await answer.text()}`)
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? []
  await context.addCookies([{ name, value, url: server.urlOf(idTag), httpOnly: true, sameSite: 'Strict' }])
}
