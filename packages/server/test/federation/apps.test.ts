import {
  type ActionId,
  createAction,
  deleteAction,
  type FileId,
  getAuditLog,
  getUsage,
  type IdTag,
  installApp,
  listApps,
  listFiles,
  listInstalledApps,
  uninstallApp,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appPackage, offerApp } from '#harness/app-package.ts'
import { serveFile } from '#harness/foreign-file.ts'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { labBytes } from '#harness/test-seed.ts'
import { zipArchive } from '#harness/zip-archive.ts'
import { follow } from './acts.ts'

const daySecs = 86_400

const install = async ({ client }: Person, actionId: ActionId, more: { autoUpdate?: boolean } = {}) =>
  (await client.call(installApp, { body: { actionId, ...more } })).data
const offered = async ({ client }: Person) =>
  (await client.call(listApps, {})).data.map(({ name, version, publisherTag }) => ({
    name,
    version,
    publisherTag,
  }))
const versions = async ({ client }: Person) =>
  (await client.call(listInstalledApps)).data.map(({ version }) => version)
const asset = (network: TestNetwork, { at, idTag }: Person, fileId: FileId) =>
  network.server(at).request(idTag, `/api/files/${fileId}/content/main.js`)

describe('an app of a publisher on another server', () => {
  let network: TestNetwork
  let alice: Person
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(2)
  })
  afterAll(() => network[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ alice, bob } = await network.cast('alice', 'bob'))
  })

  async function offer(version = '1.0.0', members: Parameters<typeof offerApp>[1] = {}) {
    const made = await offerApp(alice.client, { version, ...members })
    await network.settle()
    return made
  }

  test('is listed by followers, fetched when it is installed, and served by their own server', async () => {
    await follow(network, bob, alice)
    const { actionId, fileId, size } = await offer('1.0.0', {
      manifest: { capabilities: ['rtdb'] },
      content: { description: 'Write things down' },
    })
    const [listed] = (await bob.client.call(listApps, { query: { search: 'down' } })).data
    expect(listed).toMatchObject({
      name: 'Notes',
      publisherTag: alice.idTag,
      actionId,
      capabilities: ['rtdb'],
    })
    // Nobody's storage is filled with what others offer.
    expect((await bob.client.call(getUsage)).data.usedBytes).toBe(0)
    expect(await install(bob, actionId)).toMatchObject({
      publisherTag: alice.idTag,
      version: '1.0.0',
      capabilities: ['rtdb'],
    })
    expect((await bob.client.call(getUsage)).data.usedBytes).toBe(size)
    expect((await bob.client.call(listFiles, {})).data).toEqual([])
    const answer = await asset(network, bob, fileId)
    expect([answer.status, await answer.text()]).toEqual([200, 'export {}'])

    await bob.client.call(uninstallApp, { params: { publisher: alice.idTag, name: 'Notes' } })
    expect((await bob.client.call(getUsage)).data.usedBytes).toBe(0)
    expect((await asset(network, bob, fileId)).status).toBe(404)
  })

  test('that was offered long ago is listed by who follows now', async () => {
    await offer('1.0.0')
    await offer('2.0.0', { action: { visibility: undefined } })
    network.clock.advance(40 * daySecs * 1000)
    const [later] = [await network.server(0).as(alice.idTag)]
    alice = { ...alice, client: later }
    bob = { ...bob, client: await network.server(1).as(bob.idTag) }
    expect(await offered(bob)).toEqual([])
    await follow(network, bob, alice)
    expect(await offered(bob)).toEqual([{ name: 'Notes', version: '1.0.0', publisherTag: alice.idTag }])
    await bob.client.call(createAction, {
      body: { type: 'FLLW', subType: 'DEL', audienceTag: alice.idTag },
    })
    await network.settle()
    expect(await offered(bob)).toEqual([])
  })

  test('is updated by itself, also when its server was away meanwhile', async () => {
    await follow(network, bob, alice)
    await install(bob, (await offer('1.0.0')).actionId, { autoUpdate: true })
    await offer('1.1.0')
    expect(await versions(bob)).toEqual(['1.1.0'])
    const second = await offerApp(alice.client, { version: '1.2.0' })
    const token = await network.server(0).tokenOf(alice.idTag, second.actionId)
    await network.takeDown(0)
    // It has said so before it went.
    expect((await network.server(1).deliver(token)).status).toBe(200)
    await network.settle()
    expect(await versions(bob)).toEqual(['1.1.0'])
    await expect(install(bob, second.actionId)).rejects.toMatchObject({ code: 'E-UNAVAILABLE', status: 503 })
    await network.bringBack(0)
    network.clock.advance(60_000)
    await network.settle()
    expect(await versions(bob)).toEqual(['1.2.0'])
    expect((await asset(network, bob, second.fileId)).status).toBe(200)
  })

  test('stays when it is withdrawn, and says so; no other follower can install it', async () => {
    const carol = await network.person(1, 'carol')
    for (const follower of [bob, carol]) await follow(network, follower, alice)
    const { actionId, fileId } = await offer()
    await install(bob, actionId)
    expect(await offered(carol)).toHaveLength(1)
    await alice.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    for (const follower of [bob, carol]) expect(await offered(follower)).toEqual([])
    const [app] = (await bob.client.call(listInstalledApps)).data
    expect(app).toMatchObject({ version: '1.0.0', withdrawnAt: expect.any(String) })
    expect((await asset(network, bob, fileId)).status).toBe(200)
    await expect(install(carol, actionId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
  })

  test('is another app than one of the same name by somebody else', async () => {
    const cora = await network.person(0, 'cora')
    for (const publisher of [alice, cora]) await follow(network, bob, publisher)
    await install(bob, (await offer('1.0.0')).actionId, { autoUpdate: true })
    const other = await offerApp(cora.client, { version: '2.0.0' })
    await network.settle()
    expect(await versions(bob)).toEqual(['1.0.0'])
    expect(await offered(bob)).toHaveLength(2)
    await install(bob, other.actionId)
    expect((await versions(bob)).sort()).toEqual(['1.0.0', '2.0.0'])
  })
})

describe('a hostile publisher', () => {
  const eve = 'eve.foreign.localhost'
  let round = 0
  let network: TestNetwork
  let dora: IdTag
  let foreign: ForeignServer
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(1)
  })
  afterAll(() => network[Symbol.asyncDispose]())
  beforeEach(async () => {
    round += 1
    dora = `dora${round}.foreign.localhost` as IdTag
    foreign = await network.addForeign(dora, eve)
    ;({ bob } = await network.cast('bob'))
    await network.server(0).relate(bob.idTag, dora, { isFollowing: true })
  })

  async function send(members: object, by: string = dora) {
    const content = { name: 'Notes', version: '1.0.0', capabilities: ['crdt'] }
    const token = foreign.sign(by, { type: 'APKG', visibility: 'P', content, ...members })
    const { status, body } = await network.server(0).deliver(token, '/api/inbox/sync')
    return { status, actionId: body.data?.actionId as ActionId }
  }
  const sendVersion = (version: string, fileId: FileId) =>
    send({
      content: { name: 'Notes', version, capabilities: ['crdt', 'rtdb'] },
      attachments: [fileId],
    })
  const takeBack = (subject: ActionId) => send({ subType: 'DEL', subject, content: undefined })
  const outcome = async (actionId: ActionId) =>
    install(bob, actionId).then(
      () => 'installed',
      (error: { status: number; details?: { reason?: string; path?: string } }) =>
        [error.status, error.details?.reason, error.details?.path]
          .filter((part) => part !== undefined)
          .join(' '),
    )

  const bad = { path: 'x', bytes: 'x'.repeat(99), crc: 1 }
  const page = { path: 'index.html', bytes: 'x' }
  const cases: [string, string, () => Parameters<typeof serveFile>[1]][] = [
    ['a damaged package', '400 damaged x', () => ({ content: appPackage({ entries: [bad] }) })],
    [
      'an app that asks for more than its offer says',
      '400 manifest-differs',
      () => ({ content: appPackage({ manifest: { capabilities: ['crdt', 'rtdb'] } }) }),
    ],
    ['an app of another name', '400 manifest-differs', () => ({ content: appPackage({ name: 'Bank' }) })],
    ['no package', '400 not-a-zip', () => ({ content: Buffer.from('hello') })],
    ['a package without a manifest', '400 manifest-missing', () => ({ content: zipArchive([page]) })],
    ['other bytes', '400', () => ({ content: appPackage(), sent: labBytes(appPackage().length) })],
    ['fewer bytes', '400', () => ({ content: appPackage(), sent: appPackage().subarray(0, 99) })],
    ['another file', '400', () => ({ content: appPackage(), described: { sha256: 'A'.repeat(43) } })],
    [
      'a package without an end',
      '400 too-large',
      () => ({ content: appPackage(), described: { size: 2 ** 40 } }),
    ],
  ]
  test.each(cases)('that serves %s installs nothing, and nothing of it stays', async (_, expected, serve) => {
    const rows = () => network.server(0).countRows('files', 'blobs', 'installed_apps', 'storage_reservations')
    const before = await rows()
    const { actionId } = await send({ attachments: [serveFile(foreign, serve())] })
    expect(await outcome(actionId)).toBe(expected)
    expect(await rows()).toEqual(before)
    expect((await bob.client.call(getUsage)).data.usedBytes).toBe(0)
  })

  test('that does not answer is a server that cannot be reached', async () => {
    const { actionId } = await send({ attachments: [serveFile(foreign, { content: appPackage() })] })
    for (const status of [401, 404, 500, 302]) {
      foreign.onRequest = (_, answer) => answer.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
      expect(await outcome(actionId)).toBe('503')
    }
  })

  test('cannot offer what has no proper name, version or package, nor to who does not follow it', async () => {
    const attachments = [serveFile(foreign, { content: appPackage() })]
    for (const content of [
      { name: 'a/b', version: '1.0.0' },
      { name: 'abc\u202edef', version: '1.0.0' },
      { name: 'Notes', version: '1.0.0', titles: { en: '\u200b' } },
      { name: 'Notes', version: 'new' },
    ]) {
      const { actionId } = await send({ content, attachments })
      await expect(install(bob, actionId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
    }
    expect(await offered(bob)).toEqual([])
    expect((await send({ attachments: [] })).status).toBe(400)
    expect((await send({ attachments, audienceTag: bob.idTag }, eve)).status).toBe(403)
  })

  test('cannot update an app of somebody else, nor its own to what asks for more', async () => {
    const first = await sendVersion('1.0.0', serveFile(foreign, { content: appPackage() }))
    await install(bob, first.actionId, { autoUpdate: true })
    const manifest = { capabilities: ['rtdb'] }
    await sendVersion('2.0.0', serveFile(foreign, { content: appPackage({ version: '2.0.0', manifest }) }))
    await network.settle()
    expect(await versions(bob)).toEqual(['1.0.0'])
    const { data: entries } = await bob.client.call(getAuditLog)
    expect(entries.map(({ event }) => event)).toContain('app.upgrade-refused')
    // Who signs decides whose app it is, not what the content says.
    const said = { name: 'Notes', version: '3.0.0', publisherTag: dora }
    await network.server(0).relate(bob.idTag, eve, { isFollowing: true })
    const file = serveFile(foreign, { content: appPackage({ version: '3.0.0' }) })
    await send({ content: said, attachments: [file] }, eve)
    await network.settle()
    expect(await versions(bob)).toEqual(['1.0.0'])
    expect((await offered(bob)).map(({ publisherTag }) => publisherTag).sort()).toEqual([dora, eve])
  })

  /** Serves a package whose bytes wait for `go`. */
  function serveSlowly(content: Buffer) {
    const fileId = serveFile(foreign, { content })
    const answerNow = foreign.onRequest
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    foreign.onRequest = async (request, answer) => {
      if (!request.url?.endsWith('/descriptor')) {
        asked.resolve()
        await go.promise
      }
      answerNow(request, answer)
    }
    return { fileId, asked: asked.promise, go: go.resolve }
  }

  test.each<[string, string[], (first: ActionId, second: ActionId) => Promise<unknown>]>([
    [
      'it is uninstalled',
      [],
      () => bob.client.call(uninstallApp, { params: { publisher: dora, name: 'Notes' } }),
    ],
    ['it is told to stay', ['1.0.0'], (first) => install(bob, first, { autoUpdate: false })],
    ['its publisher is blocked', ['1.0.0'], () => network.server(0).block(bob.idTag, dora)],
    ['the offer is taken back', ['1.0.0'], (_, second) => takeBack(second)],
  ])('is too late with an update by itself that is fetched when %s', async (_, expected, meanwhile) => {
    const first = await sendVersion('1.0.0', serveFile(foreign, { content: appPackage() }))
    await install(bob, first.actionId, { autoUpdate: true })
    const slow = serveSlowly(appPackage({ version: '2.0.0' }))
    const second = await sendVersion('2.0.0', slow.fileId)
    const settled = network.settle()
    await slow.asked
    await meanwhile(first.actionId, second.actionId)
    slow.go()
    await settled
    expect(await versions(bob)).toEqual(expected)
  })

  test('cannot have installed what it has taken back, and may offer the same again', async () => {
    const slow = serveSlowly(appPackage())
    const { actionId } = await sendVersion('1.0.0', slow.fileId)
    const installing = outcome(actionId)
    await slow.asked
    await takeBack(actionId)
    slow.go()
    expect(await installing).toBe('404')
    const second = await sendVersion('1.0.0', slow.fileId)
    await install(bob, second.actionId)
    await takeBack(second.actionId)
    const third = await sendVersion('1.0.0', slow.fileId)
    const app = await install(bob, third.actionId)
    expect(app).toMatchObject({ actionId: third.actionId })
    expect(app).not.toHaveProperty('withdrawnAt')
    await takeBack(third.actionId)
    const [kept] = (await bob.client.call(listInstalledApps)).data
    expect(kept).toHaveProperty('withdrawnAt')
  })

  test('is asked once for many versions that come at a time', async () => {
    const first = await sendVersion('1.0.0', serveFile(foreign, { content: appPackage() }))
    await install(bob, first.actionId, { autoUpdate: true })
    const slow = serveSlowly(appPackage({ version: '2.0.0' }))
    await sendVersion('2.0.0', slow.fileId)
    const settled = network.settle()
    await slow.asked
    const fetches = () => foreign.requests.filter(({ url }) => url.startsWith('/api/files/')).length
    const before = fetches()
    for (let at = 1; at <= 20; at += 1) await sendVersion(`2.0.${at}`, slow.fileId)
    slow.go()
    await settled
    expect(await versions(bob)).toEqual(['2.0.0'])
    // The descriptor and the bytes of the newest.
    expect(fetches() - before).toBe(2)
  })
})
