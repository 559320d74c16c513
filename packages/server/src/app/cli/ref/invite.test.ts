import { registerAccount } from '@kith/protocol'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { freePort } from '#harness/server-process.ts'
import { TestServer } from '#harness/test-server.ts'

test('an invitation from the command line is a link with which somebody registers, once', async () => {
  const port = await freePort()
  await using line = await CommandLine.open({ LISTEN: `127.0.0.1:${port}` })
  await using server = await TestServer.start({ dataDir: line.dataDir, port })
  const { reference, link } = await line.json('ref', 'create', 'invite')
  expect(link).toBe(`${server.urlOf('home.localhost')}/register#token=${reference.refId}`)
  const body = { type: 'idp', email: 'guest@example.org', token: reference.refId } as const
  const register = (idTag: string) =>
    server.client('home.localhost').call(registerAccount, { body: { ...body, idTag } })
  expect((await register('guest.home.localhost')).data.idTag).toBe('guest.home.localhost')
  await expect(register('other.home.localhost')).rejects.toMatchObject({ code: 'E-GONE' })

  const { exitCode, err } = await line.run(['ref', 'create', 'invite', '--tenant', 'guest.home.localhost'])
  expect(exitCode).toBe(2)
  expect(err).toContain('An invitation is one to home.localhost')
})
