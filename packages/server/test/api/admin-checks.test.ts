import { join } from 'node:path'
import { getServerChecks, putSetting } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { TestServer } from '#harness/test-server.ts'

let opened: LineBesideServer
let server: TestServer
beforeAll(async () => {
  opened = await openLineBesideServer()
  server = opened.server
  await server.createTenant('alice.localhost')
})
afterAll(() => opened[Symbol.asyncDispose]())

const checksOf = async (idTag: string = server.baseIdTag) =>
  (await (await server.as(idTag)).call(getServerChecks)).data

test('a new server tells its administrator what is still to be done', async () => {
  expect(await checksOf()).toEqual({
    address: {
      url: server.urlOf(server.baseIdTag),
      status: 'ok',
      message: `${server.urlOf(server.baseIdTag)} leads here.`,
    },
    mail: { isSent: false },
    backup: {},
    registration: 'invite',
  })
})

test('nobody else is told', async () => {
  await expect(checksOf('alice.localhost')).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
})

test('a backup, a mail server and the setting for registrations show', async () => {
  const begun = Date.now()
  const { line } = opened
  await line.json('backup', '--to', join(line.folder, 'backup.tar'))
  const admin = await server.as(server.baseIdTag)
  for (const [name, value] of [
    ['email.smtp.host', 'mail.example.org'],
    ['server.registration', 'open'],
  ])
    await admin.call(putSetting, {
      params: { name: String(name) },
      query: { scope: 'global' },
      body: { value },
    })
  const { backup, mail, registration } = await checksOf()
  expect(Date.parse(backup.lastAt ?? '')).toBeGreaterThanOrEqual(begun - 1000)
  expect({ mail, registration }).toEqual({ mail: { isSent: true }, registration: 'open' })
})

test('a server that is reached under one name has no room for others', async () => {
  await using alone = await TestServer.start({
    baseIdTag: 'home.example.com',
    env: { PUBLIC_URL: 'http://127.0.0.1:{port}', ALLOW_PRIVATE_NETWORK: 'true' },
  })
  const { address, registration } = (await (await alone.as(alone.baseIdTag)).call(getServerChecks)).data
  expect(address.url).toBe(alone.urlOf(alone.baseIdTag))
  expect(registration).toBe('closed')
})
