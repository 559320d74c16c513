import {
  createAction,
  createApiKey,
  deleteSetting,
  getAccessToken,
  getProxyToken,
  getSetting,
  listSettings,
  login,
  putSetting,
  settingDefinitions,
  updateAdminProfile,
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

test('settings of the server are for whom its owner appointed, by proxy token, and the owner’s own are not', async () => {
  const base = server.baseIdTag
  const owner = await server.as(base)
  await server.createTenant('deputy.localhost')
  const home = await server.as('deputy.localhost')
  const visit = async () => (await home.call(getProxyToken, { query: { target: base } })).data.token
  const put = (bearer: string, name: string, value: unknown, query = {}) =>
    server.client(base, bearer).call(putSetting, { params: { name }, query, body: { value } })
  const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
  await expect(put(await visit(), 'limits.max_file_mb', 7)).rejects.toMatchObject(forbidden)
  await owner.call(updateAdminProfile, { params: { idTag: 'deputy.localhost' }, body: { roles: ['SADM'] } })
  const token = await visit()
  const exchanged = (await server.client(base).call(getAccessToken, { query: { token: await visit() } })).data
  for (const bearer of [token, exchanged.token]) {
    await put(bearer, 'limits.max_file_mb', 7)
    await put(bearer, 'theme', 'dark', { scope: 'global' })
    const deputy = server.client(base, bearer)
    expect((await deputy.call(getSetting, { params: { name: 'limits.max_file_mb' } })).data[1]).toBe(7)
    for (const name of ['theme', 'ui.secret'])
      await expect(put(bearer, name, 'light')).rejects.toMatchObject(forbidden)
    await owner.call(putSetting, { params: { name: 'ui.secret' }, query: {}, body: { value: 'mine' } })
    for (const name of ['darkMode', 'ui.secret'])
      await expect(deputy.call(getSetting, { params: { name } })).rejects.toMatchObject(forbidden)
    // What holds for all tenants is not the owner's own, whatever the owner has chosen.
    await owner.call(putSetting, { params: { name: 'theme' }, body: { value: 'light' } })
    const everywhere = { query: { scope: 'global' } } as const
    for (const who of [deputy, owner]) {
      expect((await who.call(getSetting, { params: { name: 'theme' }, ...everywhere })).data[1]).toBe('dark')
      const { data } = await who.call(listSettings, everywhere)
      expect(data).toContainEqual(['theme', 'dark'])
      expect(data.map(([name]) => name)).not.toContain('ui.secret')
    }
    await owner.call(deleteSetting, { params: { name: 'theme' }, query: {} })
    const names = (await deputy.call(listSettings, {})).data.map(([name]) => name)
    expect(names).toContain('limits.max_file_mb')
    expect(names).not.toContain('ui.secret')
    expect(names).not.toContain('darkMode')
    for (const name of ['limits.max_file_mb', 'theme'])
      await deputy.call(deleteSetting, { params: { name }, query: { scope: 'global' } })
  }
  await expect(home.call(listSettings, { query: { scope: 'global' } })).rejects.toMatchObject(forbidden)
  // A key of the deputy, and what is made from it, administers nothing.
  const { key } = (await home.call(createApiKey, { body: { name: 'ci' } })).data
  const byKey = await server.client('deputy.localhost', key).call(getProxyToken, { query: { target: base } })
  await expect(put(byKey.data.token, 'limits.max_file_mb', 7)).rejects.toMatchObject(forbidden)
})

/** An administrator whom the owner of the base tenant appointed, on its host. */
async function appoint(idTag: string) {
  const base = server.baseIdTag
  await server.createTenant(idTag)
  const owner = await server.as(base)
  await owner.call(updateAdminProfile, { params: { idTag }, body: { roles: ['SADM'] } })
  const home = await server.as(idTag)
  return server.client(base, (await home.call(getProxyToken, { query: { target: base } })).data.token)
}

test('the base tenant’s owner alone says where mails and names lead, and nobody whom they appointed', async () => {
  const appointed = await appoint('postmaster.localhost')
  const owner = await server.as(server.baseIdTag)
  const forbidden = {
    status: 403,
    code: 'E-AUTH-FORBIDDEN',
    message: 'The owner of the base tenant alone sets this.',
  }
  const values = {
    'email.smtp.host': 'mail.example.org',
    'email.smtp.port': 587,
    'email.smtp.username': 'kith',
    'email.smtp.password': 'hush hush',
    'dns.name_servers': ['ns1.example.org'],
  }
  for (const [name, value] of Object.entries(values)) {
    const params = { name }
    await owner.call(putSetting, { params, query: {}, body: { value } })
    for (const query of [{}, { scope: 'global' }] as const) {
      const put = appointed.call(putSetting, { params, query, body: { value } })
      await expect(put).rejects.toMatchObject(forbidden)
      await expect(appointed.call(deleteSetting, { params, query })).rejects.toMatchObject(forbidden)
    }
    if (name !== 'email.smtp.password')
      expect((await appointed.call(getSetting, { params })).data).toEqual([name, value])
    await owner.call(deleteSetting, { params, query: {} })
  }
})

test('whom the owner appointed sets every other setting of the server', async () => {
  const appointed = await appoint('steward.localhost')
  const others = Object.entries(settingDefinitions).filter(
    ([name, { scope }]) =>
      scope !== 'system' && !name.startsWith('email.smtp.') && name !== 'dns.name_servers',
  )
  expect(others).not.toEqual([])
  for (const [name, definition] of others) {
    const setting = { params: { name }, query: { scope: 'global' } } as const
    await appointed.call(putSetting, { ...setting, body: { value: definition.default } })
    await appointed.call(deleteSetting, setting)
  }
})

test('signing in answers the settings that clients begin with', async () => {
  const alice = await server.as('alice.localhost')
  await alice.call(putSetting, { params: { name: 'darkMode' }, query: {}, body: true })
  const { data } = await signIn()
  expect(data.settings).toEqual([
    ['theme', 'default'],
    ['fontSize', '16'],
    ['notifications', 'true'],
    ['darkMode', 'true'],
    ['privacy.read_receipts', 'true'],
  ])
})

test('signing in answers a language when one was chosen, so that clients speak that of the device otherwise', async () => {
  const alice = await server.as('alice.localhost')
  const language = { params: { name: 'language' }, query: {} }
  const answered = async () => new Map((await signIn()).data.settings).get('language')
  expect(await answered()).toBeUndefined()
  await alice.call(putSetting, { ...language, body: 'en' })
  expect(await answered()).toBe('en')
  await alice.call(deleteSetting, language)
  expect(await answered()).toBeUndefined()
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
