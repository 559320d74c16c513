import { join } from 'node:path'
import { getAccessToken, getReference, listReferences, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { systemClock } from '#lib/clock.ts'

const baseTag = 'home.localhost'
const aliceTag = 'alice.localhost'
const someFile = `b1~${'A'.repeat(43)}`

let beside: LineBesideServer
let line: CommandLine
let server: TestServer
beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
  await server.createTenant(aliceTag)
  await server.createTenant('club.localhost', { type: 'community' })
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const create = (...words: string[]) => line.json('ref', 'create', ...words)

test('makes an invitation of the base tenant that its owner sees', async () => {
  const { reference, link } = await create('invite')
  expect(reference).toEqual({
    refId: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
    type: 'invite',
    tenant: baseTag,
    count: 1,
  })
  expect(link).toBe(`${server.urlOf(baseTag)}/register#token=${reference.refId}`)
  const { data } = await (await server.as(baseTag)).call(listReferences, { query: { type: 'invite' } })
  expect(data).toMatchObject([{ refId: reference.refId, type: 'invite', count: 1 }])
})

test('its link leads to the server that runs, whatever LISTEN is in this shell', async () => {
  const { reference, link } = await line.with({ LISTEN: '127.0.0.1:8080' }).json('ref', 'create', 'invite')
  expect(link).toBe(`${server.urlOf(baseTag)}/register#token=${reference.refId}`)
})

test('prints the id, and the link where there is one', async () => {
  const { out } = await line.run(['ref', 'create', 'password-reset', '--tenant', aliceTag, '--expires', '2h'])
  const [refId, link] = out.trim().split('\n')
  expect(link).toBe(`${server.urlOf(aliceTag)}/set-password#token=${refId}`)
  const { data } = await server.client(aliceTag).call(getReference, { params: { refId: refId as never } })
  expect(data).toEqual({ refId, type: 'password-reset', state: 'active' })
})

test('says whose password a link sets, and where mails are kept while there is no mail server', async () => {
  const reset = await line.run(['ref', 'create', 'password-reset', '--tenant', aliceTag])
  expect(reset.out).toContain(`Whoever opens the link sets the password of ${aliceTag}.`)
  const { out } = await line.run(['ref', 'create', 'invite'])
  expect(out).not.toContain('sets the password of home')
  expect(out).toContain(`No mail server is set`)
  expect(out).toContain(join(line.dataDir, 'mail'))
  const withServer = line.with({ SMTP_URL: 'smtp://mail.example.com:587' })
  expect((await withServer.run(['ref', 'create', 'invite'])).out).not.toContain('mail server')
})

test('explains each type, and which one to invite with', async () => {
  const { out } = await line.run(['help', 'ref', 'create'])
  expect(out).toMatch(/`invite`: somebody new registers .* This is the one to invite with/)
  expect(out).toMatch(/`welcome`: sets the password of an account that exists/)
})

test('makes what gives an account for a day, and unseen', async () => {
  const { reference } = await create('email-verify', '--tenant', baseTag)
  const left = (Date.parse(reference.expiresAt) - systemClock.now()) / 1000
  expect(left).toBeGreaterThan(86_400 - 30)
  expect(left).toBeLessThanOrEqual(86_400)
  const { data } = await (await server.as(baseTag)).call(listReferences, { query: { type: 'email-verify' } })
  expect(data).toEqual([])
})

test('makes a link to a file, which lets in as often as it says', async () => {
  const alice = await server.as(aliceTag)
  const { data: file } = await alice.upload(uploadFile, {
    params: { preset: 'raw', fileName: 'note.txt' },
    body: new Blob(['for everybody with the link'], { type: 'text/plain' }),
  })
  const { reference } = await create(
    'share.file',
    '--tenant',
    aliceTag,
    '--resource',
    file.fileId,
    '--access',
    'write',
  )
  expect(reference).toMatchObject({ resourceId: file.fileId, accessLevel: 'write', count: 1 })
  const stranger = server.client(aliceTag)
  const exchange = () => stranger.call(getAccessToken, { query: { ref: reference.refId } })
  const { data: grant } = await exchange()
  expect(grant).toMatchObject({ accessLevel: 'write', resourceId: file.fileId })
  const read = await server.request(aliceTag, `/api/files/${file.fileId}?token=${grant.token}`)
  expect(await read.text()).toBe('for everybody with the link')
  await expect(exchange()).rejects.toMatchObject({ code: 'E-GONE' })
})

test.each([
  [['--count', 'unlimited'], { count: null }],
  [['--count', '12'], { count: 12 }],
  [['--expires', '2099-01-31'], { expiresAt: '2099-01-31T00:00:00.000Z' }],
  [['--expires', '2099-01-31T12:00:00+02:00'], { expiresAt: '2099-01-31T10:00:00.000Z' }],
])('understands %j', async (options, expected) => {
  expect((await create('invite', ...options)).reference).toMatchObject(expected)
})

test.each([
  ['90s', 90],
  ['30m', 1800],
  ['24h', 86_400],
  ['7d', 604_800],
  ['2w', 1_209_600],
])('understands %s from now on', async (span, secs) => {
  const { reference } = await create('invite', '--expires', span)
  const left = (Date.parse(reference.expiresAt) - systemClock.now()) / 1000
  expect(left).toBeGreaterThan(secs - 30)
  expect(left).toBeLessThanOrEqual(secs)
})

describe('called wrongly', () => {
  test.each([
    [['poem'], 'TYPE is one of share.file, email-verify,'],
    [[], 'TYPE is missing'],
    [['welcome'], 'welcome sets the password of an account: --tenant says of which'],
    [['password-reset'], '--tenant says of which'],
    [['email-verify'], '--tenant says of which'],
    [['welcome', '--count', '2', '--tenant', baseTag], 'welcome serves once'],
    [['password-reset', '--count', 'unlimited', '--tenant', baseTag], 'password-reset serves once'],
    [
      ['password-reset', '--expires', '25h', '--tenant', baseTag],
      'password-reset ends after 24 hours at the latest',
    ],
    [['welcome', '--expires', '31d', '--tenant', baseTag], 'welcome ends after 720 hours at the latest'],
    [['invite', '--count', '0'], '--count is a whole number from 1, or unlimited'],
    [['invite', '--count', '1.5'], '--count is a whole number from 1, or unlimited'],
    [['invite', '--expires', 'soon'], '--expires is a time like'],
    [['invite', '--expires', '2020-01-01'], '--expires has passed already'],
    [['invite', '--tenant', 'nobody'], '"nobody" is no identity'],
    [['invite', '--resource', someFile], '--resource and --access are for share.file'],
    [['share.file'], 'share.file needs --resource with the id of a file'],
    [['share.file', '--resource', 'a file'], 'share.file needs --resource with the id of a file'],
    [['share.file', '--resource', someFile, '--access', 'admin'], '--access is read or write'],
  ])('%j ends with 2', async (words, message) => {
    expect(await line.fails('ref', 'create', ...words)).toEqual({
      exitCode: 2,
      code: 'E-USAGE',
      message: expect.stringContaining(message),
    })
  })
})

describe('fails', () => {
  test('for a tenant that is not here', async () => {
    expect(await line.fails('ref', 'create', 'invite', '--tenant', 'nobody.localhost')).toMatchObject({
      exitCode: 1,
      code: 'E-PROFILE-NOTFOUND',
    })
  })

  test('for a file that the tenant has not', async () => {
    expect(await line.fails('ref', 'create', 'share.file', '--resource', someFile)).toEqual({
      exitCode: 1,
      code: 'E-FILE-NOTFOUND',
      message: `home.localhost has no file ${someFile}.`,
    })
  })

  test('for the password of a community', async () => {
    expect(await line.fails('ref', 'create', 'welcome', '--tenant', 'club.localhost')).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
    })
  })
})
