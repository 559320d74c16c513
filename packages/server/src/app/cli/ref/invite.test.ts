import { registerAccount } from '@kith/protocol'
import { expect, test } from 'vitest'
import { openLineBesideServer } from '#harness/line-beside-server.ts'

test('an invitation from the command line is a link with which somebody registers, once', async () => {
  await using beside = await openLineBesideServer()
  const { line, server } = beside
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
