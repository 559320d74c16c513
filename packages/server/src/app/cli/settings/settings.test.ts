import { getAuditLog, getSetting, putSetting } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const alice = 'alice.localhost'
const noticedMs = 5_001

let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
  await server.createTenant(alice)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const seenBy = async (idTag: string, name: string) => {
  server.clock.advance(noticedMs)
  return (await (await server.as(idTag)).call(getSetting, { params: { name } })).data[1]
}

test('a running server follows what is set for all and for one, and reset', async () => {
  expect(await line.json('settings', 'set', 'theme', 'plain')).toEqual({ name: 'theme', value: 'plain' })
  expect(await seenBy(alice, 'theme')).toBe('plain')
  expect(await line.run(['settings', 'set', 'theme', 'dark', '--tenant', alice])).toEqual({
    exitCode: 0,
    out: 'theme is set for alice.localhost.\n',
    err: '',
  })
  expect(await seenBy(alice, 'theme')).toBe('dark')
  expect(await seenBy(baseTag, 'theme')).toBe('plain')
  expect(await line.json('settings', 'get', 'theme', '--tenant', alice)).toEqual({
    tenant: alice,
    name: 'theme',
    value: 'dark',
  })
  expect((await line.run(['settings', 'get', 'theme'])).out).toBe('plain\n')
  expect(await line.json('settings', 'reset', 'theme', '--tenant', alice)).toEqual({
    tenant: alice,
    name: 'theme',
  })
  expect(await seenBy(alice, 'theme')).toBe('plain')
  expect((await line.run(['settings', 'reset', 'theme'])).out).toBe(
    'The value of theme for all tenants was removed. What holds now: default\n',
  )
  expect(await seenBy(alice, 'theme')).toBe('default')
})

test.each(['\u009b31mred', 'plain\u001b[31m\u007f\u202e\rend\nline'])(
  'control characters of the value %j do not reach the terminal, and programs read it as it is',
  async (value) => {
    const place = ['ui.note', '--tenant', alice]
    await (await server.as(alice)).call(putSetting, { params: { name: 'ui.note' }, body: { value } })
    for (const words of [
      ['settings', 'get', ...place],
      ['settings', 'get', ...place, '--json'],
      ['settings', 'list', '--tenant', alice],
    ]) {
      const { out } = await line.run(words)
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    }
    expect((await line.json('settings', 'get', ...place)).value).toBe(value)
    await line.json('settings', 'reset', ...place)
  },
)

test('what an administrator alone may change is set for one tenant too, and noted in its trail', async () => {
  await line.json('settings', 'set', 'limits.max_file_mb', '7', '--tenant', alice)
  expect(await seenBy(alice, 'limits.max_file_mb')).toBe(7)
  expect(await seenBy(baseTag, 'limits.max_file_mb')).toBe(100)
  const { data } = await (await server.as(alice)).call(getAuditLog, {})
  expect(data.filter(({ event }) => event === 'setting.changed')).toContainEqual(
    expect.objectContaining({
      details: { name: 'limits.max_file_mb', scope: 'tenant', by: 'command line' },
    }),
  )
})

test.each([
  ['auth.session_secs', '86400', 86_400],
  ['darkMode', 'true', true],
  ['dns.name_servers', '["ns1.example 192.0.2.1"]', ['ns1.example 192.0.2.1']],
  ['theme', '1984', '1984'],
  ['theme', '"dark"', 'dark'],
  ['idp.info', '', ''],
])('%s takes %j as JSON or as text', async (name, text, value) => {
  expect(await line.json('settings', 'set', name, text)).toEqual({ name, value })
  expect(await line.json('settings', 'get', name)).toEqual({ name, value })
  await line.json('settings', 'reset', name)
})

test('a number that is too large is refused', async () => {
  const refused = { exitCode: 2, message: expect.stringContaining('has a number that is too large') }
  for (const text of ['1e400', '{"zoom":1e400}'])
    expect(await line.fails('settings', 'set', 'app.mine.zoom', text, '--tenant', alice)).toMatchObject(
      refused,
    )
})

test.each(['server.registration', 'email.smtp.port', 'dns.caa', 'limits.disk_reserve_mb'])(
  '%s holds for the whole server, and is refused for one tenant',
  async (name) => {
    const { value } = await line.json('settings', 'get', name)
    expect(await line.fails('settings', 'set', name, JSON.stringify(value), '--tenant', alice)).toMatchObject(
      {
        exitCode: 2,
        message: 'This setting holds for the whole server: it cannot be set for one tenant.',
      },
    )
    expect(await line.json('settings', 'set', name, JSON.stringify(value))).toEqual({ name, value })
    await line.json('settings', 'reset', name)
    // A value that is stored all the same can be removed.
    expect((await line.run(['settings', 'reset', name, '--tenant', alice])).exitCode).toBe(0)
  },
)

test('the list shows what holds, and which values are not the default', async () => {
  const client = await server.as(alice)
  await client.call(putSetting, { params: { name: 'ui.columns' }, query: {}, body: { value: [1, 2] } })
  await line.json('settings', 'set', 'darkMode', 'true', '--tenant', alice)
  const { tenant, settings } = await line.json('settings', 'list', '--tenant', alice)
  expect(tenant).toBe(alice)
  expect(settings).toContainEqual({ name: 'darkMode', value: true, isDefault: false })
  expect(settings).toContainEqual({ name: 'ui.columns', value: [1, 2], isDefault: false })
  expect(settings).toContainEqual({ name: 'notify.push.follow', value: true, isDefault: true })
  const { out } = await line.run(['settings', 'list'])
  expect(out).toMatch(/^ {2}darkMode +\(default\) +false$/m)
  expect(out).not.toContain('ui.columns')
})

test('a secret is set from standard input and never shown', async () => {
  const set = ['settings', 'set', 'email.smtp.password', '--stdin']
  const said = await line.run([...set, '--json'], { answer: 'hush hush' })
  expect(said).toEqual({ exitCode: 0, out: '{"name":"email.smtp.password","value":null}\n', err: '' })
  server.clock.advance(noticedMs)
  const { settings, tenants } = server.running.features.identity
  const base = await tenants.base()
  expect(await settings.find(base.tenantId, 'email.smtp.password')).toBe('hush hush')
  expect((await line.run(['settings', 'list'])).out).not.toContain('hush')
  expect(await line.fails('settings', 'get', 'email.smtp.password')).toEqual({
    exitCode: 1,
    code: 'E-AUTH-FORBIDDEN',
    message: 'This setting can be set, but not read.',
  })
})

test.each([
  [['get', 'registration'], 1, 'There is no such setting. Did you mean server.registration?'],
  [['get', 'tehme'], 1, 'There is no such setting. Did you mean theme?'],
  [['set', 'limits.max_storage', '1'], 1, 'Did you mean limits.max_storage_gb?'],
  [['reset', 'ui.unset', '--tenant', alice], 1, 'This setting has no value.'],
  [['set', 'limits.max_setting_kb', '17'], 1, 'This setting cannot be changed.'],
  [['set', 'ui.a', '1'], 1, 'Names under ui. and app. are set for one tenant.'],
  [['get', 'theme', '--tenant', 'nobody.localhost'], 1, 'There is no tenant nobody.localhost'],
  [['set', 'darkMode', 'maybe'], 2, 'value must be: boolean'],
  [['set', 'limits.max_file_mb', '0'], 2, 'value must be: number, above 0 and up to 1000000'],
  [['set', 'profile.default_visibility', 'X'], 2, 'value must be: P, V, F, C'],
  [['set', 'theme'], 2, 'VALUE is missing'],
  [['set', 'theme', 'dark', '--stdin'], 2, 'VALUE and --stdin exclude each other'],
  [['get', 'theme', '--tenant', 'nobody'], 2, '"nobody" is no identity'],
  [['list', 'theme'], 2, 'Too many arguments'],
])('settings %j fails', async (words, exitCode, message) => {
  const failed = await line.fails('settings', ...words)
  expect(failed).toMatchObject({ exitCode })
  expect(failed.message.toLowerCase()).toContain(message.toLowerCase())
})
