import { forgotPassword, type IdTag, listAdminJobs, putSetting, testEmail } from '@kith/protocol'
import { expect, test } from 'vitest'
import { RecordedLog } from '#harness/recorded-log.ts'
import { authLinesOf, startSmtpServer } from '#harness/smtp-server.ts'
import { TestServer } from '#harness/test-server.ts'

const user = 'kith'
const password = 'hush/hush@'
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each<[string, string, typeof authLinesOf, string]>([
  ['as PLAIN sent it', 'PLAIN', authLinesOf, 'AUTH PLAIN [hidden]'],
  ['as LOGIN sent it', 'LOGIN', authLinesOf, `AUTH LOGIN ${base64(user)} [hidden]`],
  ['in words', 'PLAIN', (given) => `${given.password} is wrong`, '[hidden] is wrong'],
])(
  'a password that the mail server repeats %s is told neither by the answer, the job nor the log',
  async (_, method, refusalOf, told) => {
    await using smtp = await startSmtpServer({
      login: { user, password: 'another' },
      refusalOf,
      authMethods: [method],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
    })
    const log = new RecordedLog()
    await using server = await TestServer.start({ logger: log.logger })
    const idTag = 'alice.localhost' as IdTag
    await server.createTenant(idTag, { email: 'alice@example.com' })
    const admin = await server.as(server.baseIdTag)
    const values = { host: '127.0.0.1', port: smtp.port, username: user, password }
    for (const [part, value] of Object.entries(values))
      await admin.call(putSetting, { params: { name: `email.smtp.${part}` }, query: {}, body: { value } })
    const message = `Invalid login: 535 ${told}`

    await expect(admin.call(testEmail, { body: { to: 'ann@example.com' } })).rejects.toMatchObject({
      code: 'E-UNAVAILABLE',
      details: { stage: 'auth', message },
    })
    await server.client(idTag).call(forgotPassword, { body: { idTag } })
    await server.settle()
    const { data: jobs } = await admin.call(listAdminJobs, {})
    expect(jobs).toMatchObject([{ kind: 'account.mail', lastError: message }])

    expect(log.of('a mail was not sent')).toMatchObject([{ detail: message }])
    expect(log.of('a request failed')).toHaveLength(1)
    const lines = log.lines.join('\n')
    for (const text of [password, base64(password), base64(`\0${user}\0${password}`)])
      expect(lines).not.toContain(text)
  },
)
