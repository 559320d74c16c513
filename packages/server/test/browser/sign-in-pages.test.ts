import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, signInBrowser, withChromium } from '#harness/browser.ts'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

const home = 'home.localhost'
const status = (page: Page) => page.getByRole('status')
const problem = (page: Page) => page.getByRole('alert')

/** Comes back to a browser in which somebody has signed in. */
async function comeBack(page: Page, server: TestServer): Promise<void> {
  await signInBrowser(page.context(), server, home)
  await page.goto(`${server.urlOf(home)}/account`)
  await page.getByText(`You are signed in as ${home}.`).waitFor()
}

/** The link in the latest mail. */
async function mailedLink(server: TestServer): Promise<string> {
  await server.settle()
  const [mail] = (await readMails(server.running.services.config.mail.directory)).slice(-1)
  return linkIn(mail ?? { text: '' })
}

async function signIn(page: Page, server: TestServer): Promise<void> {
  await page.goto(`${server.urlOf(home)}/login`)
  await page.getByLabel('Password').fill(testPassword)
  await page.keyboard.press('Enter')
  await page.getByText(`You are signed in as ${home}.`).waitFor()
}

/** Adds a passkey and signs out. */
async function withPasskey(page: Page, server: TestServer): Promise<void> {
  await comeBack(page, server)
  await page.getByLabel('Name of the new passkey').fill('Test key')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await status(page).getByText('The passkey was added.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/login*')
}

withChromium('the pages', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    server = await TestServer.start({ baseIdTag: home })
    await server.createTenant('bob.localhost')
  })
  afterAll(async () => {
    await server?.stop()
  })

  test('add a passkey, and sign in with it with and without an identity', async () => {
    const { page, faults } = await openPage(browser)
    await withPasskey(page, server)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText(`You are signed in as ${home}.`).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login*')
    await page.getByLabel('Identity').fill('')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText(`You are signed in as ${home}.`).waitFor()
    await page.getByRole('button', { name: 'Remove the passkey Test key' }).click()
    await status(page).getByText('The passkey was removed.').waitFor()
    expect(faults).toEqual([])
  })

  test('name the address of whoever lives elsewhere, and ask for a whole identity', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(`${server.urlOf(home)}/login`)
    await page.getByLabel('Password').fill(testPassword)
    await page.getByLabel('Identity').fill('bob')
    await page.keyboard.press('Enter')
    await problem(page).getByText(`An identity is a whole name, such as ${home}.`).waitFor()
    await page.getByLabel('Identity').fill('bob.localhost')
    await expect.poll(() => problem(page).textContent()).toBe('')
    await page.keyboard.press('Enter')
    const address = `${server.urlOf('bob.localhost')}/login`
    await problem(page)
      .getByText(`Only ${home} signs in here. The address of bob.localhost is ${address}.`)
      .waitFor()
    expect(faults).toEqual([])
  })

  test('say when another try is possible', async () => {
    const { page } = await openPage(browser)
    await page.route('**/api/auth/login', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '130' },
        json: { error: { code: 'E-RATELIMIT', message: 'Too many requests. Try again later.' } },
      }),
    )
    await page.goto(`${server.urlOf(home)}/login`)
    await page.getByLabel('Password').fill('not the right one')
    await page.keyboard.press('Enter')
    await problem(page).getByText('Too many attempts. The next one is possible in 3 minutes.').waitFor()
  })

  describe('the other ways of the pages', () => {
    test('keep the set-up link where a browser could not stay signed in', async () => {
      await using fresh = await TestServer.start({ baseIdTag: home, env: { BASE_PASSWORD: '' } })
      const link = new URL(fresh.running.setUpUrl ?? '')
      const { page } = await openPage(browser)
      // What a browser of another machine sees: the same pages, without TLS, under an address that is not its own.
      const remote = 'http://192.0.2.2:8080'
      const asked: string[] = []
      await page.route(`${remote}/**`, async (route) => {
        const url = route.request().url().replace(remote, `http://127.0.0.1:${link.port}`)
        asked.push(new URL(url).pathname)
        await route.fulfill({ response: await route.fetch({ url }) })
      })
      await page.goto(`${remote}/set-password${link.hash}`)
      await problem(page).getByText('The link was not used').waitFor()
      await problem(page).getByText('ssh -L 8080:127.0.0.1:8080 192.0.2.2').waitFor()
      expect(await page.getByLabel('New password').isVisible()).toBe(false)
      await page.goto(`${remote}/login`)
      await problem(page).getByText('the address must begin with https').waitFor()
      expect(asked).not.toContain('/api/auth/set-password')
      await page.goto(link.href)
      await page.getByLabel('New password').waitFor()
    })

    test('set the first password with the set-up link, once', async () => {
      await using fresh = await TestServer.start({ baseIdTag: home, env: { BASE_PASSWORD: '' } })
      const { setUpUrl = '', services } = fresh.running
      const file = join(services.config.dataDir, 'setup-link')
      expect(await readFile(file, 'utf8')).toBe(`${setUpUrl}\n`)
      expect((await stat(file)).mode & 0o777).toBe(0o600)

      const { page, faults } = await openPage(browser)
      await page.goto(setUpUrl)
      await page.getByLabel('New password').fill('a new password')
      await page.getByLabel('The same again').fill('another password')
      await page.keyboard.press('Enter')
      await problem(page).getByText('The two passwords differ.').waitFor()
      await page.getByLabel('The same again').fill('a new password')
      await page.keyboard.press('Enter')
      await page.getByLabel('E-mail address').fill('admin@example.org')
      await page.keyboard.press('Enter')
      await page.getByText(`You are signed in as ${home}.`).waitFor()
      await page.getByText('admin@example.org waits to be confirmed').waitFor()
      await page.goto(await mailedLink(fresh))
      await page.getByRole('button', { name: 'Confirm the e-mail address' }).click()
      await page.getByText('go to admin@example.org.').waitFor()
      await page.getByRole('link').click()
      await page.getByRole('region', { name: 'E-mail address' }).getByText('admin@example.org').waitFor()
      await expect.poll(() => existsSync(file)).toBe(false)

      await page.goto(setUpUrl)
      await page.getByRole('heading', { name: 'This link is no longer good' }).waitFor()
      expect(await page.getByLabel('New password').isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Ask for a new link' }).click()
      await status(page).getByText('If the account exists and has an e-mail address').waitFor()
      await page.getByRole('link', { name: 'Sign in' }).click()
      await page.waitForURL('**/account')
      expect(faults).toEqual([])
    })

    test('take no input before their script listens', async () => {
      const { page, context } = await openPage(browser)
      const isReleased = Promise.withResolvers<void>()
      await context.route('**/assets/login.js', async (route) => {
        await isReleased.promise
        await route.continue()
      })
      await page.goto(`${server.urlOf(home)}/login`, { waitUntil: 'commit' })
      const password = page.locator('#password')
      await password.evaluate((input: { focus(): void }) => input.focus())
      expect(await page.evaluate('document.activeElement.id')).toBe('')
      isReleased.resolve()
      await page.waitForLoadState()
      await password.evaluate((input: { focus(): void }) => input.focus())
      expect(await page.evaluate('document.activeElement.id')).toBe('password')
    })

    test('sign in with a password, list the sessions and end one', async () => {
      await server.signIn(home)
      const { page, faults } = await openPage(browser)
      await page.goto(`${server.urlOf(home)}/account`)
      await page.waitForURL('**/login*')
      await page.getByLabel('Password').fill('a wrong password')
      await page.keyboard.press('Enter')
      await problem(page).getByText('The identity or the password is wrong.').waitFor()
      await signIn(page, server)
      const sessions = page.getByRole('region', { name: 'Where you are signed in' })
      await sessions.getByText('this session').waitFor()
      const others = sessions.getByRole('button', { name: /^End the session/ })
      const before = await others.count()
      expect(before).toBeGreaterThan(0)
      await others.first().click()
      await status(page).getByText('The session was ended.').waitFor()
      await expect.poll(() => others.count()).toBe(before - 1)
      expect(faults).toEqual([])
    })

    test('keep no token where a script finds it, and one cookie that none reads', async () => {
      const { page, context } = await openPage(browser)
      await signIn(page, server)
      const [cookie, ...others] = await context.cookies()
      expect(cookie).toMatchObject({
        name: 'kith',
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        domain: home,
      })
      expect(others).toEqual([])
      for (const kept of ['localStorage.length', 'sessionStorage.length', 'document.cookie.length'])
        expect(await page.evaluate(kept)).toBe(0)
      expect(await page.evaluate('indexedDB.databases()')).toEqual([])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL('**/login*')
      expect(await context.cookies()).toEqual([])
    })

    test('do what is pressed while their lists still load', async () => {
      const { page, context, faults } = await openPage(browser)
      await signIn(page, server)
      const isToLoad = Promise.withResolvers<void>()
      await page.route('**/api/auth/sessions*', async (route) => {
        await isToLoad.promise
        await route.continue()
      })
      await page.reload()
      await page.getByText(`You are signed in as ${home}.`).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      isToLoad.resolve()
      await page.waitForURL('**/login*')
      expect(await context.cookies()).toEqual([])
      expect(faults).toEqual([])
    })

    test('sign a new tab in without a form, and the others out with one of them', async () => {
      const { page, context } = await openPage(browser)
      await signIn(page, server)
      const [second, third] = await Promise.all([context.newPage(), context.newPage()])
      await Promise.all([second, third].map((tab) => tab.goto(`${server.urlOf(home)}/account`)))
      for (const tab of [second, third]) await tab.getByText(`You are signed in as ${home}.`).waitFor()
      await second.getByRole('button', { name: 'Sign out' }).click()
      for (const tab of [page, second, third]) await tab.waitForURL('**/login*')
      await page.goto(`${server.urlOf(home)}/account`)
      await page.waitForURL('**/login*')
    })

    test('leave when the session was ended from elsewhere', async () => {
      const { page } = await openPage(browser)
      await comeBack(page, server)
      await server.suspend(home)
      await server.resume(home)
      await page.reload()
      await page.waitForURL('**/login*')
    })

    test('refuse the answer of a passkey a second time, and from a page of another origin', async () => {
      const { page, context } = await openPage(browser)
      await withPasskey(page, server)
      const sent = page.waitForRequest('**/api/auth/wa/login')
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      const body = (await sent).postData() ?? ''
      await page.getByText(`You are signed in as ${home}.`).waitFor()
      expect(await answerWith(body)).toEqual({ status: 401, code: 'E-AUTH-BADCRED' })

      // The same name on another port is another origin, for which the browser lets the same passkey answer.
      const elsewhere = `http://${home}:8123/`
      const script = await (await server.request(home, '/assets/passkeys.js')).text()
      await context.route(`${elsewhere}**`, (route) =>
        route.request().url() === elsewhere
          ? route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })
          : route.fulfill({ contentType: 'text/javascript', body: script }),
      )
      await page.goto(elsewhere)
      const challenge = await server.request(home, `/api/auth/wa/login/challenge?idTag=${home}`)
      const { data } = (await challenge.json()) as { data: { options: unknown } }
      const credential = await page.evaluate(
        `import('/passkeys.js').then(({ usePasskey }) => usePasskey(${JSON.stringify(data.options)}))`,
      )
      expect(await answerWith(JSON.stringify({ credential }))).toEqual({
        status: 401,
        code: 'E-AUTH-BADCRED',
      })
    })

    test('take the passkey of one person on nobody else’s page', async () => {
      const { page } = await openPage(browser)
      await withPasskey(page, server)
      await page.goto(`${server.urlOf('bob.localhost')}/login`)
      const challenge = await server.request('bob.localhost', '/api/auth/wa/login/challenge')
      const { data } = (await challenge.json()) as { data: { options: object } }
      const answerFor = (rpId: string) =>
        page.evaluate(
          `import('/assets/passkeys.js').then(({ usePasskey }) => usePasskey(${JSON.stringify({ ...data.options, rpId, timeout: 2_000 })}))`,
        )
      // The browser gives a passkey to the pages of its own host alone …
      await expect(answerFor(home)).rejects.toThrow('SecurityError')
      // … and an answer made there for a challenge of this host is none here.
      await page.goto(`${server.urlOf(home)}/login`)
      const credential = await answerFor(home)
      const answer = await answerWith(JSON.stringify({ credential }), 'bob.localhost')
      expect(answer).toEqual({ status: 401, code: 'E-AUTH-BADCRED' })
    })

    test('sign a second device in by a QR code that the first one was shown', async () => {
      const first = await openPage(browser)
      await comeBack(first.page, server)
      const second = await openPage(browser, { userAgent: 'Second device/1.0' })
      const link = await showCode(second.page)
      // As the camera of the first device opens it.
      await first.page.close()
      const page = await first.context.newPage()
      await page.goto(link)
      await page.getByRole('heading', { name: 'Sign this device in?' }).waitFor()
      await page.getByText('Second device/1.0').waitFor()
      const code = await second.page.locator('#short-code').textContent()
      expect(code).toMatch(/^\d{3} \d{3}$/)
      expect(await page.locator('#short-code').textContent()).toBe(code)
      await page.getByText('127.0.0.1', { exact: true }).waitFor()
      expect(second.page.url()).toBe(`${server.urlOf(home)}/login`)
      await page.getByRole('button', { name: 'Sign it in', exact: true }).click()
      await status(page).getByText('The other device is signed in.').waitFor()
      await second.page.getByText(`You are signed in as ${home}.`).waitFor()
      expect([...first.faults, ...second.faults]).toEqual([])
    })

    test('ask for the password before a second device is signed in by an older sign-in', async () => {
      const first = await openPage(browser)
      await comeBack(first.page, server)
      const second = await openPage(browser)
      server.clock.advance(16 * 60_000)
      await first.page.goto(await showCode(second.page))
      await first.page.getByRole('button', { name: 'Sign it in', exact: true }).click()
      await status(first.page).getByText('show that it is you').waitFor()
      await first.page.getByLabel('Password').fill('a wrong password')
      await first.page.keyboard.press('Enter')
      await problem(first.page).getByText('The identity or the password is wrong.').waitFor()
      await first.page.getByLabel('Password').fill(testPassword)
      await first.page.keyboard.press('Enter')
      await status(first.page).getByText('The other device is signed in.').waitFor()
      await second.page.getByText(`You are signed in as ${home}.`).waitFor()
      expect(second.faults).toEqual([])
    })

    test('refuse a second device by its code, typed in', async () => {
      const first = await openPage(browser)
      await comeBack(first.page, server)
      const second = await openPage(browser)
      const link = await showCode(second.page)
      await first.page.goto(`${server.urlOf(home)}/approve`)
      await first.page.getByLabel('Address or code').fill(link.split('#qr=')[1] ?? '')
      await first.page.keyboard.press('Enter')
      await first.page.getByRole('button', { name: 'Refuse' }).click()
      await problem(second.page).getByText('The other device refused.').waitFor()
      expect(second.page.url()).toBe(`${server.urlOf(home)}/login`)
    })

    test('keep the code of another device through the sign-in', async () => {
      const second = await openPage(browser, { userAgent: 'Second device/2.0' })
      const link = await showCode(second.page)
      const { page } = await openPage(browser)
      await page.goto(link)
      await page.waitForURL('**/login*')
      await page.getByLabel('Password').fill(testPassword)
      await page.keyboard.press('Enter')
      await page.getByText('Second device/2.0').waitFor()
    })

    test('speak German to whoever prefers it', async () => {
      const { page } = await openPage(browser, { locale: 'de-AT' })
      await page.goto(`${server.urlOf('bob.localhost')}/login`)
      await page.getByRole('heading', { name: 'Anmelden', exact: true }).waitFor()
      await page.getByLabel('Passwort').fill('falsches Passwort')
      await page.keyboard.press('Enter')
      await problem(page).getByText('Die Identität oder das Passwort ist falsch.').waitFor()
    })
  })

  async function answerWith(body: string, host = home) {
    const headers = { 'content-type': 'application/json' }
    const answer = await server.request(host, '/api/auth/wa/login', { method: 'POST', headers, body })
    const { error } = (await answer.json()) as { error?: { code: string } }
    return { status: answer.status, code: error?.code }
  }

  /** Asks for a code, and answers what the image says. */
  async function showCode(page: Page): Promise<string> {
    await page.goto(`${server.urlOf(home)}/login`)
    await page.getByRole('button', { name: 'Show a code' }).click()
    const image = await page.getByRole('img', { name: 'Code for the other device' }).screenshot()
    const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    const link = decodeQR({ width: info.width, height: info.height, data })
    expect(link).toBe(await page.locator('#qr-link').textContent())
    return link
  }
})
