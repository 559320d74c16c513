import { type ConnectedDocument, connectDocument, type SocketLike } from '@kith/client/crdt'
import { type ConnectedDatabase, connectDatabase } from '@kith/client/rtdb'
import {
  createFile,
  createShare,
  deleteFile,
  deleteShare,
  getProxyToken,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Person, TestNetwork } from '#harness/test-network.ts'

const retry = { firstMs: 5, longestMs: 50 }

let network: TestNetwork
const closing: { close(): void }[] = []
beforeAll(async () => {
  network = await TestNetwork.start(2)
})
afterEach(() => {
  for (const connected of closing.splice(0)) connected.close()
})
afterAll(() => network[Symbol.asyncDispose]())

/** Not every resolver knows names below `localhost`. */
function connect(url: string): SocketLike {
  const { host, port, pathname, search } = new URL(url)
  const options = { headers: { host }, perMessageDeflate: false }
  return new WebSocket(`ws://127.0.0.1:${port}${pathname}${search}`, options) as SocketLike
}

type Opened = { readonly document: ConnectedDocument; readonly database: ConnectedDatabase }

interface Scene {
  readonly alice: Person
  readonly bob: Person
  /** A document and a database of Alice, which Bob of the other server may write. */
  readonly fileIds: readonly string[]
  readonly shareIds: readonly string[]
  readonly hers: Opened
  readonly his: Opened
}

async function share({ alice, bob }: Pick<Scene, 'alice' | 'bob'>, fileId: string, permission: 'R' | 'W') {
  const body = { subjectType: 'U', subjectId: bob.idTag, permission } as const
  return `${(await alice.client.call(createShare, { params: { fileId }, body })).data.id}`
}

async function stage(): Promise<Scene> {
  const { alice, bob } = await network.cast('alice', 'bob')
  const fileIds = await Promise.all(
    (['CRDT', 'RTDB'] as const).map(
      async (fileTp) => (await alice.client.call(createFile, { body: { fileTp } })).data.fileId,
    ),
  )
  const shareIds = await Promise.all(fileIds.map((fileId) => share({ alice, bob }, fileId, 'W')))
  const session = await network.server(0).signIn(alice.idTag)
  const visiting = async () =>
    (await bob.client.call(getProxyToken, { query: { target: alice.idTag } })).data.token
  const open = (token: string | (() => Promise<string>)): Opened => {
    const place = { baseUrl: network.server(0).urlOf(alice.idTag), token, retry, connect }
    const [documentId = '', databaseId = ''] = fileIds
    const document = connectDocument({ ...place, fileId: documentId })
    const database = connectDatabase({ ...place, fileId: databaseId })
    closing.push(document, database)
    return { document, database }
  }
  return { alice, bob, fileIds, shareIds, hers: open(session), his: open(visiting) }
}

/** Bob writes, and Alice sees it: both of them have everything open. */
async function seen({ hers, his }: Scene): Promise<void> {
  await Promise.all([hers.document.saved(), his.document.saved()])
  const titles: string[][] = []
  hers.database
    .collection<{ title: string }>('tasks')
    .onChange((tasks) => titles.push(tasks.map(({ title }) => title)))
  his.document.doc.getText('text').insert(0, 'by Bob')
  await his.database.collection('tasks').add({ title: 'by Bob' })
  await his.document.saved()
  await expect.poll(() => `${hers.document.doc.getText('text')}`).toBe('by Bob')
  await expect.poll(() => titles.at(-1)).toEqual(['by Bob'])
}

/** The states within five seconds of the servers' clock. */
async function within5s({ his }: Scene, isReached: (states: readonly object[]) => boolean) {
  network.clock.advance(5000)
  const states = () => [his.document.state, his.database.state]
  await expect.poll(() => isReached(states())).toBe(true)
  return states()
}

const haveEnded = (states: readonly object[]) => states.every((state) => 'code' in state)

test.each<[string, number, (scene: Scene) => Promise<unknown>]>([
  [
    'the share has ended',
    4403,
    async ({ alice, fileIds, shareIds }) =>
      Promise.all(
        fileIds.map((fileId, at) =>
          alice.client.call(deleteShare, { params: { fileId, shareId: shareIds[at] ?? '' } }),
        ),
      ),
  ],
  [
    'the file was trashed',
    4404,
    async ({ alice, fileIds }) =>
      Promise.all(fileIds.map((fileId) => alice.client.call(deleteFile, { params: { fileId } }))),
  ],
  ['the owner blocks them', 4403, ({ alice, bob }) => network.server(0).block(alice.idTag, bob.idTag)],
])('a visitor of another server is told within 5 s when %s (%i)', async (_why, code, end) => {
  const scene = await stage()
  await seen(scene)
  await end(scene)
  expect(await within5s(scene, haveEnded)).toMatchObject([
    { kind: 'ended', code, hasUnsaved: false },
    { kind: 'ended', code, waiting: 0 },
  ])
})

test("a visitor is told when the host's server suspends their identity (1008), and does not get in again", async () => {
  const scene = await stage()
  await seen(scene)
  const admin = await network.server(0).as('one.localhost')
  const params = { idTag: scene.bob.idTag }
  await admin.call(updateAdminProfile, { params, body: { status: 'Suspended' } })
  // With another proxy token they try once more, which is answered after a second.
  const moving = setInterval(() => network.clock.advance(1000), 20)
  const states = await within5s(scene, haveEnded).finally(() => clearInterval(moving))
  expect(states).toMatchObject([
    { kind: 'ended', code: 1008 },
    { kind: 'ended', code: 1008 },
  ])
})

test('a visitor who may only read from now on stays, and changes nothing', async () => {
  const scene = await stage()
  await seen(scene)
  const { his, hers, fileIds } = scene
  await Promise.all(fileIds.map((fileId) => share(scene, fileId, 'R')))
  network.clock.advance(5000)
  // The server says so when something is written. What comes before it has looked at the shares again is stored.
  let written = 0
  await expect
    .poll(() => {
      written += 1
      his.document.doc.getText('text').insert(0, `<${written}> `)
      return his.document.state
    })
    .toEqual({ kind: 'readOnly' })
  const adding = his.database.collection('tasks').add({ title: 'refused' })
  await expect(adding).rejects.toMatchObject({ code: 403 })
  expect(his.database.state).toEqual({ kind: 'open', waiting: 0 })
  hers.document.doc.getText('text').insert(6, ', then Alice')
  await hers.document.saved()
  await expect.poll(() => `${his.document.doc.getText('text')}`).toContain(', then Alice')
  expect(`${hers.document.doc.getText('text')}`).not.toContain(`<${written}>`)
})
