import { readFile } from 'node:fs/promises'
import {
  createAction,
  createFile,
  createShare,
  downloadFile,
  getFileDescriptor,
  getFileMetadata,
  listActions,
  listFiles,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveFile } from '#harness/foreign-file.ts'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const photo = new URL('../fixtures/images/photo.jpg', import.meta.url)
const dora = 'dora.foreign.localhost'

describe('an attachment of a server that', () => {
  let network: TestNetwork
  let foreign: ForeignServer
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(1)
    foreign = await network.addForeign(dora)
    ;({ bob } = await network.cast('bob'))
    await network.server(0).relate(bob.idTag, dora, { isFollowing: true })
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const serve = (content: Buffer, sent = content, described: Record<string, unknown> = {}) =>
    serveFile(foreign, { content, sent, described })
  const send = async (fileId: string) => {
    const members = {
      audienceTag: bob.idTag,
      visibility: 'P',
      content: { text: fileId },
      attachments: [fileId],
    }
    expect((await network.server(0).deliver(foreign.sign(dora, members))).status).toBe(200)
    await network.settle()
    return { params: { fileId: fileId as never } }
  }

  test('tells the truth is fetched with the reader’s own name, and gets variants made here', async () => {
    const content = await readFile(photo)
    const request = await send(serve(content))
    const { data } = await bob.client.call(getFileDescriptor, request)
    expect(data.variants.map(({ id }) => id)).toContain('tn')
    const { data: answer } = await bob.client.call(downloadFile, request)
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
    const fetches = foreign.requests.filter(({ url }) => url.startsWith('/api/files/'))
    expect(fetches.every(({ headers }) => headers.authorization?.startsWith('Bearer '))).toBe(true)
  })

  const content = Buffer.from('the true content of the file')
  test.each([
    ['sends other bytes', () => serve(content, Buffer.from('some other content of the file'))],
    ['sends fewer bytes', () => serve(content, content.subarray(0, 5))],
    ['describes another file', () => serve(content, content, { sha256: 'A'.repeat(43) })],
  ])('%s is not shown to anybody, nor what it came with, and nothing of it stays', async (_, prepare) => {
    const server = network.server(0)
    const before = await server.countRows('files', 'blobs')
    const request = await send(prepare())
    expect(foreign.requests.at(-1)?.url).toContain(request.params.fileId)
    await expect(bob.client.call(downloadFile, request)).rejects.toMatchObject({ status: 404 })
    expect(await server.countRows('files', 'blobs')).toEqual(before)
    expect(await feedOf(bob)).not.toContain(request.params.fileId)
  })

  const untilSecs = (secs: number) => {
    const expiresAt = Math.floor(network.clock.now() / 1000) + secs
    return { expiresAt, exp: expiresAt }
  }
  const say = (fileId: string, members: object = {}) =>
    foreign.sign(dora, {
      ...{ audienceTag: bob.idTag, visibility: 'P', content: { text: 'Look' }, attachments: [fileId] },
      ...members,
    })
  const give = async (token: string) => {
    const { status, body } = await network.server(0).deliver(token)
    expect(status).toBe(200)
    return body.data?.actionId as string
  }
  const takeBack = (actionId: string) =>
    foreign.sign(dora, { subType: 'DEL', subject: actionId, audienceTag: bob.idTag })
  const isHere = async (fileId: string) => {
    await network.settle()
    const { data } = await bob.client.call(listFiles, {})
    return data.some((file) => file.fileId === fileId)
  }

  test('deletes what it came with takes the copy away, where nothing else of its owner shows it', async () => {
    const server = network.server(0)
    const before = await server.countRows('files')
    const fileId = serve(content)
    const [first, second] = [await give(say(fileId)), await give(say(fileId))]
    expect(await isHere(fileId)).toBe(true)
    await give(takeBack(first))
    expect(await isHere(fileId)).toBe(true)
    // What another issuer says of the file shows it to nobody, and so keeps no copy.
    const eve = 'eve.foreign.localhost'
    const elsewhere = await network.addForeign(eve)
    await server.relate(bob.idTag, eve, { isFollowing: true })
    const members = { visibility: 'P', content: { text: 'Mine' }, attachments: [fileId] }
    await give(elsewhere.sign(eve, members))
    await give(takeBack(second))
    expect(await isHere(fileId)).toBe(false)
    expect(await server.countRows('files')).toEqual(before)
  })

  test('deletes what it came with while it is fetched leaves no copy', async () => {
    const fileId = serve(content)
    const answer = foreign.onRequest
    const token = say(fileId)
    const { actionId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    foreign.onRequest = async (request, response) => {
      if (!request.url?.endsWith('/descriptor')) await give(takeBack(actionId))
      await answer(request, response)
    }
    await give(token)
    expect(await isHere(fileId)).toBe(false)
  })

  test('says until when it is shown takes the copy away then', async () => {
    const fileId = serve(content)
    await give(say(fileId, { ...untilSecs(60) }))
    expect(await isHere(fileId)).toBe(true)
    await network.pass(180_000, 60_000)
    bob = { ...bob, client: await network.server(0).as(bob.idTag) }
    expect(await isHere(fileId)).toBe(false)
  })

  test('revokes the key that signed what it came with takes the copy away', async () => {
    const fileId = serve(content)
    await give(say(fileId))
    expect(await isHere(fileId)).toBe(true)
    foreign.revoke(dora, Math.floor(network.clock.now() / 1000))
    await give(foreign.sign(dora, { audienceTag: bob.idTag, visibility: 'P', content: { text: 'New key' } }))
    expect(await isHere(fileId)).toBe(false)
  })

  test('names somebody’s private file opens it for nobody, also where the file shares others', async () => {
    await network.server(0).relate(bob.idTag, dora, { connection: 'connected', isFollower: true })
    const make = async (fileTp: 'CRDT' | 'FLDR') =>
      (await bob.client.call(createFile, { body: { fileTp } })).data.fileId
    const [plan, box, other] = [await make('CRDT'), await make('FLDR'), await make('CRDT')]
    const params = { preset: 'raw', fileName: 'note.txt' } as const
    const { data: note } = await bob.client.upload(uploadFile, { params, body: new Blob(['private']) })
    const toReaders = { subjectType: 'F', subjectId: plan, permission: 'W' } as const
    await bob.client.call(createShare, { params: { fileId: other as never }, body: toReaders })
    const attachments = [plan, box, note.fileId]
    const { data: post } = await bob.client.call(createAction, {
      body: { type: 'POST', content: { text: 'Mine' }, visibility: 'P' },
    })
    const words = { visibility: 'P', content: { text: 'Look' }, attachments }
    for (const members of [
      { ...words, audienceTag: bob.idTag },
      words,
      { ...words, type: 'CMNT', parentId: post.actionId, rootId: post.actionId },
      { ...words, type: 'SHRE', subject: bob.idTag, audienceTag: bob.idTag },
    ])
      await network.server(0).deliver(foreign.sign(dora, members))
    await network.settle()
    const guest = network.server(0).client(bob.idTag)
    for (const fileId of [...attachments, other])
      await expect(
        guest.call(getFileMetadata, { params: { fileId: fileId as never } }),
      ).rejects.toMatchObject({ status: 404 })
    const listed = (await guest.call(listFiles, {})).data.map(({ fileId }) => fileId)
    for (const fileId of [...attachments, other]) expect(listed).not.toContain(fileId)
  })
})

describe('pictures of another server', () => {
  test('arrive with their alternative texts, and with the sizes that were measured here', async () => {
    await using network = await TestNetwork.start(2)
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const params = { preset: 'default', fileName: 'photo.jpg' } as const
    const body = new Blob([await readFile(photo)])
    const { fileId } = (await alice.client.upload(uploadFile, { params, body })).data
    await network.settle()
    const content = { text: 'Look', alt: { [fileId]: 'A lake between hills' } }
    const { actionId } = await post(network, alice, 'Look', { content, attachments: [fileId] })
    const shownTo = async ({ client }: Person) =>
      (await client.call(listActions, { query: { actionId: [actionId] } })).data[0]
    const [there, here] = [await shownTo(alice), await shownTo(bob)]
    expect(here?.files).toEqual(there?.files)
    expect(here?.files).toMatchObject([
      {
        fileId,
        contentType: 'image/jpeg',
        alt: 'A lake between hills',
        width: expect.any(Number),
        height: expect.any(Number),
        thumbhash: expect.any(String),
      },
    ])
    expect(here?.content).toEqual(content)
  })
})
