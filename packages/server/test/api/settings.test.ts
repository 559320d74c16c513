import {
  createAction,
  createApiKey,
  deleteSetting,
  getAccessToken,
  login,
  putSetting,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer, testPassword } from '#harness/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant('alice.localhost', { email: 'alice@example.com' })
})
afterAll(() => server.stop())

const signIn = () =>
  server
    .client('alice.localhost')
    .call(login, { body: { idTag: 'alice.localhost' as never, password: testPassword } })

/** Sets a setting for every tenant, as the administrator; the end of the work takes it back. */
async function everywhere(name: string, value: unknown) {
  const admin = await server.as(server.baseIdTag)
  await admin.call(putSetting, { params: { name }, query: {}, body: { value } })
  return {
    [Symbol.asyncDispose]: async () =>
      void (await admin.call(deleteSetting, { params: { name }, query: {} })),
  }
}

test('a login token lives as long as the setting says', async () => {
  await using _ = await everywhere('auth.login_token_secs', 600)
  const { data } = await signIn()
  expect(data.expiresAt).toBe(server.clock.now() / 1000 + 600)
})

test('an address that is not verified keeps its account out only where the setting wants it', async () => {
  {
    await using _ = await everywhere('auth.require_verified_email', true)
    await expect(signIn()).rejects.toMatchObject({ code: 'E-AUTH-NOTVERIFIED' })
  }
  await signIn()
})

test('settings of the server are for a person who administers it, with all their rights', async () => {
  const base = server.baseIdTag
  const token = await server.signIn(base)
  const admin = server.client(base, token)
  const { data: key } = await admin.call(createApiKey, { body: { name: 'ci' } })
  const narrow = async (scope: string) => {
    const { data } = await admin.call(getAccessToken, { query: { scope } })
    return data.token
  }
  const put = (bearer: string) =>
    server
      .client(base, bearer)
      .call(putSetting, { params: { name: 'email.smtp.host' }, body: { value: 'mail.example.org' } })
  for (const bearer of [key.key, await narrow('write:settings'), await narrow('write')])
    await expect(put(bearer)).rejects.toMatchObject({ status: 403, code: 'E-AUTH-FORBIDDEN' })
  for (const bearer of [await narrow('admin:settings'), await narrow('admin'), token]) await put(bearer)
  await admin.call(deleteSetting, { params: { name: 'email.smtp.host' } })
})

test('signing in answers the settings that clients begin with', async () => {
  const alice = await server.as('alice.localhost')
  await alice.call(putSetting, { params: { name: 'darkMode' }, query: {}, body: true })
  const { data } = await signIn()
  expect(data.settings).toEqual([
    ['theme', 'default'],
    ['language', 'en'],
    ['fontSize', '16'],
    ['notifications', 'true'],
    ['darkMode', 'true'],
  ])
})

test('a post that says nothing of its readers gets those of the setting', async () => {
  const alice = await server.as('alice.localhost')
  const name = 'profile.default_visibility'
  await alice.call(putSetting, { params: { name }, query: {}, body: { value: 'F' } })
  const { data } = await alice.call(createAction, { body: { type: 'POST', content: { text: 'hello' } } })
  expect(data.visibility).toBe('F')
})

test('a file is as large as the setting lets it be', async () => {
  await using _ = await everywhere('limits.max_file_mb', 0.001)
  const token = await server.signIn('alice.localhost')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }
  const path = uploadFile.path.replace('{preset}', 'raw').replace('{fileName}', 'a.txt')
  const send = (body: string) => server.request('alice.localhost', path, { method: 'POST', headers, body })
  expect((await send('x'.repeat(2000))).status).toBe(413)
  expect((await send('x'.repeat(1000))).status).toBe(201)
})
