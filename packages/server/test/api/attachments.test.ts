import type { Client } from '@kith/client'
import {
  changeFile,
  createAction,
  createApiKey,
  createFile,
  downloadFile,
  type FileId,
  getAccessToken,
  getProxyToken,
  type IdTag,
  type NewAction,
  publishAction,
  updateAction,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost' as IdTag
const bob = 'bob.localhost' as IdTag
const club = 'club.localhost' as IdTag

let server: TestServer
let owner: Client
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(alice)
  await server.createTenant(bob)
  await server.createTenant(club, { type: 'community' })
  await server.relate(club, bob, { role: 'contributor', connection: 'connected' })
  owner = await server.as(alice)
})
afterAll(() => server.stop())

const keyFor = async (scope?: string) => {
  const body = { name: 'a program', ...(scope === undefined ? {} : { scope }) }
  return server.client(alice, (await owner.call(createApiKey, { body })).data.key)
}
const narrowed = async (scope: string) => {
  const { data } = await owner.call(getAccessToken, { query: { scope } })
  return server.client(alice, data.token)
}
const upload = async (by: Client, text = 'private') => {
  const params = { preset: 'raw', fileName: 'note.txt' } as const
  return (await by.upload(uploadFile, { params, body: new Blob([text]) })).data.fileId
}
const posting = (fileId: string, more: Partial<NewAction> = {}): NewAction => ({
  type: 'POST',
  content: { text: 'Look' },
  visibility: 'P',
  attachments: [fileId],
  ...more,
})
const post = (by: Client, fileId: string, more?: Partial<NewAction>) =>
  by.call(createAction, { body: posting(fileId, more) })
const isPublic = async (fileId: string, host: IdTag = alice) =>
  (await server.request(host, `/api/files/${fileId}`)).status === 200

const unknown = { status: 404, code: 'E-FILE-NOTFOUND' }
const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }

describe('so does opening it to others by its visibility:', () => {
  const open = (by: Client, fileId: string, visibility: 'P' | 'V' | 'F' | 'C' | null) =>
    by.call(changeFile, { params: { fileId: fileId as FileId }, body: { visibility } })

  test.each(['write:files', 'write'])('a key for %s opens what was made with it alone', async (scope) => {
    const fileId = await upload(owner)
    for (const by of [await keyFor(scope), await narrowed(scope)])
      for (const visibility of ['P', 'V', 'F', 'C'] as const)
        await expect(open(by, fileId, visibility)).rejects.toMatchObject(forbidden)
    expect(await isPublic(fileId)).toBe(false)
    const key = await keyFor(scope)
    const own = await upload(key)
    await open(key, own, 'P')
    expect(await isPublic(own)).toBe(true)
    // Closing is no giving.
    await open(owner, fileId, 'P')
    await open(key, fileId, null)
    expect(await isPublic(fileId)).toBe(false)
  })

  test('a key that may share files opens any', async () => {
    const fileId = await upload(owner)
    await open(await keyFor('admin:files'), fileId, 'P')
    expect(await isPublic(fileId)).toBe(true)
  })
})

describe('attaching a file gives it to others, and needs a credential that may share files:', () => {
  test.each([
    ['write:actions', unknown],
    ['write:actions read:files', forbidden],
    ['write:actions write:files', forbidden],
    ['write', forbidden],
  ])('a key for %s is none, nor is such a token of the session of the upload', async (scope, failure) => {
    const fileId = await upload(owner)
    for (const by of [await keyFor(scope), await narrowed(scope)]) {
      for (const more of [{}, { draft: true }, { publishAt: 2_000_000_000 }, { visibility: null }])
        await expect(post(by, fileId, more)).rejects.toMatchObject(failure)
      const { data: draft } = await post(by, fileId, { attachments: [], draft: true })
      const change = { params: { actionId: draft.actionId }, body: { attachments: [fileId] } }
      await expect(by.call(updateAction, change)).rejects.toMatchObject(failure)
      // What the owner has attached and not published, no narrower credential publishes.
      await owner.call(updateAction, change)
      for (const body of [{}, { publishAt: 2_000_000_000 }])
        await expect(by.call(publishAction, { ...change, body })).rejects.toMatchObject(failure)
    }
    expect(await isPublic(fileId)).toBe(false)
  })

  test.each([undefined, 'admin', 'admin:files write:actions'])('a key for %s is one', async (scope) => {
    const fileId = await upload(owner)
    await post(await keyFor(scope), fileId)
    expect(await isPublic(fileId)).toBe(true)
  })

  test('a key attaches what it has uploaded or made itself, and what no other has', async () => {
    const [one, other] = [
      await keyFor('write:files write:actions'),
      await keyFor('write:files write:actions'),
    ]
    const fileId = await upload(one)
    await expect(post(other, fileId)).rejects.toMatchObject(forbidden)
    await post(one, fileId)
    expect(await isPublic(fileId)).toBe(true)
    const { data: made } = await one.call(createFile, { body: { fileTp: 'CRDT', fileName: 'plan' } })
    await expect(post(other, made.fileId)).rejects.toMatchObject(forbidden)
    await post(one, made.fileId)
  })

  test('so does a token that is minted of the key', async () => {
    const { data } = await owner.call(createApiKey, {
      body: { name: 'a', scope: 'write:files write:actions' },
    })
    const fileId = await upload(server.client(alice, data.key))
    const minted = await server.client(alice).call(getAccessToken, { query: { apiKey: data.key } })
    await post(server.client(alice, minted.data.token), fileId)
    expect(await isPublic(fileId)).toBe(true)
  })

  test('what was scheduled while it was allowed is published', async () => {
    const fileId = await upload(owner)
    const soon = Math.floor(server.clock.now() / 1000) + 60
    await post(owner, fileId, { publishAt: soon })
    expect(await isPublic(fileId)).toBe(false)
    server.clock.advance(61_000)
    await server.settle()
    expect(await isPublic(fileId)).toBe(true)
  })

  test('a member of a community attaches what is theirs', async () => {
    const { data: visit } = await (await server.as(bob)).call(getProxyToken, { query: { target: club } })
    const member = server.client(club, visit.token)
    const [fileId, other] = [await upload(member), await upload(await server.as(club))]
    await expect(post(member, other)).rejects.toMatchObject(unknown)
    await post(member, fileId)
    expect(await isPublic(fileId, club)).toBe(true)
    const exchanged = await server.client(club).call(getAccessToken, { query: { token: visit.token } })
    const scope = 'write:actions read:files'
    const narrow = await server.client(club, exchanged.data.token).call(getAccessToken, { query: { scope } })
    const hidden = await upload(member)
    await expect(post(server.client(club, narrow.data.token), hidden)).rejects.toMatchObject(forbidden)
    const { data: bytes } = await member.call(downloadFile, { params: { fileId: hidden } })
    expect(await bytes.text()).toBe('private')
  })
})
