import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { authLinesOf, startSmtpServer } from '#harness/smtp-server.ts'
import { Secret } from '#lib/secret.ts'
import { type Mail, MailError, openMailer } from './index.ts'
import type { OpenMailerOptions } from './open-mailer.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-mail-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) }
const mail: Mail = {
  to: 'alice@example.com',
  subject: 'Wëlcome to Kith',
  text: 'Follow this link: https://home.example/welcome/abc',
  html: '<p>Follow <a href="https://home.example/welcome/abc">this link</a></p>',
}

function mailer(url?: string, options: Partial<OpenMailerOptions> = {}) {
  const smtpUrl = url === undefined ? undefined : new Secret(url)
  const from = { name: 'Kith, at home', address: 'kith@home.example' }
  return openMailer({ smtpUrl, from, directory: join(folder, 'mail'), clock, ...options })
}

async function failureOf(sending: Promise<void>): Promise<MailError> {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof MailError) return error
  throw new Error('the mail was sent', { cause: error })
}

describe('without a mail server', () => {
  test('a mail is a file that only the owner may read', async () => {
    await mailer().send({ ...mail, messageId: '<42@home.example>' })
    const [name = '', ...others] = readdirSync(join(folder, 'mail'))
    expect(others).toEqual([])
    expect(name).toMatch(/^20260102T030405\.000Z-[0-9a-f]{8}\.eml$/)
    expect(statSync(join(folder, 'mail')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'mail', name)).mode & 0o777).toBe(0o600)
    const source = readFileSync(join(folder, 'mail', name), 'utf8')
    expect(source).toContain('From: "Kith, at home" <kith@home.example>')
    expect(source).toContain('To: alice@example.com')
    expect(source).toContain('Message-ID: <42@home.example>')
    expect(source).toContain('Date: Fri, 02 Jan 2026 03:04:05 +0000')
    expect(source).toContain('Auto-Submitted: auto-generated')
    expect(source).toContain('https://home.example/welcome/abc')
    expect(source).toContain('text/html')
  })

  test('a folder that cannot be made fails the mail', async () => {
    writeFileSync(join(folder, 'mail'), '')
    expect(await failureOf(mailer().send(mail))).toMatchObject({ stage: 'send', isPermanent: false })
  })
})

describe('over SMTP', () => {
  test('a mail arrives with both parts', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    await mailer(`smtp://127.0.0.1:${server.port}`).send(mail)
    expect(server.received).toHaveLength(1)
    expect(server.received[0]).toMatchObject({ from: 'kith@home.example', to: ['alice@example.com'] })
    expect(server.received[0]?.source).toMatch(/Subject: =\?UTF-8\?/)
    expect(server.received[0]?.source).toContain('multipart/alternative')
  })

  test.each([
    ['a text of ASCII', 'Hello', '7bit'],
    ['another text', 'Grüße', '8bit'],
  ])('a link stays whole in %s', async (_, greeting, encoding) => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    const link = `https://home.example/set-password#token=${'x'.repeat(90)}&to=alice@example.com`
    const html = `<p>${greeting}</p><p><a href="${link}">${link}</a></p>`
    await mailer(`smtp://127.0.0.1:${server.port}`).send({ ...mail, text: `${greeting}\n\n${link}\n`, html })
    const { source = '' } = server.received[0] ?? {}
    const [, text, page] = source.split(/^--.*$/m)
    expect(text).toContain(`Content-Transfer-Encoding: ${encoding}\r\n`)
    expect(text?.replaceAll('\r\n', '\n')).toContain(`\n\n${greeting}\n\n${link}\n`)
    expect(page).toContain('Content-Transfer-Encoding: 7bit\r\n')
    expect(page).toContain(`href="${link}"`)
    expect(page).toContain(greeting === 'Hello' ? greeting : 'Gr&#252;&#223;e')
  })

  test('lines that no server has to take are broken', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    await mailer(`smtp://127.0.0.1:${server.port}`).send({ ...mail, text: 'é'.repeat(600) })
    const lines = server.received[0]?.source.split('\r\n') ?? []
    expect(lines.filter((line) => Buffer.byteLength(line) > 998)).toEqual([])
  })

  test('another sender is taken where it is given', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    const from = 'Bücherei <news@books.example>'
    await mailer(`smtp://127.0.0.1:${server.port}`).send({ ...mail, from })
    expect(server.received[0]?.from).toBe('news@books.example')
  })

  test('a login goes over STARTTLS', async () => {
    await using server = await startSmtpServer({ login: { user: 'kith', password: 'p@ss word' } })
    const login = `kith:${encodeURIComponent('p@ss word')}`
    await mailer(`smtp://${login}@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`).send(mail)
    expect(server.received[0]).toMatchObject({ isEncrypted: true, user: 'kith' })
  })

  test('TLS from the start works', async () => {
    await using server = await startSmtpServer({ secure: true })
    await mailer(`smtps://127.0.0.1:${server.port}?tls.rejectUnauthorized=false`).send(mail)
    expect(server.received[0]?.isEncrypted).toBe(true)
  })

  test('many mails at once arrive once each', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    const { send } = mailer(`smtp://127.0.0.1:${server.port}`)
    const receivers = Array.from({ length: 20 }, (_, at) => `user${at}@example.com`)
    await Promise.all(receivers.map((to) => send({ ...mail, to })))
    expect(server.received.flatMap(({ to }) => to).sort()).toEqual(receivers.sort())
  })
})

describe('what goes into a header is refused before anything is sent', () => {
  test.each<[string, Partial<Mail>]>([
    ['two receivers', { to: 'alice@example.com, bob@example.com' }],
    ['a line break in the receiver', { to: 'alice@example.com\r\nBcc: bob@example.com' }],
    ['a receiver with a name', { to: 'Alice <alice@example.com>' }],
    ['a line break in the subject', { subject: 'Hello\r\nBcc: bob@example.com' }],
    ['a bare line feed in the subject', { subject: 'Hello\nBcc: bob@example.com' }],
    ['a NUL in the subject', { subject: 'Hello\0' }],
    ['an endless subject', { subject: 'x'.repeat(256) }],
    ['two senders', { from: 'a@example.com, b@example.com' }],
    ['a line break in the sender', { from: 'Kith\r\nBcc: x@y.example <a@example.com>' }],
    ['a line break in the message id', { messageId: '<1@a.example>\r\nBcc: bob@example.com' }],
    ['a message id without a host', { messageId: '<1>' }],
  ])('%s', async (_, change) => {
    expect(await failureOf(mailer().send({ ...mail, ...change }))).toMatchObject({
      stage: 'config',
      isPermanent: true,
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('an attachment by path in the text is only text', async () => {
    await mailer().send({ ...mail, html: '<img src="file:///etc/passwd">', text: 'path: /etc/passwd' })
    const [name = ''] = readdirSync(join(folder, 'mail'))
    expect(readFileSync(join(folder, 'mail', name), 'utf8')).not.toContain('root:')
  })
})

describe('a failure says how far the mail got', () => {
  test('dns: the name of the server is unknown', async () => {
    const failure = await failureOf(mailer('smtp://mail.invalid:25').send(mail))
    expect(failure).toMatchObject({ stage: 'dns', isPermanent: false })
  })

  test('connect: nobody listens', async () => {
    const port = await closedPort()
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${port}`).send(mail))
    expect(failure).toMatchObject({ stage: 'connect', isPermanent: false })
  })

  test('connect: a server that never greets', async () => {
    await using silent = await startTcpServer()
    const failure = await failureOf(
      mailer(`smtp://127.0.0.1:${silent.port}`, { timeouts: { connectTimeoutMs: 50 } }).send(mail),
    )
    expect(failure).toMatchObject({ stage: 'connect', isPermanent: false })
  })

  test('connect: a server that speaks something else', async () => {
    await using web = await startTcpServer('HTTP/1.1 400 Bad Request\r\n\r\n')
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${web.port}`).send(mail))
    expect(failure.stage).toBe('connect')
  })

  test('tls: a certificate nobody signed, after STARTTLS', async () => {
    await using server = await startSmtpServer()
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${server.port}`).send(mail))
    expect(failure).toMatchObject({ stage: 'tls', isPermanent: false })
    expect(server.received).toEqual([])
  })

  test('tls: a certificate nobody signed, from the start', async () => {
    await using server = await startSmtpServer({ secure: true })
    const failure = await failureOf(mailer(`smtps://127.0.0.1:${server.port}`).send(mail))
    expect(failure.stage).toBe('tls')
  })

  test('tls: a server that does not speak it', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    const failure = await failureOf(mailer(`smtps://127.0.0.1:${server.port}`).send(mail))
    expect(failure.stage).toBe('tls')
  })

  test('tls: none offered where it is required', async () => {
    await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${server.port}?requireTLS=true`).send(mail))
    expect(failure.stage).toBe('tls')
  })

  test('auth: a wrong password, which the message does not repeat', async () => {
    await using server = await startSmtpServer({ login: { user: 'kith', password: 'right' } })
    const url = `smtp://kith:hidden-wrong@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`
    const failure = await failureOf(mailer(url).send(mail))
    expect(failure.stage).toBe('auth')
    expect(failure.message).not.toContain('hidden-wrong')
  })

  test('send: a receiver refused for good', async () => {
    const refuse = Object.assign(new Error('No such user'), { responseCode: 550 })
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, answer) => answer(refuse),
    })
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${server.port}`).send(mail))
    expect(failure).toMatchObject({ stage: 'send', isPermanent: true })
    expect(failure.message).toContain('No such user')
  })

  test('send: a receiver refused for now', async () => {
    const refuse = Object.assign(new Error('Try later'), { responseCode: 451 })
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, answer) => answer(refuse),
    })
    const failure = await failureOf(mailer(`smtp://127.0.0.1:${server.port}`).send(mail))
    expect(failure).toMatchObject({ stage: 'send', isPermanent: false })
  })

  test('send: a server that falls silent', async () => {
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onData: (stream) => void stream.resume(),
    })
    const failure = await failureOf(
      mailer(`smtp://127.0.0.1:${server.port}`, { timeouts: { silenceMs: 400 } }).send(mail),
    )
    expect(failure.stage).toBe('send')
  })

  test('send: a server that never comes to an end', async () => {
    await using server = await startSmtpServer({
      disabledCommands: ['STARTTLS'],
      onData: (stream) => void stream.resume(),
    })
    const failure = await failureOf(
      mailer(`smtp://127.0.0.1:${server.port}`, { timeouts: { timeoutMs: 400 } }).send(mail),
    )
    expect(failure).toMatchObject({ stage: 'send', message: 'the mail server took too long' })
  })
})

describe('a failure does not tell the password that a mail server repeats', () => {
  const user = 'kith'
  const password = 'Pä+ss/w?rd~1'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const plain = base64(`\0${user}\0${password}`)
  const percent = encodeURIComponent

  /** How sending fails when the server refuses the sign-in with these words. */
  async function refused(words: string | typeof authLinesOf, { secret = password, method = 'PLAIN' } = {}) {
    await using server = await startSmtpServer({
      login: { user, password: `not ${secret}` },
      refusalOf: typeof words === 'string' ? () => words : words,
      authMethods: [method],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
    })
    const url = `smtp://${user}:${percent(secret)}@127.0.0.1:${server.port}`
    const failure = await failureOf(mailer(url).send(mail))
    expect(failure).toMatchObject({ stage: 'auth', isPermanent: true })
    // The log prints the causes too.
    return { message: failure.message, whole: inspect(failure, { depth: 9, showHidden: true }) }
  }

  test.each(['PLAIN', 'LOGIN'])('in the line that it was sent: %s', async (method) => {
    const { message, whole } = await refused((given) => `Not understood: ${authLinesOf(given)}`, { method })
    expect(message).toMatch(/^Invalid login: 535 Not understood: AUTH (PLAIN|LOGIN a2l0aA==) \[hidden\]$/)
    for (const text of [plain, base64(password)]) expect(whole).not.toContain(text)
  })

  test.each([
    ['as it is', `${password}: no`, '[hidden]: no'],
    ['in another case', `no ${password.toUpperCase()}`, 'no [hidden]'],
    ['read as Latin-1', `no ${Buffer.from(password).toString('latin1')}`, 'no [hidden]'],
    ['in base64', `no ${base64(password)}, no`, 'no [hidden], no'],
    ['in base64 in another case', `no ${plain.toLowerCase()}`, 'no [hidden]'],
    ['in base64 without padding', `no ${base64(password).replace(/=+$/, '')}`, 'no [hidden]'],
    ['in base64 for URLs', `no ${Buffer.from(password).toString('base64url')}`, 'no [hidden]'],
    ['with whom it is for', `no ${base64(`${user}\0${user}\0${password}`)}`, 'no [hidden]'],
    [
      'in an address',
      `see https://x.example/?p=${percent(password)}&q`,
      'see https://x.example/?p=[hidden]&q',
    ],
    ['in a form', `p=${new URLSearchParams([['', password]]).toString().slice(1)}&q`, 'p=[hidden]&q'],
    ['in base64 in an address', `?p=${percent(plain)}&q`, '?p=[hidden]&q'],
    ['cut at its end', `no ${plain.slice(0, 16)}...`, 'no [hidden]...'],
    ['cut at its begin', `no ...${plain.slice(9)}`, 'no ...[hidden]'],
    ['twice', `${password} ${plain}`, '[hidden] [hidden]'],
  ])('%s', async (_, words, told) => {
    expect((await refused(words)).message).toBe(`Invalid login: 535 ${told}`)
  })

  test('where a long answer is cut', async () => {
    const start = 'x '.repeat(234)
    const { message } = await refused(`${start}${password}`)
    expect(message).toBe(`Invalid login: 535 ${start}[hidden]`)
    const { message: cut } = await refused(`${start}xxxxxxxx ${password}`)
    expect(cut).toHaveLength(500)
    expect(cut).not.toContain(password.slice(0, 3))
  })

  test.each(['a', 'no', 'ohn'])('that is as short as %j', async (secret) => {
    const { message, whole } = await refused(`Not John, ${secret}`, { secret })
    expect(message).toMatch(/what it said is not shown/)
    expect(whole).not.toContain('John')
  })

  test.each([
    ['of four characters', 'hush', `hush, ${base64('hush')}`, '[hidden], [hidden]'],
    ['of four characters with a plus sign in base64', '~?~?', 'fj9+Pw==', '[hidden]'],
    ['with a percent sign', 'abcd%', 'abcd%25 abcd%', '[hidden] [hidden]'],
  ])('%s', async (_, secret, words, told) => {
    expect((await refused(words, { secret })).message).toBe(`Invalid login: 535 ${told}`)
  })

  test('and other words stay', async () => {
    const words =
      '5.7.8 Username and password not accepted. Look at https://support.example/?p=BadCredentials'
    expect((await refused(words)).message).toBe(`Invalid login: 535 ${words}`)
    const port = await closedPort()
    const unreached = await failureOf(mailer(`smtp://${user}:no@127.0.0.1:${port}`).send(mail))
    expect(unreached).toMatchObject({ stage: 'connect', message: expect.stringContaining('ECONNREFUSED') })
  })
})

async function startTcpServer(greeting = ''): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (greeting !== '') socket.write(greeting)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function closedPort(): Promise<number> {
  await using server = await startTcpServer()
  return server.port
}
