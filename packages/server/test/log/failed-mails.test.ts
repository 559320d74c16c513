import { forgotPassword } from '@kith/protocol'
import { expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import { RecordedLog } from '#harness/recorded-log.ts'
import { TestServer } from '#harness/test-server.ts'

test('a mail that cannot be sent is a warning of one line, without a stack, a link or the address', async () => {
  const log = new RecordedLog()
  const env = { SMTP_URL: `smtp://kith:hunter22@127.0.0.1:${closedPort}` }
  await using server = await TestServer.start({ logger: log.logger, env })
  const idTag = 'alice.localhost'
  await server.createTenant(idTag, { email: 'alice@example.org' })
  await server.client(idTag).call(forgotPassword, { body: { idTag } })
  await server.settle()
  expect(log.of('a mail was not sent')).toEqual([
    {
      level: 'warn',
      time: expect.any(String),
      msg: 'a mail was not sent',
      stage: 'connect',
      detail: expect.stringContaining('ECONNREFUSED'),
      isPermanent: false,
      messageId: expect.stringContaining(idTag),
    },
  ])
  const retried = log.lines.filter((line) => line.includes('A job will be tried again'))
  expect(retried).toHaveLength(1)
  expect(log.lines.join('\n')).not.toMatch(/"stack"|hunter22|alice@|#token/)
})
