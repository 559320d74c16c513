import type { Client, KithError } from '@kith/client'
import {
  allContracts,
  type Contract,
  createAction,
  createFile,
  createShare,
  downloadFile,
  getFileMetadata,
  getMe,
  getProxyToken,
  getUsage,
  listActions,
  listFiles,
  listProfiles,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'

let network: TestNetwork
let alice: Person
let bob: Person
let carol: Person
/** Bob's client, at Alice's host: she lives on another server, he and Carol on the same. */
let atAlice: Client
let atCarol: Client

beforeAll(async () => {
  network = await TestNetwork.start(2)
  ;({ alice, bob } = await network.cast('alice', 'bob'))
  carol = await network.person(1, 'carol')
  atAlice = bob.client.at(alice.idTag)
  atCarol = bob.client.at(carol.idTag)
})
afterAll(() => network[Symbol.asyncDispose]())

async function sharedFolder(owner: Person, permission: 'R' | 'W') {
  const { fileId } = (await owner.client.call(createFile, { body: { fileTp: 'FLDR', fileName: 'shared' } }))
    .data
  const body = { subjectType: 'U', subjectId: bob.idTag, permission } as const
  await owner.client.call(createShare, { params: { fileId }, body })
  const file = await owner.client.upload(uploadFile, {
    params: { preset: 'raw', fileName: 'ä note.txt' },
    query: { parentId: fileId },
    body: Buffer.from('0123456789'),
  })
  return { folderId: fileId, fileId: file.data.fileId }
}

describe.each([
  ['of another server', () => alice, () => atAlice],
  ['of the same server', () => carol, () => atCarol],
] as const)('A shared folder %s', (_, owner, at) => {
  test('is listed, read by range, and written to', async () => {
    const { folderId, fileId } = await sharedFolder(owner(), 'W')
    const { data: files } = await at().call(listFiles, { query: { parentId: folderId } })
    expect(files.map((file) => file.fileId)).toEqual([fileId])
    const { data: whole } = await at().call(downloadFile, { params: { fileId } })
    expect(await whole.text()).toBe('0123456789')
    expect(whole.headers.get('cache-control')).toBe('private, no-cache')
    expect(whole.headers.get('content-security-policy')).toContain('sandbox')
    expect(whole.headers.get('content-disposition')).toContain("filename*=UTF-8''%C3%A4%20note.txt")
    const part = await at().call(downloadFile, { params: { fileId }, headers: { range: 'bytes=2-4' } })
    expect([part.data.status, part.data.headers.get('content-range'), await part.data.text()]).toEqual([
      206,
      'bytes 2-4/10',
      '234',
    ])
    const added = await at().upload(uploadFile, {
      params: { preset: 'raw', fileName: 'by bob.bin' },
      query: { parentId: folderId },
      body: Buffer.alloc(300_000, 7),
    })
    const seen = await owner().client.call(getFileMetadata, { params: { fileId: added.data.fileId } })
    expect(seen.data).toMatchObject({ fileName: 'by bob.bin', size: 300_000, parentId: folderId })
  })

  test('tells of ranges outside, of what has not changed, and of what is not there', async () => {
    const { fileId } = await sharedFolder(owner(), 'R')
    const { data: head } = await at().call(downloadFile, { params: { fileId } })
    const etag = head.headers.get('etag') ?? ''
    await head.arrayBuffer()
    const outside = at().call(downloadFile, { params: { fileId }, headers: { range: 'bytes=50-' } })
    await expect(outside).rejects.toMatchObject({ status: 416, code: 'E-RANGE', details: { size: 10 } })
    const unchanged = at().call(downloadFile, { params: { fileId }, headers: { 'if-none-match': etag } })
    await expect(unchanged).rejects.toMatchObject({ status: 304 })
    for (const headers of [
      { 'if-match': '"other"' },
      { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
    ])
      await expect(at().call(downloadFile, { params: { fileId }, headers })).rejects.toMatchObject({
        status: 412,
        code: 'E-PRECONDITION',
      })
    const missing = at().call(downloadFile, { params: { fileId: `b1~${'A'.repeat(43)}` } })
    await expect(missing).rejects.toMatchObject({ status: 404, code: 'E-FILE-NOTFOUND' })
    const refused = at().call(createFile, { body: { fileTp: 'FLDR', fileName: 'mine' } })
    await expect(refused).rejects.toMatchObject({ status: 403, code: 'E-AUTH-FORBIDDEN' })
  })
})

test('An upload whose client goes away leaves nothing at the other server', async () => {
  const { folderId } = await sharedFolder(alice, 'W')
  const control = new AbortController()
  // Begins, and never ends.
  const body = new ReadableStream({ start: (into) => into.enqueue(new Uint8Array(1024 ** 2)) })
  const usage = async () => (await alice.client.call(getUsage)).data
  const before = await usage()
  const path = `/api/at/${alice.idTag}/files/raw/endless.bin?parentId=${folderId}`
  const headers = { authorization: `Bearer ${await network.server(1).signIn(bob.idTag)}` }
  const init = { method: 'POST', headers, body, duplex: 'half', signal: control.signal }
  const sent = network.server(1).request(bob.idTag, path, init as RequestInit)
  sent.catch(() => undefined)
  await expect
    .poll(async () => (await usage()).reservedBytes)
    .toBeGreaterThan(before.reservedBytes)
    .finally(() => control.abort())
  await expect(sent).rejects.toThrow()
  await expect.poll(usage).toEqual(before)
})

describe.each([
  ['of another server', 0],
  ['of the same server', 1],
] as const)('A community %s', (_, place) => {
  test('lists its members to a member, who posts there', async () => {
    const server = network.server(place)
    const club = await server.createTenant(`club${place}.localhost`, { type: 'community' })
    await server.relate(club.idTag, bob.idTag, { role: 'contributor', connection: 'connected' })
    const at = bob.client.at(club.idTag)
    const { data: members } = await at.call(listProfiles, { query: { community: club.idTag } })
    expect(members.map(({ idTag }) => idTag)).toContain(bob.idTag)
    const posted = await at.call(createAction, { body: { type: 'POST', content: { text: 'by a member' } } })
    const { data: actions } = await at.call(listActions, {})
    expect(actions).toMatchObject([{ actionId: posted.data.actionId, issuer: { idTag: club.idTag } }])
    expect((await at.call(getMe, {})).data).toMatchObject({ idTag: club.idTag, type: 'community' })
  })
})

describe.each([
  ['of another server', () => alice],
  ['of the same server', () => carol],
] as const)('Every GET at a host %s', (_, ownerOf) => {
  test('answers through the gateway what a proxy token reads directly', async () => {
    const owner = ownerOf()
    const { folderId, fileId } = await sharedFolder(owner, 'R')
    const hidden = await owner.client.call(createFile, { body: { fileTp: 'FLDR', fileName: 'hidden' } })
    const created = await owner.client.call(createFile, { body: { fileTp: 'CRDT', fileName: 'doc' } })
    const post = { type: 'POST', content: { text: 'for all' }, visibility: 'P' } as const
    const shown = await owner.client.call(createAction, { body: post })
    const secret = await owner.client.call(createAction, { body: { ...post, visibility: 'F' } })
    const token = (await bob.client.call(getProxyToken, { query: { target: owner.idTag } })).data.token
    const direct = network.server(owner.at).client(owner.idTag, token)
    const gets = (allContracts as readonly Contract[]).filter(
      ({ gateway, method }) => gateway && method === 'GET',
    )
    const ids = {
      actionId: [shown.data.actionId, secret.data.actionId],
      fileId: [folderId, fileId, hidden.data.fileId, created.data.fileId],
      variantId: [`${fileId}~orig`, `${hidden.data.fileId}~orig`],
      idTag: [owner.idTag, bob.idTag],
      seq: [1],
    }
    const seen = new Set<number>()
    for (const contract of gets)
      for (const params of combinations(Object.keys(contract.params?.properties ?? {}), ids)) {
        const through = bob.client.at(owner.idTag)
        // A first view is counted.
        await answerOf(direct, contract, params)
        const there = await answerOf(direct, contract, params)
        const here = await answerOf(through, contract, params)
        expect([contract.name, params, here]).toEqual([contract.name, params, there])
        seen.add(there?.status ?? 0)
      }
    expect([...seen].sort()).toEqual([200, 400, 403, 404])
  })
})

type Params = Readonly<Record<string, string | number>>

function combinations(
  names: readonly string[],
  ids: Readonly<Record<string, readonly (string | number)[]>>,
): Params[] {
  const [name, ...rest] = names
  if (name === undefined) return [{}]
  return (ids[name] ?? []).flatMap((id) =>
    combinations(rest, ids).map((others) => ({ [name]: id, ...others })),
  )
}

/** Status, code, and what was answered. */
async function answerOf(client: Client, contract: Contract, params: Params) {
  try {
    const answered = await client.call(contract, { params } as never)
    const { data, time: _, reqId: __, ...page } = answered as { data: unknown; time?: string; reqId?: string }
    if (!(data instanceof Object && 'arrayBuffer' in data)) return { status: 200, data, page }
    const answer = data as Response
    const { headers } = answer
    const named = ['content-type', 'content-length', 'content-disposition', 'etag', 'content-security-policy']
    return {
      status: answer.status,
      text: await answer.text(),
      headers: named.map((name) => headers.get(name)),
    }
  } catch (error) {
    const { status, code, message, details } = error as KithError
    return { status, code, message, details }
  }
}
