import { getAuditLog, getProfile } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const eve = 'eve.far.example'
// A running server takes so long to notice what a command did.
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

const set = (...words: string[]) => line.json('identity', 'set', ...words)
const listed = async () => (await line.json('identity', 'list')).identities

test('an identity elsewhere is banned, blocked, muted, trusted, and let in again', async () => {
  expect((await line.run(['identity', 'list'])).out).toBe('Nothing is decided about anybody.\n')
  const until = '2099-01-31T12:00:00.000Z'
  const { identity } = await set('Eve.Far.Example', 'banned', '--reason', 'Spam', '--until', until)
  expect(identity).toEqual({
    idTag: eve,
    status: 'Banned',
    banExpiresAt: until,
    banReason: 'Spam',
    decidedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  expect(await listed()).toEqual([identity])
  expect((await line.run(['identity', 'list'])).out).toMatch(
    /^ {2}eve\.far\.example +Banned +\d{4}-\d\d-\d\d +until 2099-01-31T12:00:00\.000Z +Spam$/m,
  )
  for (const status of ['Blocked', 'Muted', 'Trusted']) {
    expect((await set(eve, status)).identity).toMatchObject({ idTag: eve, status })
    expect(await listed()).toMatchObject([{ idTag: eve, status }])
    expect((await listed())[0]).not.toHaveProperty('banReason')
  }
  expect(await line.run(['identity', 'set', eve, 'Active'])).toEqual({
    exitCode: 0,
    out: 'eve.far.example is Active.\n',
    err: '',
  })
  expect(await listed()).toEqual([])
  const { data } = await (await server.as(home)).call(getAuditLog, {})
  const noted = data.filter(({ event }) => event === 'profile.changed-by-admin')
  expect(noted.map(({ details }) => details).reverse()).toMatchObject([
    { idTag: eve, status: 'Banned', banReason: 'Spam', by: 'command line' },
    ...['Blocked', 'Muted', 'Trusted', 'Active'].map((status) => ({
      idTag: eve,
      status,
      by: 'command line',
    })),
  ])
})

test('a tenant that is banned is not found until it is active again', async () => {
  const find = () => server.client(home).call(getProfile, { params: { idTag: alice } })
  await set(alice, 'Banned')
  server.clock.advance(noticedMs)
  expect((await server.request(alice, '/api/me')).status).not.toBe(200)
  await set(alice, 'Active')
  server.clock.advance(noticedMs)
  expect((await server.request(alice, '/api/me')).status).toBe(200)
  expect((await find()).data.idTag).toBe(alice)
})

test('lists say that there are more', async () => {
  for (const label of ['a', 'b', 'c']) await set(`${label}.example`, 'Muted')
  const two = await line.json('identity', 'list', '--limit', '2')
  expect(two).toMatchObject({
    identities: [{ idTag: 'a.example' }, { idTag: 'b.example' }],
    isComplete: false,
  })
  expect((await line.run(['identity', 'list', '--limit', '2'])).out).toContain('There are more: --limit')
  const { isComplete } = await line.json('identity', 'list', '--limit', '3')
  expect(isComplete).toBe(true)
})

test.each([
  [['set', eve], 'STATUS is missing'],
  [['set', eve, 'gone'], 'A status is Active or Trusted or Blocked or Muted or Suspended or Banned'],
  [['set', 'eve', 'Banned'], '"eve" is no identity: a name like alice.example.com'],
  [['set', eve, 'Banned', '--reason', ''], '--reason has 1 to 500 characters'],
  [['set', eve, 'Banned', '--reason', 'x'.repeat(501)], '--reason has 1 to 500 characters'],
  [
    ['set', eve, 'Banned', '--until', 'later'],
    '--until "later" is no time: 2027-01-31T12:00:00Z, 2027-01-31, or Unix seconds',
  ],
  [['set', eve, 'Banned', '--until', '2001-01-31'], '--until has passed'],
  [['set', eve, 'Active', '--reason', 'Sorry'], '--reason is not for the status Active'],
  [['list', '--limit', '0'], '--limit is a whole number from 1 to 1000'],
])('%j is refused', async (words, message) => {
  expect(await line.fails('identity', ...words)).toMatchObject({ exitCode: 2, message })
})

test('the base tenant stays', async () => {
  expect(await line.fails('identity', 'set', home, 'Banned')).toMatchObject({ exitCode: 1, code: 'E-STATE' })
})
