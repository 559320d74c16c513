import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { SocketLike } from '@kith/client/crdt'
import { connectDocument } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'
import { createFile, createShare, deleteFile, deleteShare, logout } from '@kith/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { TestNetwork } from '#harness/test-network.ts'

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

/** Bob's token at his home, and a document and a database of an owner elsewhere or here, which he may write. */
async function stage(ownerAt: 0 | 1) {
  const { alice, bob } = await network.cast('alice', 'bob')
  const owner =
    ownerAt === 0
      ? alice
      : await network.person(
          1,
          `carol${Math.trunc(network.clock.now() % 1e9)}${closing.length}${bob.idTag.split('.')[0]}`,
        )
  const shared = await Promise.all(
    (['CRDT', 'RTDB'] as const).map(async (fileTp) => {
      const { fileId } = (await owner.client.call(createFile, { body: { fileTp } })).data
      const body = { subjectType: 'U', subjectId: bob.idTag, permission: 'W' } as const
      const { id } = (await owner.client.call(createShare, { params: { fileId }, body })).data
      return { fileId, shareId: `${id}` }
    }),
  )
  const hers = await network.server(ownerAt).signIn(owner.idTag)
  const his = await network.server(1).signIn(bob.idTag)
  return { owner, bob, shared, hers, his, ownerAt }
}

type Stage = Awaited<ReturnType<typeof stage>>

function open({ owner, bob, shared, hers, his, ownerAt }: Stage) {
  const [document, database] = shared.map(({ fileId }) => fileId)
  const hersAt = { baseUrl: network.server(ownerAt).urlOf(owner.idTag), token: hers, retry, connect }
  const hisAt = { baseUrl: network.server(1).urlOf(bob.idTag), at: owner.idTag, token: his, retry, connect }
  const opened = {
    hers: connectDocument({ ...hersAt, fileId: document ?? '' }),
    his: connectDocument({ ...hisAt, fileId: document ?? '' }),
    herData: connectDatabase({ ...hersAt, fileId: database ?? '' }),
    hisData: connectDatabase({ ...hisAt, fileId: database ?? '' }),
  }
  closing.push(...Object.values(opened))
  return opened
}

async function seen({ hers, his, herData, hisData }: ReturnType<typeof open>): Promise<void> {
  await Promise.all([hers.saved(), his.saved()])
  const titles: string[][] = []
  herData
    .collection<{ title: string }>('tasks')
    .onChange((tasks) => titles.push(tasks.map(({ title }) => title)))
  his.doc.getText('text').insert(0, 'by Bob')
  await hisData.collection('tasks').add({ title: 'by Bob' })
  await his.saved()
  await expect.poll(() => `${hers.doc.getText('text')}`).toBe('by Bob')
  await expect.poll(() => titles.at(-1)).toEqual(['by Bob'])
  hers.doc.getText('text').insert(6, ', and by her')
  await expect.poll(() => `${his.doc.getText('text')}`).toBe('by Bob, and by her')
}

/** The codes within five seconds of the servers' clock. */
async function endsWithin5s({ his, hisData }: ReturnType<typeof open>): Promise<unknown[]> {
  network.clock.advance(5000)
  const states = () => [his.state, hisData.state]
  await expect.poll(() => states().every((state) => 'code' in state)).toBe(true)
  return states().map((state) => ('code' in state ? state.code : undefined))
}

describe.each([
  ['another server', 0],
  ['the same server', 1],
] as const)('Through the gateway, at %s', (_, ownerAt) => {
  test('a document and a database are edited while their owner watches', async () => {
    await seen(open(await stage(ownerAt)))
  })

  test.each<[string, (scene: Stage) => Promise<unknown>, number[]]>([
    [
      'the share has ended',
      ({ owner, shared }) => Promise.all(shared.map((params) => owner.client.call(deleteShare, { params }))),
      [4403],
    ],
    [
      'the owner blocks him',
      ({ owner, bob }) => network.server(ownerAt).block(owner.idTag, bob.idTag),
      [4403],
    ],
    [
      'the files are trashed',
      ({ owner, shared }) => Promise.all(shared.map((params) => owner.client.call(deleteFile, { params }))),
      [4404],
    ],
    ["the owner's account is suspended", ({ owner }) => network.server(ownerAt).suspend(owner.idTag), [4403]],
    ['he blocks the owner', ({ owner, bob }) => network.server(1).block(bob.idTag, owner.idTag), [4403]],
    ['his account is suspended', ({ bob }) => network.server(1).suspend(bob.idTag), [1008]],
    ['he signs out at home', ({ bob, his }) => network.server(1).client(bob.idTag, his).call(logout), [1008]],
  ])('the sockets end within 5 s when %s', async (_why, end, codes) => {
    const scene = await stage(ownerAt)
    const opened = open(scene)
    await Promise.all([opened.his.saved(), opened.hisData.collection('tasks').get()])
    await end(scene)
    expect(codes).toEqual(expect.arrayContaining([...new Set(await endsWithin5s(opened))]))
  })

  test('stock y-websocket works', async () => {
    const { owner, bob, shared, his, hers } = await stage(ownerAt)
    const fileId = shared[0]?.fileId ?? ''
    const provide = (url: string, token: string) => {
      const doc = new Y.Doc()
      const provider = new WebsocketProvider(url, fileId, doc, {
        params: { token },
        disableBc: true,
        WebSocketPolyfill: class extends WebSocket {
          constructor(address: string) {
            const { host, port, pathname, search } = new URL(address)
            super(`ws://127.0.0.1:${port}${pathname}${search}`, { headers: { host } })
          }
        } as unknown as typeof globalThis.WebSocket,
      })
      closing.push({ close: () => provider.destroy() })
      return doc
    }
    const home = network.server(1).urlOf(bob.idTag).replace('http', 'ws')
    const there = network.server(ownerAt).urlOf(owner.idTag).replace('http', 'ws')
    const mine = provide(`${home}/ws/at/${owner.idTag}/crdt`, his)
    const theirs = provide(`${there}/ws/crdt`, hers)
    mine.getText('text').insert(0, 'hello')
    await expect.poll(() => `${theirs.getText('text')}`).toBe('hello')
  })
})

test('a token of the home is not passed on: renewing is refused, and the socket goes on', async () => {
  const { owner, bob, shared, his } = await stage(0)
  const url = network.server(1).urlOf(bob.idTag)
  const socket = connect(
    `${url}/ws/at/${owner.idTag}/rtdb/${shared[1]?.fileId}?token=${his}`,
  ) as unknown as WebSocket
  closing.push(socket)
  const received: unknown[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'auth', id: 1, token: his }))
  socket.send(JSON.stringify({ type: 'ping', id: 2 }))
  await expect
    .poll(() => received)
    .toMatchObject([
      { type: 'error', id: 1, code: 403 },
      { type: 'pong', id: 2 },
    ])
})

describe('A hostile server', () => {
  const mallory = 'mallory.localhost'
  const fileId = `f1~${'A'.repeat(43)}`

  let behave: (socket: WebSocket) => void
  beforeAll(async () => {
    const foreign = await network.addForeign(mallory)
    foreign.onRequest = (_, answer) =>
      void answer.end(
        JSON.stringify({ data: { token: 'theirs', expiresAt: network.clock.now() / 1000 + 600 } }),
      )
    const sockets = new WebSocketServer({ noServer: true })
    foreign.onUpgrade((request, connection, head) =>
      sockets.handleUpgrade(request, connection, head, (socket) => behave(socket)),
    )
  })

  /** What Bob's socket is closed with, when the other server does this with its own. */
  async function closedBy(act: (socket: WebSocket) => void): Promise<{ code: number; reason: string }> {
    behave = act
    const { bob } = await network.cast('alice', 'bob')
    const token = await network.server(1).signIn(bob.idTag)
    const url = `${network.server(1).urlOf(bob.idTag)}/ws/at/${mallory}/crdt/${fileId}?token=${token}`
    const socket = connect(url) as unknown as WebSocket
    const closed = once(socket, 'close')
    // A refusal comes a second after the upgrade.
    await expect
      .poll(() => {
        network.clock.advance(200)
        return socket.readyState
      })
      .toBe(socket.CLOSED)
    const [code, reason] = (await closed) as [number, Buffer]
    return { code, reason: String(reason) }
  }

  test.each<[string, (socket: WebSocket) => void, number]>([
    ['text where bytes belong', (socket) => socket.send('text'), 1012],
    ['a reason of its own', (socket) => socket.close(4404, '<b>theirs</b>'), 4404],
    ['a code that is nobody’s', (socket) => socket.close(4999, 'x'), 1012],
    ['a bad token', (socket) => socket.close(1008, 'x'), 4403],
    [
      'a frame without end',
      (socket) =>
        (socket as unknown as { _socket: Writable })._socket.write(
          Buffer.from([0x82, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0]),
        ),
      1012,
    ],
    ['nothing at all', (socket) => socket.terminate(), 1012],
  ])('ends the socket in our words: %s', async (_, act, code) => {
    const closed = await closedBy(act)
    expect(closed.code).toBe(code)
    expect(closed.reason).not.toMatch(/theirs|x/)
  })
})
