import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import { CommandLine } from '#harness/command-line.ts'
import { authLinesOf, startSmtpServer } from '#harness/smtp-server.ts'
import { TestServer } from '#harness/test-server.ts'

let line: CommandLine
beforeAll(async () => {
  line = await CommandLine.open()
  await (await TestServer.start({ dataDir: line.dataDir })).stop()
})
afterAll(() => line?.[Symbol.asyncDispose]())

const to = 'ann@example.com'

test('a mail server takes a mail, of the environment or of the settings', async () => {
  // STARTTLS would need a certificate from a trusted authority.
  await using smtp = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
  const server = `127.0.0.1:${smtp.port}`
  const said = await line.with({ SMTP_URL: `smtp://${server}` }).run(['mail', 'test', to])
  expect(said).toEqual({ exitCode: 0, out: `${server} has taken a mail to ${to}.\n`, err: '' })
  await line.json('settings', 'set', 'email.smtp.host', '127.0.0.1')
  await line.json('settings', 'set', 'email.smtp.port', String(smtp.port))
  expect(await line.json('mail', 'test', to)).toEqual({ sent: true, to, server })
  expect(smtp.received.map((mail) => mail.to)).toEqual([[to], [to]])
  for (const name of ['host', 'port']) await line.json('settings', 'reset', `email.smtp.${name}`)
})

test('without a mail server the mail is a file', async () => {
  const directory = join(line.dataDir, 'mail')
  expect(await line.json('mail', 'test', to)).toEqual({ sent: true, to, directory })
  expect(await readdir(directory)).toHaveLength(1)
  expect((await line.run(['mail', 'test', to])).out).toContain(directory)
})

test('without a mail server a file that cannot be written is no refusal of one', async () => {
  const directory = join(line.dataDir, 'mail')
  await rm(directory, { recursive: true, force: true })
  await writeFile(directory, '')
  onTestFinished(() => rm(directory))
  expect(await line.fails('mail', 'test', to)).toMatchObject({
    exitCode: 1,
    code: 'E-UNAVAILABLE',
    details: {
      message: expect.stringContaining('EEXIST'),
      advice: `No mail server is configured, and this user cannot write the mail to a file in ${directory}: run kith as the user that runs the server, make room there, or set SMTP_URL.`,
    },
  })
})

test('a stage that fails comes with what to do next', async () => {
  const refusing = line.with({ SMTP_URL: `smtp://127.0.0.1:${closedPort}` })
  expect(await refusing.fails('mail', 'test', to)).toMatchObject({
    exitCode: 1,
    code: 'E-UNAVAILABLE',
    details: { stage: 'connect', message: expect.any(String), advice: expect.stringContaining('port') },
  })
  expect((await refusing.run(['mail', 'test', to])).err).toMatch(
    /^The mail was not sent \(connect\): [\s\S]*\n {2}advice: Check host/,
  )

  await using smtp = await startSmtpServer({ login: { user: 'kith', password: 'right' } })
  const options = '?tls.rejectUnauthorized=false'
  const stranger = line.with({ SMTP_URL: `smtp://kith:wrong@127.0.0.1:${smtp.port}${options}` })
  expect((await stranger.run(['mail', 'test', to])).err).toMatch(
    /\(auth\)[\s\S]*\n {2}advice: Check user and password/,
  )
  const untrusting = line.with({ SMTP_URL: `smtp://kith:right@127.0.0.1:${smtp.port}` })
  expect((await untrusting.run(['mail', 'test', to])).err).toMatch(
    /\(tls\)[\s\S]*\n {2}advice: The mail server has no certificate/,
  )
})

test('a password that the mail server repeats is not printed', async () => {
  await using smtp = await startSmtpServer({
    login: { user: 'kith', password: 'right' },
    refusalOf: authLinesOf,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
  })
  const stranger = line.with({ SMTP_URL: `smtp://kith:wrong-word@127.0.0.1:${smtp.port}` })
  const { details } = await stranger.fails('mail', 'test', to)
  expect(details).toMatchObject({ stage: 'auth', message: 'Invalid login: 535 AUTH PLAIN [hidden]' })
})

test.each([
  [['ann'], 'to is not a mail address'],
  [['Ann <ann@example.com>'], 'to is not a mail address'],
  [[], 'ADDRESS is missing'],
])('%j is wrong usage', async (words, message) => {
  const { exitCode, err } = await line.run(['mail', 'test', ...words])
  expect(exitCode).toBe(2)
  expect(err).toContain(message)
})
