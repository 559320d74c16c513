import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { deleteSetting, forgotPassword, putSetting } from '@kith/protocol'
import { expect, test } from 'vitest'
import { startSmtpServer } from '#harness/smtp-server.ts'
import { TestServer } from '#harness/test-server.ts'

test('mail goes where the settings say, and to files without them', async () => {
  const login = { user: 'kith', password: 'hush/hush@' }
  // STARTTLS would want a certificate that somebody signed; on this machine a login may go without.
  await using smtp = await startSmtpServer({ login, disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
  await using server = await TestServer.start()
  await server.createTenant('alice.localhost', { email: 'alice@example.com' })
  const admin = await server.as(server.baseIdTag)
  const set = (name: string, value: unknown) =>
    admin.call(putSetting, { params: { name }, query: {}, body: { value } })
  const forget = async () => {
    await server
      .client('alice.localhost')
      .call(forgotPassword, { body: { idTag: 'alice.localhost' as never } })
    await server.settle()
  }
  await set('email.smtp.host', '127.0.0.1')
  await set('email.smtp.port', smtp.port)
  await set('email.smtp.username', login.user)
  await set('email.smtp.password', login.password)
  await forget()
  expect(smtp.received).toMatchObject([{ to: ['alice@example.com'], user: 'kith' }])

  await admin.call(deleteSetting, { params: { name: 'email.smtp.host' }, query: {} })
  await forget()
  expect(smtp.received).toHaveLength(1)
  expect(await readdir(join(server.running.services.config.dataDir, 'mail'))).toHaveLength(1)
})
