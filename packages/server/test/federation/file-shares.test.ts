import {
  acceptAction,
  changeFile,
  createAction,
  createFile,
  createReference,
  createShare,
  deleteAction,
  deleteShare,
  downloadFile,
  downloadFolder,
  type FileId,
  getAccessToken,
  getFileMetadata,
  getProxyToken,
  listActions,
  listFileShares,
  listFiles,
  rejectAction,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { unzip } from '#harness/unzip.ts'

describe('a file that is shared with somebody on another server', () => {
  let network: TestNetwork
  let alice: Person
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(2)
    ;({ alice, bob } = await network.cast('alice', 'bob'))
  })
  afterAll(() => network[Symbol.asyncDispose]())

  async function upload(text: string): Promise<FileId> {
    const params = { preset: 'raw', fileName: `${text}.txt` } as const
    const body = new TextEncoder().encode(text)
    const { data } = await alice.client.upload(uploadFile, { params, body }, { contentType: 'text/plain' })
    return data.fileId as FileId
  }
  async function share(fileId: FileId, permission: 'R' | 'W' | 'A' = 'R') {
    const body = { subjectType: 'U', subjectId: bob.idTag, permission } as const
    const { data } = await alice.client.call(createShare, { params: { fileId }, body })
    await network.settle()
    return data
  }
  /** Bob at home, and Bob visiting Alice's server with a proxy token. */
  const offers = async (fileId: FileId) => {
    const { data } = await bob.client.call(listActions, { query: { type: ['FSHR'], subject: fileId } })
    return data.map(({ status, actionId }) => ({ status, actionId: actionId as never }))
  }
  async function visiting() {
    const { data } = await bob.client.call(getProxyToken, { query: { target: alice.idTag } })
    return network.server(0).client(alice.idTag, data.token)
  }
  const atBobs = async () => (await bob.client.call(listFiles, {})).data.map(({ fileName }) => fileName)

  test('is offered, accepted, fetched, and read on both servers; then it is withdrawn', async () => {
    const fileId = await upload('plan')
    const shared = await share(fileId)
    const [offer] = await offers(fileId)
    expect(offer?.status).toBe('C')
    expect(await atBobs()).toEqual([])
    const visitor = await visiting()
    expect((await visitor.call(getFileMetadata, { params: { fileId } })).data.fileName).toBe('plan.txt')
    await bob.client.call(acceptAction, { params: { actionId: offer?.actionId as never } })
    await network.settle()
    expect(await atBobs()).toEqual(['plan.txt'])
    const { data } = await bob.client.call(downloadFile, { params: { fileId } })
    expect(await data.text()).toBe('plan')
    const reference = { type: 'share.file', resourceId: fileId } as const
    await expect(bob.client.call(createReference, { body: reference })).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
    await alice.client.call(deleteShare, { params: { fileId, shareId: `${shared.id}` } })
    await expect(visitor.call(getFileMetadata, { params: { fileId } })).rejects.toMatchObject({
      code: 'E-FILE-NOTFOUND',
    })
    // Said within the same second, it leaves at the beginning of the next.
    await network.pass(1000)
    expect(await atBobs()).toEqual([])
  })

  test('is taken back when it is refused, and its owner sees that', async () => {
    const fileId = await upload('unwanted')
    await share(fileId, 'W')
    const visitor = await visiting()
    const [offer] = await offers(fileId)
    await bob.client.call(rejectAction, { params: { actionId: offer?.actionId as never } })
    await network.settle()
    expect((await alice.client.call(listFileShares, { params: { fileId } })).data).toEqual([])
    await expect(visitor.call(getFileMetadata, { params: { fileId } })).rejects.toMatchObject({
      code: 'E-FILE-NOTFOUND',
    })
    const { data } = await alice.client.call(listActions, { query: { type: ['FSHR'], subject: fileId } })
    expect(data).toMatchObject([{ subType: 'DEL', issuer: { idTag: bob.idTag } }])
    await share(fileId)
    await network.pass(1000)
    expect((await offers(fileId)).map(({ status }) => status)).toContain('C')
    expect((await alice.client.call(listFileShares, { params: { fileId } })).data).toHaveLength(1)
  })

  test('by an action is a share like others, and ends with it', async () => {
    const fileId = await upload('by action')
    const content = { permission: 'WRITE' as const }
    const body = { type: 'FSHR', subject: fileId, audienceTag: bob.idTag, content } as const
    const { data: action } = await alice.client.call(createAction, { body })
    const { data: shares } = await alice.client.call(listFileShares, { params: { fileId } })
    expect(shares).toMatchObject([{ subjectId: bob.idTag, permission: 'W', createdBy: alice.idTag }])
    await alice.client.call(deleteAction, { params: { actionId: action.actionId as never } })
    expect((await alice.client.call(listFileShares, { params: { fileId } })).data).toEqual([])
  })

  test('is edited from there: renamed, moved within the folder, replaced, and taken along as an archive', async () => {
    const make = async (fileName: string, parentId?: string) => {
      const body = { fileTp: 'FLDR', fileName, ...(parentId === undefined ? {} : { parentId }) } as const
      return (await alice.client.call(createFile, { body })).data.fileId as FileId
    }
    const folder = await make('shared')
    const inner = await make('inner', folder)
    const fileId = await upload('draft')
    await alice.client.call(changeFile, { params: { fileId }, body: { parentId: folder } })
    await share(folder, 'W')
    const visitor = await visiting()
    const change = async (body: object) => (await visitor.call(changeFile, { params: { fileId }, body })).data
    expect(await change({ fileName: 'final.txt', parentId: inner })).toMatchObject({
      fileName: 'final.txt',
      parentId: inner,
      owner: { idTag: alice.idTag },
    })
    await expect(change({ parentId: null })).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    const replacing = { preset: 'raw', fileName: 'newer.txt' } as const
    const body = new TextEncoder().encode('newer')
    await visitor.upload(uploadFile, { params: replacing, query: { replaces: fileId }, body })
    const { data } = await visitor.call(downloadFolder, { params: { fileId: folder } })
    const entries = await unzip(Buffer.from(await data.arrayBuffer()))
    expect([...entries.keys()]).toEqual(['inner/', 'inner/newer.txt'])
  })

  test('keeps the right to administer, which actions cannot say', async () => {
    const fileId = await upload('administered')
    expect((await share(fileId, 'A')).permission).toBe('A')
    const { data } = await alice.client.call(listFileShares, { params: { fileId } })
    expect(data).toMatchObject([{ permission: 'A' }])
    const [sent] = (await alice.client.call(listActions, { query: { type: ['FSHR'], subject: fileId } })).data
    expect(sent?.content).toMatchObject({ permission: 'WRITE', fileName: 'administered.txt', fileTp: 'BLOB' })
  })

  test('can be written by whom it was given to, who gives it on', async () => {
    const { data } = await alice.client.call(createFile, { body: { fileTp: 'FLDR', fileName: 'box' } })
    const fileId = data.fileId as FileId
    await share(fileId, 'W')
    const visitor = await visiting()
    const made = await visitor.call(createFile, { body: { fileTp: 'CRDT', parentId: fileId } })
    expect(made.data.fileName).toBe('Untitled')
    const body = { subjectType: 'U', subjectId: `one.localhost`, permission: 'W' } as const
    await visitor.call(createShare, { params: { fileId }, body })
    const { data: shares } = await alice.client.call(listFileShares, { params: { fileId } })
    expect(shares).toMatchObject([{ createdBy: alice.idTag }, { createdBy: bob.idTag }])
    await alice.client.call(deleteShare, { params: { fileId, shareId: `${shares[0]?.id}` } })
    expect((await alice.client.call(listFileShares, { params: { fileId } })).data).toEqual([])
    await network.pass(1000)
  })

  test('says where what is in a folder is to be found', async () => {
    const { data } = await alice.client.call(createFile, { body: { fileTp: 'FLDR', fileName: 'trip' } })
    const fileId = data.fileId as FileId
    await alice.client.call(createFile, { body: { fileTp: 'CRDT', fileName: 'route', parentId: fileId } })
    await share(fileId)
    const [offer] = await offers(fileId)
    await bob.client.call(acceptAction, { params: { actionId: offer?.actionId as never } })
    await network.settle()
    const { data: copy } = await bob.client.call(getFileMetadata, { params: { fileId } })
    expect([copy.fileName, copy.x]).toEqual(['trip', { home: alice.idTag }])
    const inFolder = { query: { parentId: fileId } }
    expect((await bob.client.call(listFiles, inFolder)).data).toEqual([])
    const { data: there } = await (await visiting()).call(listFiles, inFolder)
    expect(there).toMatchObject([{ fileName: 'route' }])
    expect(there[0]).not.toHaveProperty('x')
  })

  test('with an identity that does not exist is refused', async () => {
    const fileId = await upload('nobody')
    const body = { subjectType: 'U', subjectId: 'nobody.localhost', permission: 'R' } as const
    const attempt = alice.client.call(createShare, { params: { fileId }, body })
    await expect(attempt).rejects.toMatchObject({ code: 'E-PROFILE-NOTFOUND' })
    expect((await alice.client.call(listFileShares, { params: { fileId } })).data).toEqual([])
  })

  test('by a reference opens for its guests, as long as it is there', async () => {
    const fileId = await upload('for guests')
    const reference = { type: 'share.file', resourceId: fileId, count: 1 } as const
    const { data: made } = await alice.client.call(createReference, { body: reference })
    const guest = network.server(0).client(alice.idTag)
    const { data: grant } = await guest.call(getAccessToken, { query: { ref: made.refId } })
    expect(grant).toMatchObject({ accessLevel: 'read', resourceId: fileId })
    const holder = network.server(0).client(alice.idTag, grant.token)
    const { data } = await holder.call(downloadFile, { params: { fileId } })
    expect(await data.text()).toBe('for guests')
    const { data: linked } = await alice.client.call(createShare, {
      params: { fileId },
      body: { subjectType: 'L', subjectId: 'link', permission: 'W' },
    })
    const { data: opened } = await guest.call(getAccessToken, { query: { ref: linked.refId as never } })
    expect(opened.accessLevel).toBe('write')
    await alice.client.call(deleteShare, { params: { fileId, shareId: `${linked.id}` } })
    const closed = network.server(0).client(alice.idTag, opened.token)
    await expect(closed.call(getFileMetadata, { params: { fileId } })).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
  })
})
