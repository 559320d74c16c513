import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import {
  type ActionId,
  createAction,
  deleteAction,
  deleteFile,
  emptyTrash,
  type FileId,
  getAccessToken,
  getAction,
  getAuditLog,
  getProxyToken,
  getUsage,
  type IdTag,
  installApp,
  listApps,
  listInstalledApps,
  publishAction,
  putSetting,
  uninstallApp,
  updateInstalledApp,
} from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { purgeTenant } from '#app/purge/purge-tenant.ts'
import { appPackage, offerApp as makeOffer } from '#harness/app-package.ts'
import { TestServer } from '#harness/test-server.ts'
import { zipArchive } from '#harness/zip-archive.ts'

let server: TestServer
let alice: Client
let bob: Client
let round = 0
// Each test has a publisher and a tenant of its own.
let publisher: string
let reader: string

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())
beforeEach(async () => {
  round += 1
  publisher = `alice${round}.localhost`
  reader = `bob${round}.localhost`
  await server.createTenant(publisher)
  await server.createTenant(reader)
  await follow(reader, publisher)
  alice = await server.as(publisher)
  bob = await server.as(reader)
})

async function follow(follower: string, followed: string): Promise<void> {
  await server.relate(follower, followed, { isFollowing: true })
  await server.relate(followed, follower, { isFollower: true })
}
/** Offers an app and waits until it has arrived. */
async function offerApp(by: Client, given: Parameters<typeof makeOffer>[1] = {}) {
  const offer = await makeOffer(by, given)
  await server.settle()
  return offer
}

const install = async (by: Client, actionId: ActionId, more: { autoUpdate?: boolean } = {}) =>
  (await by.call(installApp, { body: { actionId, ...more } })).data
const installed = async (by = bob) => (await by.call(listInstalledApps)).data
const remove = (by: Client, name = 'Notes', of = publisher) =>
  by.call(uninstallApp, { params: { publisher: of as IdTag, name } })
const used = async (by = bob) => (await by.call(getUsage)).data.usedBytes
const content = (fileId: string, path: string, host = reader, init: RequestInit = {}) =>
  server.request(host, `/api/files/${fileId}/content/${path}`, init)
/** What is listed once everything has arrived. */
async function catalogue(by = bob, query: object = {}) {
  await server.settle()
  return (await by.call(listApps, { query })).data
}

async function limitStorage(bytes: number): Promise<void> {
  const params = { name: 'limits.max_storage_gb' }
  await (await server.as(server.baseIdTag)).call(putSetting, { params, body: { value: bytes / 1024 ** 3 } })
}

async function visit(by: string, host: string): Promise<Client> {
  const { data } = await (await server.as(by)).call(getProxyToken, { query: { target: host as IdTag } })
  const { data: access } = await server.client(host).call(getAccessToken, { query: { token: data.token } })
  return server.client(host, access.token)
}

describe('an app', () => {
  test('is offered, installed, served to anybody, and uninstalled', async () => {
    const { actionId, fileId, size } = await offerApp(alice, {
      manifest: { capabilities: ['rtdb'], icon: 'icon.png', description: 'Of the manifest' },
      entries: [{ path: 'icon.png', bytes: 'png' }],
      content: { description: 'Of the offer', tags: ['text'] },
    })
    const offered = { name: 'Notes', publisherTag: publisher, version: '1.0.0', actionId, fileId }
    const expected = { ...offered, capabilities: ['rtdb'], description: 'Of the offer', tags: ['text'] }
    expect(await catalogue()).toEqual([{ ...expected, createdAt: expect.any(String) }])
    expect((await content(fileId, 'main.js')).status).toBe(404)

    const response = await server.request(reader, '/api/apps/install', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await server.signIn(reader)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ actionId }),
    })
    expect(response.status).toBe(201)
    const app = {
      ...{ ...offered, appName: 'Notes', status: 'A', capabilities: ['rtdb'], autoUpdate: false },
      ...{ entry: 'index.html', icon: 'icon.png', description: 'Of the manifest' },
      fileType: expect.stringMatching(/^application\/vnd\.kith\.app\.[a-z]/),
      ...{ installedAt: expect.any(String), updatedAt: expect.any(String) },
    }
    expect(((await response.json()) as { data: object }).data).toEqual(app)
    expect(await installed()).toEqual([app])
    expect(await used()).toBe(size)
    const asset = await content(fileId, 'main.js')
    expect([asset.status, await asset.text()]).toEqual([200, 'export {}'])

    await remove(bob)
    expect(await installed()).toEqual([])
    expect(await used()).toBe(0)
    expect((await content(fileId, 'main.js')).status).toBe(404)
    await expect(remove(bob)).rejects.toMatchObject({ code: 'E-NOTFOUND', status: 404 })
    const { data: entries } = await bob.call(getAuditLog)
    expect(entries.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['app.installed', 'app.uninstalled']),
    )
  })

  test('is brought to newer versions, and never back', async () => {
    const first = await offerApp(alice)
    const second = await offerApp(alice, { version: '1.1.0-rc.1', entries: [{ path: 'new.js', bytes: 'x' }] })
    const before = await install(bob, first.actionId, { autoUpdate: true })
    // What is installed already is no failure, and changes nothing but what was asked for.
    expect(await install(bob, first.actionId)).toEqual(before)
    expect(await install(bob, first.actionId, { autoUpdate: false })).toEqual({
      ...before,
      autoUpdate: false,
    })
    await install(bob, first.actionId, { autoUpdate: true })
    server.clock.advance(5_000)
    const after = await install(bob, second.actionId)
    expect(after).toMatchObject({ version: '1.1.0-rc.1', fileId: second.fileId, autoUpdate: true })
    expect(after.installedAt).toBe(before.installedAt)
    expect(after.updatedAt).not.toBe(before.updatedAt)
    expect(await used()).toBe(second.size)
    expect((await content(first.fileId, 'main.js')).status).toBe(404)
    expect((await content(second.fileId, 'new.js')).status).toBe(200)
    const again = await offerApp(alice, { version: '1.1.0-rc.1+build', manifest: { icon: undefined } })
    for (const { actionId } of [first, again])
      await expect(install(bob, actionId)).rejects.toMatchObject({ code: 'E-STATE', status: 409 })
    expect(await installed()).toHaveLength(1)
  })

  test('keeps its id, whatever its version', async () => {
    await install(bob, (await offerApp(alice)).actionId)
    const other = await offerApp(alice, { version: '2.0.0', manifest: { id: 'com.example.other' } })
    await expect(install(bob, other.actionId)).rejects.toMatchObject({ details: { reason: 'id-changed' } })
  })

  test('is installed once by several at the same time', async () => {
    const { actionId, size } = await offerApp(alice)
    const made = await Promise.all([install(bob, actionId), install(bob, actionId), install(bob, actionId)])
    expect(new Set(made.map(({ installedAt }) => installedAt)).size).toBe(1)
    expect(await used()).toBe(size)
    await remove(bob)
    expect(await used()).toBe(0)
  })

  test('stays whatever its publisher does', async () => {
    const { actionId, fileId } = await offerApp(alice)
    await install(bob, actionId)
    await alice.call(deleteAction, { params: { actionId } })
    await alice.call(deleteFile, { params: { fileId } })
    await alice.call(emptyTrash)
    server.clock.advance(86_400_000)
    await server.settle()
    await server.suspend(publisher)
    expect(await (await content(fileId, 'main.js')).text()).toBe('export {}')
    const [app] = await installed(await server.as(reader))
    expect(app).toMatchObject({ name: 'Notes', withdrawnAt: expect.stringMatching(/^2026-/) })
    await server.resume(publisher)
    const newer = await offerApp(await server.as(publisher), { version: '1.0.1' })
    expect(await install(await server.as(reader), newer.actionId)).not.toHaveProperty('withdrawnAt')
  })

  test('is nobody else’s when the name of its publisher is', async () => {
    const { actionId, fileId } = await offerApp(alice)
    await install(bob, actionId, { autoUpdate: true })
    await server.suspend(publisher)
    const { tenants, emit } = server.running.features.identity
    const gone = await tenants.find(publisher as IdTag)
    const deps = {
      ...server.running.services,
      tenants,
      emit,
      pause: async () => {},
      by: 'command line',
    } as const
    if (gone?.suspendedAt !== undefined) await purgeTenant(deps, { ...gone, suspendedAt: gone.suspendedAt })
    expect((await content(fileId, 'main.js')).status).toBe(200)

    await server.createTenant(publisher)
    await follow(reader, publisher)
    const other = await offerApp(await server.as(publisher), { version: '2.0.0' })
    await server.settle()
    expect((await installed()).map(({ version }) => version)).toEqual(['1.0.0'])
    await expect(install(bob, other.actionId)).rejects.toMatchObject({ code: 'E-STATE' })
    await remove(bob)
    expect(await install(bob, other.actionId)).toMatchObject({ version: '2.0.0' })
  })

  test('of a tenant’s own shares the bytes of its file, until both are gone', async () => {
    const { actionId, fileId, size } = await offerApp(alice)
    expect(await used(alice)).toBe(size)
    await install(alice, actionId)
    expect(await used(alice)).toBe(size)
    await alice.call(deleteFile, { params: { fileId } })
    await alice.call(emptyTrash)
    expect(await used(alice)).toBe(size)
    expect((await content(fileId, 'main.js', publisher)).status).toBe(200)
    await remove(alice)
    expect(await used(alice)).toBe(0)
  })

  test('counts in the quota of the tenant', async () => {
    const noise = randomBytes(60_000)
    const { actionId } = await offerApp(alice, { entries: [{ path: 'noise', bytes: noise }] })
    await limitStorage(50_000)
    await expect(install(bob, actionId)).rejects.toMatchObject({ code: 'E-QUOTA', status: 507 })
    await limitStorage(1_000_000)
    await install(bob, actionId)
    await limitStorage(10 * 1024 ** 3)
  })

  test('is updated by itself where that was chosen', async () => {
    await server.createTenant(`carol${round}.localhost`)
    const carol = await server.as(`carol${round}.localhost`)
    await server.relate(`carol${round}.localhost`, publisher, { connection: 'connected' })
    await server.relate(publisher, `carol${round}.localhost`, { connection: 'connected' })
    const first = await offerApp(alice)
    await install(bob, first.actionId, { autoUpdate: true })
    await install(carol, first.actionId)
    const second = await offerApp(alice, { version: '1.0.1' })
    await offerApp(alice, { version: '0.9.0' })
    await server.settle()
    expect((await installed()).map(({ version }) => version)).toEqual(['1.0.1'])
    expect((await installed(carol)).map(({ version }) => version)).toEqual(['1.0.0'])
    expect((await content(second.fileId, 'index.html')).status).toBe(200)
    // What the tenant may not read is not installed, nor what comes from whom it left.
    await offerApp(alice, { version: '1.0.2', action: { visibility: undefined } })
    await server.relate(reader, publisher, { isFollowing: false })
    await offerApp(alice, { version: '1.0.3' })
    await server.settle()
    expect((await installed()).map(({ version }) => version)).toEqual(['1.0.1'])
  })

  test('is not updated by itself to what asks for more', async () => {
    const capable = (version: string, capabilities: string[]) =>
      offerApp(alice, { version, manifest: { capabilities } })
    await install(bob, (await capable('1.0.0', ['crdt'])).actionId, { autoUpdate: true })
    await capable('1.0.1', [])
    const more = await capable('2.0.0', ['crdt', 'rtdb'])
    const [kept] = await installed()
    expect(kept).toMatchObject({ version: '1.0.1', capabilities: [] })
    const { data: entries } = await bob.call(getAuditLog)
    const refused = entries.find(({ event }) => event === 'app.upgrade-refused')
    expect(refused?.details).toMatchObject({ name: 'Notes', version: '2.0.0', reason: 'asks-more' })
    expect(await install(bob, more.actionId)).toMatchObject({ version: '2.0.0', autoUpdate: true })
  })

  test('is not updated by itself to what opens more types of files', async () => {
    const opening = (version: string, fileTypes: string[]) =>
      offerApp(alice, { version, manifest: { capabilities: ['files:read'], fileTypes } })
    await install(bob, (await opening('1.0.0', ['text/*', 'image/png'])).actionId, { autoUpdate: true })
    await opening('1.1.0', ['text/plain', 'image/png'])
    await opening('1.2.0', ['text/*'])
    const [kept] = await installed()
    expect(kept).toMatchObject({ version: '1.1.0', fileTypes: ['text/plain', 'image/png'] })
    const { data: entries } = await bob.call(getAuditLog)
    const refused = entries.find(({ event }) => event === 'app.upgrade-refused')
    expect(refused?.details).toMatchObject({ version: '1.2.0', reason: 'asks-more' })
  })

  test('updates by itself as its tenant says, also when its offer was taken back, and never when uninstalled', async () => {
    const choose = (autoUpdate: boolean, name = 'Notes') =>
      bob.call(updateInstalledApp, { params: { publisher: publisher as IdTag, name }, body: { autoUpdate } })
    const { actionId } = await offerApp(alice)
    await install(bob, actionId)
    expect((await choose(true)).data).toMatchObject({ version: '1.0.0', autoUpdate: true })
    await alice.call(deleteAction, { params: { actionId } })
    await server.settle()
    expect((await choose(false)).data).toMatchObject({ autoUpdate: false, withdrawnAt: expect.any(String) })
    await offerApp(alice, { version: '1.1.0' })
    expect((await installed())[0]).toMatchObject({ version: '1.0.0', autoUpdate: false })
    await expect(choose(true, 'Other')).rejects.toMatchObject({ code: 'E-NOTFOUND' })
    await remove(bob)
    await expect(choose(true)).rejects.toMatchObject({ code: 'E-NOTFOUND' })
    expect(await installed()).toEqual([])
  })

  test('whose newer version is no package of its own stays, and the trail says why', async () => {
    await install(bob, (await offerApp(alice)).actionId, { autoUpdate: true })
    await offerApp(alice, { version: '2.0.0', manifest: { id: 'com.example.other' } })
    await server.settle()
    const { data: entries } = await bob.call(getAuditLog)
    const refused = entries.find(({ event }) => event === 'app.upgrade-refused')
    expect(refused?.details).toMatchObject({ name: 'Notes', version: '2.0.0', reason: 'id-changed' })
    expect((await installed()).map(({ version }) => version)).toEqual(['1.0.0'])
  })
})

describe('who may', () => {
  const outcome = (by: Client, actionId: ActionId) =>
    install(by, actionId).then(
      () => 'installed',
      (error: { code: string }) => error.code,
    )
  const unknown = 'E-ACTION-NOTFOUND'

  test('install: whom the offer was sent to, while its publisher is followed', async () => {
    const offerAll = async () => ({
      P: await offerApp(alice, { name: 'P' }),
      V: await offerApp(alice, { name: 'V', action: { visibility: 'V' } }),
      F: await offerApp(alice, { name: 'F', action: { visibility: 'F' } }),
      C: await offerApp(alice, { name: 'C', action: { visibility: 'C' } }),
      null: await offerApp(alice, { name: 'null', action: { visibility: undefined } }),
      to: await offerApp(alice, { name: 'to', action: { visibility: undefined, audienceTag: reader } }),
    })
    let offers = await offerAll()
    const tried = async () => {
      const found: Record<string, string> = {}
      const listed = (await catalogue(bob)).map(({ name }) => name)
      for (const [name, { actionId }] of Object.entries(offers)) {
        found[name] = await outcome(bob, actionId)
        expect(listed.includes(name), name).toBe(found[name] === 'installed')
      }
      for (const { name } of await installed()) await remove(bob, name)
      return Object.entries(found).flatMap(([name, got]) => {
        expect(['installed', unknown]).toContain(got)
        return got === 'installed' ? [name] : []
      })
    }
    expect(await tried()).toEqual(['P', 'V', 'F', 'to'])
    await server.relate(publisher, reader, { connection: 'connected' })
    offers = await offerAll()
    expect(await tried()).toEqual(['P', 'V', 'F', 'C', 'to'])
    await server.relate(reader, publisher, { isBlocked: true })
    expect(await tried()).toEqual([])
    await server.relate(reader, publisher, { isBlocked: false, isFollowing: false })
    expect(await tried()).toEqual([])
  })

  test('install: nothing of a publisher that does not give the package', async () => {
    const { actionId } = await offerApp(alice, { action: { visibility: 'F' } })
    await server.relate(publisher, reader, { isBlocked: true })
    expect(await outcome(bob, actionId)).toBe(unknown)
    await server.relate(publisher, reader, { isBlocked: false })
    await server.suspend(publisher)
    expect(await outcome(bob, actionId)).toBe(unknown)
    await server.resume(publisher)
    expect(await outcome(bob, actionId)).toBe('installed')
  })

  test('install: nothing that is deleted, over, or no offer', async () => {
    const { actionId, fileId } = await offerApp(alice)
    const { data: post } = await alice.call(createAction, {
      body: { type: 'POST', content: { text: 'x' }, attachments: [fileId], visibility: 'P' },
    })
    const draft = await offerApp(alice, { name: 'Draft', action: { draft: true } })
    const over = await offerApp(alice, {
      name: 'Over',
      action: { expiresAt: Math.floor(server.clock.now() / 1000) + 60 },
    })
    server.clock.advance(61_000)
    for (const id of [
      post.actionId as ActionId,
      draft.actionId,
      over.actionId,
      `a1~${'A'.repeat(43)}` as ActionId,
    ])
      expect(await outcome(bob, id)).toBe(unknown)
    await alice.call(publishAction, { params: { actionId: draft.actionId } })
    await server.settle()
    expect(await outcome(bob, draft.actionId)).toBe('installed')
    await alice.call(deleteFile, { params: { fileId } })
    expect(await outcome(bob, actionId)).toBe(unknown)
    const second = await offerApp(alice)
    await alice.call(deleteAction, { params: { actionId: second.actionId } })
    await server.settle()
    expect(await outcome(bob, second.actionId)).toBe(unknown)
    expect((await catalogue()).map(({ name }) => name)).not.toContain('Over')
  })

  test('manage the apps of a community: its leaders, of what they may read themselves', async () => {
    const club = `club${round}.localhost`
    await server.createTenant(club, { type: 'community' })
    await follow(club, publisher)
    await server.relate(club, publisher, { role: 'contributor' })
    const { actionId } = await offerApp(alice)
    const shown = await offerApp(alice, {
      name: 'Club',
      action: { visibility: undefined, audienceTag: club },
    })
    await server.relate(club, reader, { role: 'moderator' })
    const moderator = await visit(reader, club)
    await expect(offerApp(moderator, { name: 'Moderated' })).rejects.toMatchObject({ status: 403 })
    const visitor = await visit(reader, publisher)
    for (const attempt of [
      () => install(moderator, actionId),
      () => installed(moderator),
      () => remove(moderator),
      () => install(visitor, actionId),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN', status: 403 })
    expect((await catalogue(moderator)).map(({ name }) => name).sort()).toEqual(['Club', 'Notes'])
    // A guest is shown neither what was said to the community alone nor what members may read.
    expect((await catalogue(server.client(club))).map(({ name }) => name)).toEqual(['Notes'])
    await server.relate(club, reader, { role: 'leader' })
    server.clock.advance(5_000)
    const leader = await visit(reader, club)
    for (const id of [actionId, shown.actionId]) expect(await outcome(leader, id)).toBe('installed')
    await remove(leader)
    expect((await installed(leader)).map(({ name }) => name)).toEqual(['Club'])
  })
})

describe('the catalogue', () => {
  test('has of each app the newest version that is shown', async () => {
    await offerApp(alice, { version: '1.10.0' })
    await offerApp(alice, { version: '1.9.0' })
    await offerApp(alice, { version: '2.0.0', action: { visibility: undefined } })
    await offerApp(alice, { version: '1.10.1-beta' })
    expect((await catalogue()).map(({ version }) => version)).toEqual(['1.10.1-beta'])
    expect((await catalogue(alice)).map(({ version }) => version)).toEqual(['2.0.0'])
    const latest = await offerApp(alice, { version: '1.10.1' })
    await alice.call(deleteAction, { params: { actionId: latest.actionId } })
    expect((await catalogue()).map(({ version }) => version)).toEqual(['1.10.1-beta'])
    for (const description of ['first', 'second', 'third']) {
      server.clock.advance(1_000)
      await offerApp(alice, { version: '1.10.1-beta', content: { description } })
      expect((await catalogue()).map((offer) => offer.description)).toEqual([description])
    }
  })

  test('keeps what guests may see, however many newer versions they may not', async () => {
    await offerApp(alice, { version: '1.0.0' })
    for (let patch = 1; patch <= 51; patch += 1)
      await makeOffer(alice, { version: `1.0.${patch}`, action: { visibility: undefined } })
    const guest = server.client(publisher)
    expect((await catalogue(guest)).map(({ version }) => version)).toEqual(['1.0.0'])
    expect((await catalogue(alice)).map(({ version }) => version)).toEqual(['1.0.51'])
  })

  test('is searched by beginnings of words of name, description and tags', async () => {
    await offerApp(alice, {
      name: 'Plain Notes',
      content: { description: 'Write things down', tags: ['Text'] },
    })
    await offerApp(alice, { name: 'Chess', content: { tags: ['game', 'two players'] } })
    const found = async (search: string) => (await catalogue(bob, { search })).map(({ name }) => name)
    expect(await found('note')).toEqual(['Plain Notes'])
    expect(await found('TEX thing')).toEqual(['Plain Notes'])
    expect(await found('player')).toEqual(['Chess'])
    for (const nothing of ['otes', 'note chess', '%', '!?']) expect(await found(nothing)).toEqual([])
  })

  test('comes in pages', async () => {
    for (const name of ['A', 'B', 'C', 'D', 'E']) {
      await offerApp(alice, { name })
      server.clock.advance(1_000)
    }
    const first = await bob.call(listApps, { query: { limit: 2 } })
    await offerApp(alice, { name: 'F' })
    const cursor = first.cursorPagination?.nextCursor ?? ''
    const second = await bob.call(listApps, { query: { limit: 3, cursor } })
    expect([...first.data, ...second.data].map(({ name }) => name).join('')).toBe('EDCBA')
    expect(second.cursorPagination).toEqual({ nextCursor: null, hasMore: false })
    const third = await bob.call(listApps, { query: { limit: 2, offset: 3 } })
    expect(third.data.map(({ name }) => name).join('')).toBe('CB')
    expect(third.pagination).toMatchObject({ total: 6, offset: 3, limit: 2 })
  })
})

describe('a package', () => {
  const refusal = (offer: Parameters<typeof offerApp>[1]) =>
    offerApp(alice, offer).then(
      () => 'offered',
      (error: { status: number; code: string; details?: { reason?: string; path?: string } }) =>
        `${error.status} ${error.details?.reason} ${error.details?.path ?? ''}`.trim(),
    )
  const manifest = (text: string) =>
    zipArchive([
      { path: 'app.json', bytes: text },
      { path: 'index.html', bytes: 'x' },
    ])
  const plain = { id: 'a', name: 'Notes', version: '1.0.0', entry: 'index.html' }
  const json = JSON.stringify(plain)
  const twice = ['crdt', 'crdt']
  const turned = 'gpj.\u202eexe'

  test.each<[string, string, Parameters<typeof offerApp>[1]]>([
    ['no archive', '400 not-a-zip', { bytes: Buffer.from('hello') }],
    ['no manifest', '400 manifest-missing', { bytes: zipArchive([{ path: 'x/app.json' }]) }],
    [
      'a large manifest',
      '400 manifest-too-large',
      { manifest: { more: randomBytes(50_000).toString('base64') } },
    ],
    ['no JSON', '400 manifest-not-json', { bytes: manifest('{') }],
    ['a byte order mark', '400 manifest-not-json', { bytes: manifest(`\ufeff${json}`) }],
    ['a member twice', '400 manifest-not-json', { bytes: manifest(`{"id":"b",${json.slice(1)}`) }],
    ['a prototype', '400 manifest-not-json', { bytes: manifest(`{"__proto__":{},${json.slice(1)}`) }],
    ['a bad id', '400 manifest-invalid /id', { manifest: { id: 'A b' } }],
    ['a bad entry', '400 manifest-invalid /entry', { manifest: { entry: 'main.js' } }],
    ['unknown rights', '400 manifest-invalid /capabilities/0', { manifest: { capabilities: ['disk'] } }],
    ['no page', '400 entry-missing no.html', { manifest: { entry: 'no.html' } }],
    ['no icon', '400 icon-missing no.png', { manifest: { icon: 'no.png' } }],
    ['another name', '400 manifest-differs', { bytes: appPackage({ name: 'Other' }) }],
    ['another version', '400 manifest-differs', { bytes: appPackage({ version: '1.0.1' }) }],
    ['a path of another system', '400 bad-path a\\b', { entries: [{ path: 'a\\b' }] }],
    ['decomposed letters', '400 bad-path Zoe\u0308', { entries: [{ path: 'Zoe\u0308' }] }],
    ['paths that differ by case', '400 duplicate-path MAIN.js', { entries: [{ path: 'MAIN.js' }] }],
    ['a manifest in capitals', '400 duplicate-path App.json', { entries: [{ path: 'App.json' }] }],
    [
      'a manifest named after a byte order mark',
      '400 manifest-missing',
      { bytes: zipArchive([{ path: '\ufeffapp.json', bytes: json }]) },
    ],
    ['a capability twice', '400 manifest-invalid /capabilities', { manifest: { capabilities: twice } }],
    [
      'a language that is none',
      '400 manifest-invalid /titles/de_AT',
      { manifest: { titles: { de_AT: 'x' } } },
    ],
    ['a title of nothing', '400 manifest-invalid /titles/de', { manifest: { titles: { de: '\u200b' } } }],
    ['a title turned around', '400 manifest-invalid /titles/en', { manifest: { titles: { en: turned } } }],
    ['a title of two lines', '400 manifest-invalid /titles/en', { manifest: { titles: { en: 'a\nb' } } }],
    [
      'a description of nothing',
      '400 manifest-invalid /description',
      { manifest: { description: ' \u2800' } },
    ],
    [
      'a description turned around',
      '400 manifest-invalid /descriptions/en',
      { manifest: { descriptions: { de: 'a', en: turned } } },
    ],
    ['a name turned around', '400 manifest-invalid /name', { name: turned }],
    ['file types of anything', '400 manifest-invalid /fileTypes/0', { manifest: { fileTypes: ['*/*'] } }],
    ['another checksum', '400 damaged x', { entries: [{ path: 'x', bytes: 'x', crc: 1 }] }],
    ['an archive in it', '400 nested-archive x/y', { entries: [{ path: 'x/y', bytes: appPackage() }] }],
  ])('is not offered with %s', async (_, expected, offer) => {
    expect(await refusal(offer)).toBe(expected)
  })

  test('is offered with a name and a version that can be addressed', async () => {
    for (const content of [{ name: 'a/b' }, { name: '..' }, { name: 'a\u0007' }, { version: '1.0' }])
      expect(await refusal({ content })).toBe('400 undefined')
    expect(await refusal({ fileId: `b1~${'A'.repeat(43)}` as FileId })).toBe('404 undefined')
  })

  test('says why its manifest is none', async () => {
    const issues = [{ path: '/id', message: expect.stringContaining('small letters, digits and hyphens') }]
    await expect(offerApp(alice, { manifest: { id: 'A b' } })).rejects.toMatchObject({ details: { issues } })
    const long = { titles: { [`${'x'.repeat(10_000)}\ud800`]: 'x' } }
    const error = await offerApp(alice, { manifest: long }).catch(({ details }) => details)
    expect(JSON.stringify(error).length).toBeLessThan(1_000)
  })

  test('says what else its offer and the installed app show, whatever the publisher says', async () => {
    const said = {
      titles: { de: 'Notizen', ar: 'ملاحظات' },
      descriptions: { de: 'Für alles,\nwas zu notieren ist.', he: 'מחברת\u200f!' },
      fileTypes: ['text/*'],
      capabilities: ['crdt', 'files:read'],
    }
    const other = { titles: { en: 'Bank' }, fileTypes: ['image/*'], capabilities: ['rtdb'], more: 1 }
    const manifest = { ...said, unknown: true }
    const entries = [{ path: '__MACOSX/._index.html', bytes: 'x' }]
    const { actionId } = await offerApp(alice, { manifest, entries, content: other })
    const shown = async (id: ActionId) => (await alice.call(getAction, { params: { actionId: id } })).data
    const named = { name: 'Notes', version: '1.0.0', more: 1 }
    expect((await shown(actionId)).content).toEqual({ ...named, ...said })
    const found = await catalogue(bob, { search: 'notieren' })
    expect(found).toMatchObject([{ ...said, actionId }])
    expect(await install(bob, actionId)).toMatchObject(said)
    const plainly = await offerApp(alice, { version: '1.0.1', content: other })
    const content = { ...named, version: '1.0.1', capabilities: [] }
    expect((await shown(plainly.actionId)).content).toEqual(content)
    const app = await install(bob, plainly.actionId)
    for (const member of ['titles', 'descriptions', 'fileTypes']) expect(app).not.toHaveProperty(member)
  })

  test('is inflated to its end before it is offered', async () => {
    const entries = [{ path: 'x', bytes: 'x'.repeat(99), crc: 1 }]
    expect(await refusal({ entries })).toBe('400 damaged x')
  })

  test('whose bytes have changed since is not installed', async () => {
    const bytes = randomBytes(9_000)
    const { actionId } = await offerApp(alice, { entries: [{ path: 'x', bytes, method: 0 }] })
    const { services, features } = server.running
    const tenant = await features.identity.tenants.find(publisher as IdTag)
    const dir = join(services.config.dataDir, 'blobs', `${tenant?.tenantId}`)
    const [blob = ''] = (await readdir(dir, { recursive: true })).filter((path) => path.length > 60)
    const stored = await readFile(join(dir, blob))
    stored[stored.indexOf(bytes)]! ^= 1
    await writeFile(join(dir, blob), stored)
    await expect(install(bob, actionId)).rejects.toMatchObject({
      code: 'E-UNAVAILABLE',
      status: 503,
    })
    expect(await installed()).toEqual([])
    expect(await used()).toBe(0)
  })
})

describe('a file of an app', () => {
  const noise = randomBytes(200_000)
  const serve = async () => {
    const { actionId, fileId } = await offerApp(alice, {
      entries: [
        { path: 'docs/index.html', bytes: 'docs' },
        { path: 'Zoë.txt', bytes: 'Zoë' },
        { path: 'film.mp4', bytes: noise, method: 0 },
        { path: 'noise.bin', bytes: noise },
        { path: 'empty.css' },
        { path: '100% + a#b?c.txt', bytes: 'odd' },
      ],
    })
    await install(bob, actionId)
    return fileId
  }

  test('is public, and nothing but itself', async () => {
    const fileId = await serve()
    const answer = await content(fileId, 'index.html', reader, { headers: { origin: 'null' } })
    const { headers } = answer
    const own = `${reader}:*/api/files/${fileId}/content/`
    expect(headers.get('content-security-policy')).toBe(
      `sandbox allow-scripts allow-forms; default-src 'none'; script-src ${own} 'wasm-unsafe-eval'; style-src ${own} 'unsafe-inline'; img-src ${own} data: blob:; font-src ${own} data:; media-src ${own} data: blob:; connect-src ${own}; worker-src blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; webrtc 'block'`,
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-resource-policy': 'cross-origin',
      'permissions-policy': expect.stringContaining('camera=(), '),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-ratelimit-limit': expect.any(String),
    })
    expect(headers.has('set-cookie')).toBe(false)
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('has the bytes and the type that it was packed with', async () => {
    const fileId = await serve()
    const get = async (path: string) => {
      const answer = await content(fileId, path)
      return [answer.headers.get('content-type'), Buffer.from(await answer.arrayBuffer())] as const
    }
    expect(await get('noise.bin')).toEqual(['application/octet-stream', noise])
    expect(await get('film.mp4')).toEqual(['video/mp4', noise])
    expect(await get('empty.css')).toEqual(['text/css; charset=utf-8', Buffer.alloc(0)])
    for (const path of ['', 'index.html', '?v=1'])
      expect((await get(path))[1].toString()).toContain('<!doctype html>')
    for (const path of ['docs', 'docs/', 'docs/index.html'])
      expect((await get(path))[1].toString()).toBe('docs')
    expect((await get(encodeURIComponent('100% + a#b?c.txt')))[1].toString()).toBe('odd')
    for (const path of ['Zo%C3%AB.txt', 'Zoe%CC%88.txt']) expect((await get(path))[1].toString()).toBe('Zoë')
  })

  test('is unknown at tenants that have not installed it, and so is what is not in it', async () => {
    const fileId = await serve()
    const { code } = (
      (await (await content(`b1~${'A'.repeat(43)}`, 'main.js')).json()) as { error: { code: string } }
    ).error
    expect(code).toBe('E-FILE-NOTFOUND')
    const unknown: [string, string?][] = [
      ['main.js', publisher],
      ['main.js', 'home.localhost'],
      ['none.js'],
      ['..%2fmain.js'],
      ['docs%5cindex.html'],
      ['main.js/'],
      ['constructor'],
      ['__proto__'],
      ['film.mp4/index.html'],
    ]
    for (const [path, host = reader] of unknown) {
      const answer = await content(fileId, path, host)
      const body = (await answer.json()) as { error: { code: string } }
      expect([answer.status, body.error.code], path).toEqual([404, code])
    }
  })

  test('is asked for in parts, and only where it changed', async () => {
    const fileId = await serve()
    const etag = (await content(fileId, 'film.mp4', reader, { method: 'HEAD' })).headers.get('etag') ?? ''
    const ask = (headers: Record<string, string>, path = 'film.mp4', method = 'GET') =>
      content(fileId, path, reader, { method, headers })
    const part = await ask({ range: 'bytes=100-199' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/200000'])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(noise.subarray(100, 200))
    expect((await ask({ range: 'bytes=200000-' })).status).toBe(416)
    expect((await ask({ range: 'bytes=200000-' }, 'film.mp4', 'HEAD')).status).toBe(200)
    expect((await ask({ 'if-match': '"other"' })).status).toBe(412)
    expect((await ask({ 'if-match': etag })).status).toBe(200)
    expect((await ask({ range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200)
    // Deflated bytes have no parts that could be had alone.
    expect((await ask({ range: 'bytes=0-9' }, 'noise.bin')).status).toBe(200)
    for (const path of ['film.mp4', 'noise.bin', 'docs/'])
      expect((await ask({ 'if-none-match': etag }, path)).status).toBe(304)
    const head = await ask({}, 'noise.bin', 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '200000'])
    expect((await ask({}, 'main.js', 'POST')).status).toBe(405)
  })

  test('whose bytes have changed breaks off before its end', async () => {
    const fileId = await serve()
    const { services, features } = server.running
    const tenant = await features.identity.tenants.find(reader as IdTag)
    const dir = join(services.config.dataDir, 'blobs', `${tenant?.tenantId}`)
    const [name = ''] = (await readdir(dir, { recursive: true })).filter((path) => path.length > 60)
    const bytes = await readFile(join(dir, name))
    for (const path of ['film.mp4', 'noise.bin']) {
      // In the middle of the data of both, which are much longer than the rest.
      const changed = Buffer.from(bytes)
      for (const at of [0.25, 0.75]) changed[Math.floor(bytes.length * at)]! ^= 1
      await writeFile(join(dir, name), changed)
      await expect(content(fileId, path).then((answer) => answer.arrayBuffer())).rejects.toThrow()
    }
  })

  test.each([
    [{ 'service-worker': 'script' }, 404],
    [{ 'sec-fetch-dest': 'document' }, 404],
    [{ 'sec-fetch-dest': 'iframe' }, 200],
  ])('is neither a service worker nor the page of a tab: with %j %i', async (headers, status) => {
    const fileId = await serve()
    const asked = await content(fileId, 'index.html', reader, { headers })
    expect(asked.status).toBe(status)
    if (status === 200) expect(asked.headers.get('vary')).toContain('sec-fetch-dest')
  })

  test('takes a bearer and looks at none, unless it is bad', async () => {
    const fileId = await serve()
    const by = (token: string) =>
      content(fileId, 'main.js', reader, { headers: { authorization: `Bearer ${token}` } })
    expect((await by(await server.signIn(reader))).status).toBe(200)
    expect((await by('made-up')).status).toBe(401)
  })
})
