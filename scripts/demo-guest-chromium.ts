import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Browser, Page, Request } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import sharp from 'sharp'
import { addAuthenticator, launchChromium } from '../packages/server/test/harness/chromium.ts'
import { pollMs } from '../packages/server/test/harness/patience.ts'
import { type Guest, type GuestAddress, withoutToken } from './demo-guest.ts'

/** A guest who uses the pages in a real browser. */
export async function chromiumGuest(path: string, address: GuestAddress): Promise<Guest> {
  const browser = await launchChromium(path)
  const log = new RequestLog()
  const device = await openDevice(browser, log)
  const { idTag, email, password, url } = address
  const signedIn = (page: Page) => page.getByRole('navigation', { name: 'Main navigation' }).waitFor()
  const signOut = async () => {
    await device.goto(`${url}/settings`)
    await device.getByRole('button', { name: 'Sign out' }).click()
    await device.waitForURL('**/login**')
  }
  return {
    means: `Chromium ${browser.version()}`,

    register: (link) =>
      log.tell('guest opens the invitation, chooses a name and registers', withoutToken(link), async () => {
        await device.goto(link)
        await device.getByLabel('Name', { exact: true }).fill(idTag.split('.')[0] ?? '')
        await device.getByLabel('E-mail address').fill(email)
        await device.getByRole('button', { name: 'Register' }).click()
        await device.getByText(`kept for ${email} on the server`).waitFor()
      }),

    choosePassword: (link) =>
      log.tell('guest opens the link of the mail and chooses a password', withoutToken(link), async () => {
        strictEqual(new URL(link).origin, url)
        await device.goto(link)
        await device.getByLabel('New password').fill(password)
        await device.getByLabel('The same again').fill(password)
        await device.getByRole('button', { name: 'Set the password' }).click()
        await signedIn(device)
        await signOut()
      }),

    signIn: () =>
      log.tell('guest signs in with it', `${url}/login`, async () => {
        await device.goto(`${url}/login`)
        await device.getByLabel('Password').fill(password)
        await device.getByRole('button', { name: 'Sign in', exact: true }).click()
        await signedIn(device)
      }),

    addPasskey: () =>
      log.tell('guest adds a passkey', `${url}/settings/security`, async () => {
        await device.goto(`${url}/settings/security`)
        await device.getByRole('textbox', { name: 'Name of the new passkey' }).fill('Laptop')
        await device.getByRole('button', { name: 'Add a passkey' }).click()
        await device.getByText('The passkey was added.').waitFor()
      }),

    signInWithPasskey: () =>
      log.tell('guest signs out, and in with the passkey', `${url}/login`, async () => {
        await signOut()
        await device.getByRole('button', { name: 'Sign in with a passkey' }).click()
        await signedIn(device)
      }),

    async signInElsewhere() {
      const second = await openDevice(browser, log)
      let link = ''
      await log.tell('a second device shows a code', `${url}/login`, async () => {
        await second.goto(`${url}/login`)
        await second.getByRole('button', { name: 'Show a code' }).click()
        link = await scan(second)
      })
      await log.tell('the first device scans it and agrees', link.replace(/#qr=.*/, '#qr=…'), async () => {
        await device.goto(link)
        await device.getByRole('button', { name: 'Sign it in' }).click()
        await signedIn(second)
      })
    },

    async leave() {
      await browser.close()
      deepStrictEqual(log.faults, [], 'the pages keep to their content security policy')
    },
  }
}

/** A page in a profile of its own, with an authenticator of its own. */
async function openDevice(browser: Browser, log: RequestLog): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB' })
  context.setDefaultTimeout(pollMs)
  const page = await context.newPage()
  log.watch(page)
  await addAuthenticator(context, page)
  return page
}

/** What a camera reads in the image. */
async function scan(page: Page): Promise<string> {
  const image = await page.getByRole('img', { name: 'Code for the other device' }).screenshot()
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return decodeQR({ width: info.width, height: info.height, data })
}

/** The requests to the API that pages make, told with the step that they belong to. */
class RequestLog {
  readonly faults: string[] = []
  #lines: string[] = []

  watch(page: Page): void {
    page.on('requestfinished', (request) => this.#note(request))
    page.on('pageerror', (error) => this.faults.push(String(error)))
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) this.faults.push(message.text())
    })
  }

  async tell(title: string, place: string, work: () => Promise<void>): Promise<void> {
    const startedAt = performance.now()
    await work()
    console.log(`${title}\n    ${place}`)
    for (const line of this.#lines.splice(0)) console.log(`    ${line}`)
    console.log(`    done in ${(performance.now() - startedAt).toFixed(0)} ms`)
  }

  #note(request: Request): void {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/')) return
    const status = request.existingResponse()?.status()
    const { responseEnd } = request.timing()
    this.#lines.push(`${request.method()} ${pathname} ${status} in ${responseEnd.toFixed(1)} ms`)
  }
}
