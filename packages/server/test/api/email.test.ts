import { changeEmail, forgotPassword, getEmail, getProxyToken, login, setPassword } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const day = 24 * 3_600_000
let people = 0

/** A person with a proven address. */
async function newcomer() {
  people += 1
  const idTag = `n${people}.localhost`
  const address = `n${people}@example.org`
  await server.createTenant(idTag, { email: address })
  await server.client(idTag).call(forgotPassword, { body: { idTag } })
  const token = (await mailedLink(address)).split('#token=')[1] ?? ''
  await server.client(idTag).call(setPassword, { body: { token, password: testPassword } })
  return { idTag, address, client: server.client(idTag, await server.signIn(idTag)) }
}

async function mailsTo(address: string) {
  await server.settle()
  const mails = await readMails(server.running.services.config.mail.directory)
  return mails.filter(({ to }) => to === address)
}

async function mailedLink(address: string): Promise<string> {
  const [mail] = (await mailsTo(address)).slice(-1)
  return linkIn(mail ?? { text: '' })
}

/** What a browser without scripts gets. */
async function open(idTag: string, path: string, method: 'GET' | 'POST' | 'HEAD' = 'GET', language = 'en') {
  const headers = { 'accept-language': language }
  const answer = await server.request(idTag, path, { method, headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const pathOf = (link: string) => {
  const { pathname, search } = new URL(link)
  return pathname + search
}

describe('the page of the link that confirms an address', () => {
  test('needs no script, changes nothing when it is looked at, and confirms by its button', async () => {
    const { idTag, address, client } = await newcomer()
    const email = `new${people}@example.org`
    await client.call(changeEmail, { body: { email } })
    const link = await mailedLink(email)
    expect(new URL(link).host).toBe(new URL(server.urlOf(idTag)).host)
    const path = pathOf(link)
    for (const method of ['HEAD', 'GET'] as const) expect((await open(idTag, path, method)).status).toBe(200)
    const page = await open(idTag, path)
    expect(page.text).toContain(`<strong>${email}</strong>`)
    expect(page.text).toContain(`<form method="post" action="${path}">`)
    expect(page.text).not.toMatch(/<script|<noscript/)
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect((await client.call(getEmail, {})).data.address).toBe(address)

    const done = await open(idTag, path, 'POST')
    expect(done.status).toBe(200)
    expect(done.text).toContain(`go to <strong>${email}</strong>.`)
    expect((await client.call(getEmail, {})).data).toEqual({ address: email, verified: true })
    // Opened or sent once more it says what holds.
    for (const method of ['GET', 'POST'] as const)
      expect(await open(idTag, path, method)).toMatchObject({
        status: 200,
        text: expect.stringContaining(email),
      })
    expect((await open(idTag, path, 'GET', 'de')).text).toContain('E-Mail-Adresse bestätigen')
  })

  test('says of one that is worth nothing why, and where to go on', async () => {
    const { idTag, client } = await newcomer()
    const [first, second] = [`a${people}@example.org`, `b${people}@example.org`]
    await client.call(changeEmail, { body: { email: first } })
    const replaced = pathOf(await mailedLink(first))
    await client.call(changeEmail, { body: { email: second } })
    const expired = pathOf(await mailedLink(second))
    server.clock.advance(day)
    const gone = 'is used up, has expired, or was replaced'
    for (const [path, status, sentence] of [
      [replaced, 410, gone],
      [expired, 410, gone],
      ['/confirm-email?token=0123456789ABCDEFabcdefgh', 404, 'incomplete or unknown'],
      ['/confirm-email?token=%3Cb%3E', 404, 'incomplete or unknown'],
      ['/confirm-email', 404, 'incomplete or unknown'],
    ] as const)
      for (const method of ['GET', 'POST'] as const) {
        const page = await open(idTag, path, method)
        expect(page).toMatchObject({ status, text: expect.stringContaining(sentence) })
        expect(page.text).toContain('<a href="/account">')
        expect(page.text).not.toMatch(/<form|<b>/)
      }
    expect((await open('nobody.elsewhere.example', replaced)).status).toBe(404)
  })

  test('is no way to try tokens', async () => {
    const { idTag } = await newcomer()
    const statuses: number[] = []
    for (let turn = 0; turn < 22; turn += 1)
      statuses.push((await open(idTag, '/confirm-email?token=0123456789ABCDEFabcdefgh', 'POST')).status)
    expect(statuses.at(-1)).toBe(429)
    server.clock.advance(60_000)
  })
})

test('an owner without an address is told so at sign-in, and is mailed nothing', async () => {
  const idTag = server.baseIdTag
  const { data } = await server.client(idTag).call(login, { body: { idTag, password: testPassword } })
  expect(data.email).toEqual({ address: null, verified: false })
  const { directory } = server.running.services.config.mail
  const before = (await readMails(directory)).length
  expect((await server.client(idTag).call(forgotPassword, { body: { idTag } })).data).toEqual({ sent: true })
  await server.settle()
  expect(await readMails(directory)).toHaveLength(before)
})

test('the address is in no answer to others', async () => {
  const { idTag, address } = await newcomer()
  const home = await server.as(server.baseIdTag)
  const { data: visit } = await home.call(getProxyToken, { query: { target: idTag } })
  const stranger = server.client(idTag, visit.token)
  for (const path of [
    '/api/me',
    '/api/me/full',
    `/api/profiles/${idTag}`,
    '/.well-known/service/id-tag',
    '/',
  ])
    expect(await (await server.request(idTag, path)).text()).not.toContain(address)
  expect(JSON.stringify(await stranger.call(getEmail, {}).catch((error) => error.code))).toBe(
    '"E-AUTH-FORBIDDEN"',
  )
})
