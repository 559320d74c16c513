import { readFile } from 'node:fs/promises'
import type { Client } from '@kith/client'
import {
  type Action,
  type ActionId,
  createAction,
  deleteFile,
  type FileId,
  getAccessToken,
  getAction,
  getFileMetadata,
  type IdTag,
  listActions,
  listFiles,
  type NewAction,
  publishAction,
  restoreFile,
  updateAction,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost' as IdTag
const photo = new URL('../fixtures/images/photo.jpg', import.meta.url)

let server: TestServer
let owner: Client
let picture: FileId
let note: FileId
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(alice)
  owner = await server.as(alice)
  picture = await upload('photo.jpg', new Blob([await readFile(photo)]), 'default')
  note = await upload('note.txt', new Blob(['private'], { type: 'text/plain' }), 'raw')
  await server.settle()
})
afterAll(() => server.stop())

async function upload(fileName: string, body: Blob, preset: 'default' | 'raw'): Promise<FileId> {
  return (await owner.upload(uploadFile, { params: { preset, fileName }, body })).data.fileId as FileId
}
const make = async (body: Partial<NewAction>) => {
  const given = { type: 'POST' as const, content: { text: 'Look' }, visibility: 'P' as const, ...body }
  const { data } = await owner.call(createAction, { body: given })
  await server.settle()
  return data.actionId as ActionId
}
const read = async (by: Client, actionId: ActionId): Promise<Action> =>
  (await by.call(getAction, { params: { actionId } })).data
const filesOf = async (by: Client, actionId: ActionId) => (await read(by, actionId)).files

const shownNote = () => ({ fileId: note, contentType: 'text/plain', fileName: 'note.txt', size: 7 })

describe('the files of an action', () => {
  test('stand in lists and single reads, as metadata has them, in the order of its attachments', async () => {
    const { data } = await owner.call(getFileMetadata, { params: { fileId: picture } })
    const { width, height, thumbhash, contentType, fileName, size } = data
    expect(thumbhash).toMatch(/^[A-Za-z0-9+/]{6,34}={0,2}$/)
    const [listed] = (await owner.call(listFiles, { query: { contentType: 'image/*' } })).data
    expect(listed).toMatchObject({ width, height, thumbhash })
    const actionId = await make({ attachments: [note, picture] })
    const wanted = [shownNote(), { fileId: picture, contentType, fileName, size, width, height, thumbhash }]
    expect(await filesOf(owner, actionId)).toEqual(wanted)
    const page = await owner.call(listActions, { query: { actionId: [actionId] } })
    expect(page.data.map(({ files }) => files)).toEqual([wanted])
    expect(await filesOf(server.client(alice), actionId)).toEqual(wanted)
  })

  test('come with its event, and are no member where nothing is attached', async () => {
    const { data } = await owner.call(getAccessToken, {})
    await using device = await BusDevice.connect(server, alice, data.token)
    const actionId = await make({ attachments: [note] })
    const [told] = await device.told('ACTION')
    expect(told?.data).toMatchObject({ actionId, files: [shownNote()] })
    expect(await read(owner, await make({}))).not.toHaveProperty('files')
  })

  test('leave out what is in the trash, until it comes back', async () => {
    const fileId = await upload('other.txt', new Blob(['other']), 'raw')
    const actionId = await make({ attachments: [fileId, note] })
    await owner.call(deleteFile, { params: { fileId } })
    expect(await filesOf(owner, actionId)).toEqual([shownNote()])
    expect((await read(owner, actionId)).attachments).toEqual([fileId, note])
    await owner.call(restoreFile, { params: { fileId } })
    expect((await filesOf(owner, actionId))?.map((file) => file.fileId)).toEqual([fileId, note])
  })
})

describe('an alternative text', () => {
  const alt = (text: string) => ({ text: 'Look', alt: { [picture]: text } })

  test('is part of the content, and stands beside its file', async () => {
    for (const text of ['A cat', '', '😀'.repeat(1_500)]) {
      const actionId = await make({ attachments: [picture, note], content: alt(text) })
      const action = await read(owner, actionId)
      expect(action.content).toEqual(alt(text))
      expect(action.files?.map((file) => file.alt)).toEqual([text, undefined])
    }
  })

  test('is refused above 1 500 characters, as another value, and for a file that is not attached', async () => {
    const cases: [Record<string, unknown>, FileId[], string][] = [
      [alt('😀'.repeat(1_501)), [picture], `/content/alt/${picture.replace('~', '~0')}`],
      [{ text: 'Look', alt: { [picture]: 5 } }, [picture], `/content/alt/${picture.replace('~', '~0')}`],
      [{ text: 'Look', alt: ['A cat'] }, [picture], '/content/alt'],
      [alt('A cat'), [note], '/content/alt'],
      [alt('A cat'), [], '/content/alt'],
    ]
    for (const [content, attachments, path] of cases)
      await expect(make({ content, attachments })).rejects.toMatchObject({
        status: 400,
        details: { issues: [expect.objectContaining({ path })] },
      })
  })

  test('stays with a draft and with what is scheduled, and can be changed in a draft', async () => {
    const draft = await make({ attachments: [picture], content: alt('A dog'), draft: true })
    expect((await filesOf(owner, draft))?.[0]?.alt).toBe('A dog')
    await owner.call(updateAction, { params: { actionId: draft }, body: { content: alt('A cat') } })
    const publishAt = Math.floor(server.clock.now() / 1000) + 60
    await owner.call(publishAction, { params: { actionId: draft }, body: { publishAt } })
    expect((await filesOf(owner, draft))?.[0]?.alt).toBe('A cat')
    await owner.call(publishAction, { params: { actionId: draft } })
    expect(await read(owner, draft)).toMatchObject({
      status: 'A',
      content: alt('A cat'),
      files: [{ fileId: picture, alt: 'A cat' }],
    })
  })
})
