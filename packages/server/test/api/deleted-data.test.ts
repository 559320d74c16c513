import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import {
  createAction,
  createFile,
  createReference,
  deleteAction,
  deleteFile,
  type FileId,
  getAccessToken,
  type IdTag,
  type NewAction,
  uploadFile,
} from '@kith/protocol'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportTenant } from '#features/transfer/index.ts'
import { DatabaseDevice } from '#harness/database-client.ts'
import { StockClient } from '#harness/document-client.ts'
import { findText, says } from '#harness/find-text.ts'
import { TestServer } from '#harness/test-server.ts'

const aliceTag = 'alice.localhost' as IdTag
const bobTag = 'bob.localhost' as IdTag
const photo = await readFile(new URL('../fixtures/images/photo.jpg', import.meta.url))
const nowSecs = () => Math.floor(server.clock.now() / 1000)

let server: TestServer
let folder: string
let alice: Client
let bob: Client

beforeAll(async () => {
  server = await TestServer.start()
  folder = await mkdtemp(join(tmpdir(), 'kith-deleted-'))
  for (const idTag of [aliceTag, bobTag]) await server.createTenant(idTag)
  await server.relate(aliceTag, bobTag, { connection: 'connected', isFollowing: true, isFollower: true })
  await server.relate(bobTag, aliceTag, { connection: 'connected', isFollowing: true, isFollower: true })
  alice = await server.as(aliceTag)
  bob = await server.as(bobTag)
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

async function issue(client: Client, body: NewAction): Promise<string> {
  const { actionId } = (await client.call(createAction, { body: { ...body, idempotencyKey: randomUUID() } }))
    .data
  await server.settle()
  return actionId
}

const post = (text: string, more: Partial<NewAction> = {}): NewAction => ({
  type: 'POST',
  visibility: 'P',
  content: { text },
  ...more,
})

const remove = async (client: Client, actionId: string) =>
  void (await client.call(deleteAction, { params: { actionId: actionId as never } }))

async function upload(body: Uint8Array<ArrayBuffer>, fileName: string, type: string): Promise<FileId> {
  const params = { preset: 'default', fileName } as const
  const { fileId } = (await alice.upload(uploadFile, { params, body: new Blob([body], { type }) })).data
  await server.settle()
  return fileId as FileId
}

const trash = async (fileId: FileId) => void (await alice.call(deleteFile, { params: { fileId }, query: {} }))

async function removeForGood(fileId: FileId): Promise<void> {
  await trash(fileId)
  await alice.call(deleteFile, { params: { fileId }, query: { permanent: true } })
}

const tokenOf = async (client: Client) => (await client.call(getAccessToken, {})).data.token
const utf8 = (text: string) => new TextEncoder().encode(text)

/** Says a word at alice's, and answers how that is deleted. */
type Saying = (word: string) => Promise<() => Promise<unknown>>

const sayings: Readonly<Record<string, Saying>> = {
  'a post with a picture': async (word) => {
    // Behind the end of the picture, where the original keeps it.
    const fileId = await upload(Buffer.concat([photo, utf8(word)]), `${word}.jpg`, 'image/jpeg')
    const actionId = await issue(alice, post(`About ${word} #${word}`, { attachments: [fileId] }))
    return async () => {
      await remove(alice, actionId)
      await removeForGood(fileId)
    }
  },
  'a draft': async (word) => {
    const actionId = await issue(alice, post(word, { draft: true }))
    return () => remove(alice, actionId)
  },
  'a scheduled post': async (word) => {
    const actionId = await issue(alice, post(word, { publishAt: nowSecs() + 86_400 }))
    return () => remove(alice, actionId)
  },
  'a comment of another': async (word) => {
    const parentId = await issue(alice, post('root'))
    const actionId = await issue(bob, { type: 'CMNT', parentId, content: { text: word } })
    return () => remove(alice, actionId)
  },
  'a message': async (word) => {
    const actionId = await issue(alice, { type: 'MSG', audienceTag: bobTag, content: { text: word } })
    return () => remove(alice, actionId)
  },
  'a message of another': async (word) => {
    const actionId = await issue(bob, { type: 'MSG', audienceTag: aliceTag, content: { text: word } })
    return () => remove(bob, actionId)
  },
  'a request that another took the place of': async (word) => {
    const request = { type: 'CONN' as const, audienceTag: 'carol.localhost' as IdTag }
    await server.createTenant('carol.localhost')
    await issue(alice, { ...request, content: { message: word } })
    return () => issue(alice, { ...request, subType: 'DEL' })
  },
  'what has expired': async (word) => {
    await issue(alice, post(word, { expiresAt: nowSecs() + 60 }))
    return async () => server.clock.advance(120_000)
  },
  'a link that has expired': async (word) => {
    const resourceId = await upload(utf8('shared'), 'shared.txt', 'text/plain')
    const about = { type: 'share.file', resourceId, accessLevel: 'read' } as const
    await alice.call(createReference, { body: { ...about, description: word, expiresAt: nowSecs() + 60 } })
    return async () => server.clock.advance(120_000)
  },
  'a file': async (word) => {
    const fileId = await upload(utf8(`bytes of ${word}`), `${word}.txt`, 'text/plain')
    return () => removeForGood(fileId)
  },
  'a document': async (word) => {
    const { fileId } = (await alice.call(createFile, { body: { fileTp: 'CRDT', fileName: word } })).data
    const at = { port: server.running.port, host: aliceTag }
    await using client = await StockClient.open(at, fileId, { token: await tokenOf(alice) }).synced()
    client.text.insert(0, word)
    await expect.poll(() => findText(server.db, tenantId(), word)).toContain('crdt_updates.bytes')
    return () => removeForGood(fileId as FileId)
  },
  'a database': async (word) => {
    const { fileId } = (await alice.call(createFile, { body: { fileTp: 'RTDB', fileName: word } })).data
    await using device = await DatabaseDevice.connect(
      server,
      { idTag: aliceTag, fileId },
      await tokenOf(alice),
    )
    await device.write('replace', 'notes/1', { word })
    return () => removeForGood(fileId as FileId)
  },
  'a row of a database': async (word) => {
    const { fileId } = (await alice.call(createFile, { body: { fileTp: 'RTDB' } })).data
    const place = { idTag: aliceTag, fileId }
    const connect = async () => DatabaseDevice.connect(server, place, await tokenOf(alice))
    await using device = await connect()
    await device.write('replace', 'notes/1', { word })
    return async () => {
      await using again = await connect()
      await again.write('delete', 'notes/1')
    }
  },
}

let hosted: Awaited<ReturnType<typeof findAlice>>
const tenantId = () => hosted.tenantId

async function findAlice() {
  const found = await server.running.features.identity.tenants.find(aliceTag)
  if (!found) throw new Error('alice is missing')
  return found
}

let archives = 0

/** Those of the words that stand anywhere in an archive of alice, by the files of it in which they stand. */
async function foundInArchive(words: ReadonlyMap<string, string>): Promise<Record<string, string[]>> {
  archives += 1
  const path = join(folder, `${archives}.tar`)
  await exportTenant({ ...server.running.services, version: '1.0.0' }, hosted, { path, withKeys: true })
  const entries = await unpackTar(await readFile(path))
  const lines = entries.filter(({ header }) => header.name.startsWith('rows/blobs/')).map(({ data }) => data)
  const counted = Buffer.concat(lines.map((data) => data ?? new Uint8Array()))
    .toString()
    .match(/[0-9a-f]{64}/g)
  const held = entries.flatMap(({ header }) => /^blobs\/(.*)/.exec(header.name)?.[1] ?? [])
  expect(held.sort()).toEqual(counted?.sort())
  const found: Record<string, string[]> = {}
  for (const [what, word] of words) {
    const places = entries.filter(({ header, data }) => header.name.includes(word) || says(data, word))
    if (places.length > 0) found[what] = places.map(({ header }) => header.name)
  }
  return found
}

const traces = async (word: string) =>
  // The search index of SQLite is one for all tenants, and bob keeps his comment.
  (await findText(server.db, tenantId(), word)).filter((place) => !place.startsWith('action_texts_'))

async function tracesOf(words: ReadonlyMap<string, string>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [what, word] of words) {
    const places = await traces(word)
    if (places.length > 0) found[what] = places
  }
  return found
}

test('what was deleted is in no archive from then on, and in no row once the sweeps have passed', async () => {
  hosted = await findAlice()
  const word = () => `w${randomUUID().replaceAll('-', '')}`
  const words = new Map(Object.keys(sayings).map((what) => [what, word()]))
  const endings: (() => Promise<unknown>)[] = []
  for (const [what, say] of Object.entries(sayings)) endings.push(await say(words.get(what) ?? ''))
  const inTrash = word()
  await trash(await upload(utf8(inTrash), 'trashed.txt', 'text/plain'))
  const all = new Map([...words, ['the trash', inTrash] as const])
  expect(Object.keys(await foundInArchive(all))).toEqual([...all.keys()])
  for (const end of endings) await end()
  await server.running.features.realtime.settled()
  await server.settle()
  expect(await foundInArchive(all)).toEqual({ 'the trash': [expect.stringMatching(/^blobs\//)] })
  // What goes in portions goes a minute later; a token that might still have to be sent after three weeks, a link after
  // thirty days.
  const left = await tracesOf(words)
  expect(left).toEqual({
    'a request that another took the place of': ['actions.token'],
    'a link that has expired': ['refs.description'],
    'a document': expect.any(Array),
    'a database': expect.any(Array),
    'a row of a database': expect.any(Array),
  })
  for (let day = 0; day < 32; day += 1) {
    server.clock.advance(86_400_000)
    await server.settle()
  }
  expect(await tracesOf(words)).toEqual({})
})
