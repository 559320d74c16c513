import type { Client } from '@kith/client'
import type { SocketLike } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'
import {
  acceptAction,
  createApiKey,
  createFile,
  createShare,
  deleteApiKey,
  deleteFile,
  type FileId,
  getAccessToken,
  getFileMetadata,
  getProxyToken,
  type IdTag,
  installApp,
  listActions,
  listSessions,
  logout,
  uninstallApp,
  updateApiKey,
} from '@kith/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { offerApp } from '#harness/app-package.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { serverTenant } from '#infra/db/index.ts'

let network: TestNetwork
let alice: Person
let bob: Person
let fileId: FileId
const closing: { close(): void }[] = []

beforeAll(async () => {
  network = await TestNetwork.start(2)
})
afterAll(() => network[Symbol.asyncDispose]())
// Bob has an app and a file.
beforeEach(async () => {
  ;({ alice, bob } = await network.cast('alice', 'bob'))
  await install()
  fileId = await makeFile(bob)
})
afterEach(() => {
  for (const connected of closing.splice(0)) connected.close()
})

async function install(): Promise<void> {
  const { actionId } = await offerApp(bob.client, { manifest: { capabilities: ['rtdb'] } })
  await bob.client.call(installApp, { body: { actionId } })
}
const uninstall = () =>
  bob.client.call(uninstallApp, { params: { publisher: bob.idTag as IdTag, name: 'Notes' } })
const makeFile = async ({ client }: Person) =>
  (await client.call(createFile, { body: { fileTp: 'RTDB', fileName: 'List' } })).data.fileId as FileId
const appOf = ({ idTag }: Person, name = 'Notes') => `@${idTag}/${name}`
const scopeOf = (file: FileId, level = 'write') => `file:${file}:${level}`
const ask = async (query: { scope?: string; app?: string; token?: string }, client = bob.client) =>
  (await client.call(getAccessToken, { query })).data
const appToken = async (file = fileId, level = 'write', client: Client = bob.client) =>
  (await ask({ scope: scopeOf(file, level), app: appOf(bob) }, client)).token

/** Bob's database at his own host or, through his gateway, at another's, with this token alone. */
function open(
  token: string,
  { at, file = fileId, access }: { at?: IdTag; file?: FileId; access?: 'write' } = {},
) {
  const connect = (url: string) => {
    const { host, port, pathname, search } = new URL(url)
    return new WebSocket(`ws://127.0.0.1:${port}${pathname}${search}`, { headers: { host } }) as SocketLike
  }
  const database = connectDatabase({
    ...{ baseUrl: network.server(1).urlOf(bob.idTag), fileId: file, token, connect },
    retry: { firstMs: 5, longestMs: 50 },
    ...(at && { at }),
    ...(access && { access }),
  })
  closing.push(database)
  return database
}

/** The code with which a socket ends within five seconds of the servers' clock. */
async function endOf(database: ReturnType<typeof open>): Promise<number | undefined> {
  const moving = setInterval(() => network.clock.advance(1000), 20)
  await expect
    .poll(() => database.state.kind)
    .toBe('ended')
    .finally(() => clearInterval(moving))
  return database.state.kind === 'ended' ? database.state.code : undefined
}
const metadata = (token: string) =>
  network.server(1).client(bob.idTag, token).call(getFileMetadata, { params: { fileId } })

describe('The token of an app', () => {
  test('is for the files that it names', async () => {
    const { scope } = await ask({ scope: scopeOf(fileId), app: appOf(bob) })
    expect(scope).toBe(scopeOf(fileId))
    const database = open(await appToken())
    await database.collection('items').add({ title: 'Milk' })
    expect(await database.collection('items').get()).toMatchObject([{ title: 'Milk' }])
    const other = await makeFile(bob)
    expect(await endOf(open(await appToken(), { file: other }))).toBe(4404)
  })

  test('ends when the app is uninstalled, with its socket, and no other token does', async () => {
    const [of, other] = [await appToken(), (await ask({ scope: scopeOf(fileId) })).token]
    const [opened, stays] = [open(of), open(other)]
    await Promise.all([opened.collection('items').get(), stays.collection('items').get()])
    await uninstall()
    await expect(metadata(of)).rejects.toMatchObject({ status: 401 })
    expect(await endOf(opened)).toBe(1008)
    expect(await stays.collection('items').get()).toEqual([])
    expect((await metadata(other)).data.fileId).toBe(fileId)
    await expect(appToken()).rejects.toMatchObject({ code: 'E-NOTFOUND' })
    await install()
    await expect(metadata(of)).rejects.toMatchObject({ status: 401 })
    expect((await metadata(await appToken())).data.fileId).toBe(fileId)
  })

  test('ends with the session in which it was made', async () => {
    const session = network.server(1).client(bob.idTag, await network.server(1).signIn(bob.idTag))
    const token = await appToken(fileId, 'read', session)
    const opened = open(token)
    await opened.collection('items').get()
    await session.call(logout)
    await expect(metadata(token)).rejects.toMatchObject({ status: 401 })
    expect(await endOf(opened)).toBe(1008)
  })

  test('begins no session that is listed, one for all files, and none that stays', async () => {
    const session = network.server(1).client(bob.idTag, await network.server(1).signIn(bob.idTag))
    const rows = () =>
      network
        .server(1)
        .db.reader(serverTenant)
        .tables<{ sessions: { method: string; caller_tag: string; revoked_at: number | null } }>()
        .selectFrom('sessions')
        .select('caller_tag')
        .where('method', '=', 'app')
        .where('caller_tag', '=', bob.idTag)
        .where('revoked_at', 'is', null)
        .execute()
    const before = (await bob.client.call(listSessions)).data
    await appToken(fileId, 'write', session)
    await appToken(await makeFile(bob), 'read', session)
    expect((await bob.client.call(listSessions)).data).toEqual(before)
    expect(await rows()).toHaveLength(1)
    await session.call(logout)
    expect(await rows()).toEqual([])
  })

  test('is worth no more than the API key that it was asked for with, also when that is narrowed later', async () => {
    const { key, keyId } = (
      await bob.client.call(createApiKey, { body: { name: 'P', scope: scopeOf(fileId) } })
    ).data
    const program = network.server(1).client(bob.idTag, key)
    const token = await appToken(fileId, 'write', program)
    await open(token).collection('items').add({ title: 'Milk' })
    await bob.client.call(updateApiKey, { params: { keyId }, body: { scope: scopeOf(fileId, 'read') } })
    await expect(open(token).collection('items').add({ title: 'Eggs' })).rejects.toMatchObject({ code: 403 })
    const again = await ask({ scope: scopeOf(fileId), app: appOf(bob) }, program)
    expect(again.scope).toBe(scopeOf(fileId, 'read'))
    await bob.client.call(deleteApiKey, { params: { keyId } })
    await expect(metadata(again.token)).rejects.toMatchObject({ status: 401 })
  })

  test('says that its file is gone', async () => {
    await bob.client.call(deleteFile, { params: { fileId } })
    await expect(appToken()).rejects.toMatchObject({ status: 404, code: 'E-FILE-NOTFOUND' })
    const narrow = network.server(1).client(bob.idTag, (await ask({ scope: 'read:actions' })).token)
    await expect(appToken(await makeFile(bob), 'read', narrow)).rejects.toMatchObject({ status: 403 })
  })

  test('gives no token of another app, or of more', async () => {
    const token = await appToken(fileId, 'read')
    const client = network.server(1).client(bob.idTag, token)
    expect((await ask({ scope: scopeOf(fileId), app: appOf(bob) }, client)).scope).toBe(
      scopeOf(fileId, 'read'),
    )
    await expect(ask({ scope: scopeOf(fileId), app: appOf(bob, 'Other') }, client)).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
    const renewed = (await ask({}, client)).token
    await uninstall()
    await expect(metadata(renewed)).rejects.toMatchObject({ status: 401 })
  })

  test.each<[string, () => { scope?: string; app: string; ref?: string }, number, string]>([
    ['without a scope', () => ({ app: appOf(bob) }), 400, 'E-VALIDATION'],
    [
      'for more than files',
      () => ({ app: appOf(bob), scope: `read ${scopeOf(fileId)}` }),
      400,
      'E-VALIDATION',
    ],
    [
      'of an app that is not installed',
      () => ({ app: appOf(alice), scope: scopeOf(fileId) }),
      404,
      'E-NOTFOUND',
    ],
    ['of what is no app', () => ({ app: 'Notes', scope: scopeOf(fileId) }), 400, 'E-VALIDATION'],
    ['of no identity', () => ({ app: '@-/Notes', scope: scopeOf(fileId) }), 400, 'E-VALIDATION'],
    [
      'for a file that is not there',
      () => ({ app: appOf(bob), scope: 'file:b1~AAAA:read' }),
      400,
      'E-VALIDATION',
    ],
    ['with a reference', () => ({ app: appOf(bob), ref: 'A'.repeat(24) }), 400, 'E-VALIDATION'],
  ])('is refused %s', async (_, query, status, code) => {
    await expect(ask(query())).rejects.toMatchObject({ status, code })
  })

  test('is not for visitors', async () => {
    const query = { target: bob.idTag as IdTag }
    const { token } = (await alice.client.call(getProxyToken, { query })).data
    const visitor = network.server(1).client(bob.idTag)
    await expect(ask({ token, scope: scopeOf(fileId), app: appOf(bob) }, visitor)).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
  })
})

describe.each([
  ['another server', 0],
  ['the same server', 1],
] as const)('The token of an app, for a file at %s', (_, ownerAt) => {
  let owner: Person
  let shared: FileId
  beforeEach(async () => {
    owner = ownerAt === 0 ? alice : await network.person(1, `carol-${bob.idTag.split('.')[0]}`)
    shared = await share('W')
  })
  async function share(permission: 'R' | 'W'): Promise<FileId> {
    const given = await makeFile(owner)
    const body = { subjectType: 'U', subjectId: bob.idTag, permission } as const
    await owner.client.call(createShare, { params: { fileId: given }, body })
    await network.settle()
    const { data } = await bob.client.call(listActions, { query: { type: 'FSHR', subject: given } })
    await bob.client.call(acceptAction, { params: { actionId: data[0]?.actionId ?? '' } })
    await network.settle()
    return given
  }
  const at = (token: string, file = shared, access?: 'write') =>
    open(token, { at: owner.idTag as IdTag, file, ...(access && { access }) })

  test('opens it through the gateway until the app is uninstalled', async () => {
    const opened = at(await appToken(shared))
    await opened.collection('items').add({ title: 'Milk' })
    await uninstall()
    expect(await endOf(opened)).toBe(1008)
  })

  test('opens no other file, and no further than it says', async () => {
    const other = await share('W')
    expect(await endOf(at(await appToken(shared), other))).toBe(4403)
    // Nor does it show Bob to anybody but the owner of the file.
    const own = await makeFile(bob)
    expect(await endOf(at(await appToken(own), own))).toBe(4403)
    const reading = at(await appToken(shared, 'read'))
    expect(await reading.collection('items').get()).toEqual([])
    await expect(reading.collection('items').add({ title: 'Milk' })).rejects.toMatchObject({ code: 403 })
    expect(await endOf(at(await appToken(shared, 'read'), shared, 'write'))).toBe(4403)
  })

  test('is not made from an API key, and a wider one does not pass either', async () => {
    const body = { name: 'Program', scope: `${scopeOf(shared)} read:files` }
    const { key } = (await bob.client.call(createApiKey, { body })).data
    const program = network.server(1).client(bob.idTag, key)
    expect(await endOf(at(await appToken(shared, 'write', program)))).toBe(4403)
    const { token } = await ask({ scope: `${scopeOf(shared)} read:files` })
    expect(await endOf(at(token))).toBe(4403)
  })
})
