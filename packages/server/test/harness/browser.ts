import { existsSync } from 'node:fs'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { describe, onTestFinished, test } from 'vitest'

const executablePath = [process.env.TEST_CHROMIUM, '/usr/bin/chromium'].find(
  (path) => path !== undefined && existsSync(path),
)

// Nothing but the server of the test is to be asked for anything.
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A suite that drives a real Chromium: the one at TEST_CHROMIUM, or the system's. */
export function withChromium(name: string, suite: (launch: () => Promise<Browser>) => void): void {
  if (executablePath === undefined) {
    console.warn(`SKIPPED: "${name}" needs Chromium. Install it, or name its path in TEST_CHROMIUM.`)
    test.skip(`${name} (needs TEST_CHROMIUM)`, () => undefined)
    return
  }
  describe(name, () => suite(() => chromium.launch({ executablePath, args: quiet })))
}

/** A page in a profile of its own, with a passkey authenticator; closes with the test. What breaks the content security
 * policy, or throws, is collected. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(8_000)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text())
  })
  await addAuthenticator(context, page)
  return { context, page, faults }
}

async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
