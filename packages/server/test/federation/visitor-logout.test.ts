import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import {
  createApiKey,
  createFile,
  createShare,
  deleteApiKey,
  getAccessToken,
  getProxyToken,
  type IdTag,
  listSessions,
  logout,
  refreshLogin,
  revokeSession,
  updateAdminProfile,
  updateApiKey,
  updateRelationship,
} from '@kith/protocol'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Person, TestNetwork } from '#harness/test-network.ts'

let network: TestNetwork
const open: WebSocket[] = []
beforeAll(async () => {
  network = await TestNetwork.start(3)
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate()
})
afterAll(() => network[Symbol.asyncDispose]())

interface Scene {
  readonly alice: Person
  readonly bob: Person
  /** A document and a database of Alice, which Bob of the other server may write. */
  readonly fileIds: readonly string[]
  /** Bob's session at home. */
  readonly session: string
}

async function stage(): Promise<Scene> {
  const { alice, bob } = await network.cast('alice', 'bob')
  const fileIds = await Promise.all(
    (['CRDT', 'RTDB'] as const).map(async (fileTp) => {
      const { fileId } = (await alice.client.call(createFile, { body: { fileTp } })).data
      const body = { subjectType: 'U', subjectId: bob.idTag, permission: 'W' } as const
      await alice.client.call(createShare, { params: { fileId }, body })
      return fileId
    }),
  )
  return { alice, bob, fileIds, session: await network.server(1).signIn(bob.idTag) }
}

/** A token for Alice, in a session of Bob's. */
async function prove({ alice, bob }: Scene, session: string): Promise<string> {
  const client = network.server(1).client(bob.idTag, session)
  return (await client.call(getProxyToken, { query: { target: alice.idTag } })).data.token
}

async function exchange({ alice }: Scene, token: string): Promise<string> {
  const asking = network.server(0).client(alice.idTag)
  return (await asking.call(getAccessToken, { query: { token } })).data.token
}

/** How an open socket has ended: its code. */
async function visit({ alice, fileIds }: Scene, token: string) {
  const ended = await Promise.all(
    ['crdt', 'rtdb'].map(async (kind, at) => {
      const { host, port } = new URL(network.server(0).urlOf(alice.idTag))
      const url = `ws://127.0.0.1:${port}/ws/${kind}/${fileIds[at]}?token=${token}`
      const socket = new WebSocket(url, { headers: { host } })
      open.push(socket)
      const close = once(socket, 'close').then(([code]) => code as number)
      if (kind === 'crdt') await once(socket, 'message')
      else {
        await once(socket, 'open')
        socket.send('{"type":"ping","id":1}')
        await once(socket, 'message')
      }
      return { socket, close }
    }),
  )
  return {
    isOpen: () => ended.every(({ socket }) => socket.readyState === socket.OPEN),
    codes: () => Promise.all(ended.map(({ close }) => close)),
  }
}

/** What the homes have to say arrives, and then five seconds go by. */
async function fiveSeconds(): Promise<void> {
  await network.settle()
  network.clock.advance(5000)
}

/** Time passes in which the sockets show that they are there. */
async function stayAwake(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20_000) {
    await network.pass(20_000, 20_000)
    const alive = open.filter(({ readyState }) => readyState === WebSocket.OPEN)
    await Promise.all(alive.map(answered))
  }
}

async function answered(socket: WebSocket): Promise<void> {
  const settled = Promise.withResolvers<void>()
  const end = () => settled.resolve()
  for (const event of ['pong', 'close'] as const) socket.once(event, end)
  socket.ping()
  await settled.promise
  for (const event of ['pong', 'close'] as const) socket.off(event, end)
}

async function apiKeyOf({ bob }: Pick<Scene, 'bob'>, ends: { readonly expiresAt?: number } = {}) {
  const { key, keyId } = (await bob.client.call(createApiKey, { body: { name: 'a program', ...ends } })).data
  return { key, keyId: `${keyId}` }
}

describe.each([
  ['a proxy token', async (_: Scene, token: string) => token],
  ['an access token for one', exchange],
] as const)('A visitor of another server with %s', (_, shown) => {
  test.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['is suspended at home', ({ bob }) => network.server(1).suspend(bob.idTag)],
    ['signs out at home', ({ bob, session }) => network.server(1).client(bob.idTag, session).call(logout)],
    [
      'ends the session from another device',
      async ({ bob, session }) =>
        bob.client.call(revokeSession, { params: { sid: `${decodeJwt(session).sid}` } }),
    ],
    [
      'blocks the owner',
      ({ alice, bob }) =>
        bob.client.call(updateRelationship, {
          params: { idTag: alice.idTag },
          body: { relationship: 'block' },
        }),
    ],
    [
      'is suspended by the host',
      async ({ bob }) => {
        const admin = await network.server(0).as('one.localhost')
        await admin.call(updateAdminProfile, { params: { idTag: bob.idTag }, body: { status: 'Suspended' } })
      },
    ],
    ['visits an owner who is suspended', ({ alice }) => network.server(0).suspend(alice.idTag)],
  ])('is told within 5 s when they: %s', async (_why, end) => {
    const scene = await stage()
    const token = await shown(scene, await prove(scene, scene.session))
    const there = await visit(scene, token)
    await fiveSeconds()
    expect(there.isOpen()).toBe(true)
    await end(scene)
    await fiveSeconds()
    expect(await there.codes()).toEqual([1008, 1008])
    // Nor does it open anything any more.
    const client = network.server(0).client(scene.alice.idTag, token)
    await expect(client.call(listSessions)).rejects.toMatchObject({
      status: expect.toBeOneOf([401, 404]),
    })
  })

  test('is told when the API key is deleted with which it was made', async () => {
    const scene = await stage()
    const { key, keyId } = await apiKeyOf(scene)
    const there = await visit(scene, await shown(scene, await prove(scene, key)))
    await scene.bob.client.call(deleteApiKey, { params: { keyId } })
    await fiveSeconds()
    expect(await there.codes()).toEqual([1008, 1008])
  })

  test('who is suspended comes back with the same API key when that ends', async () => {
    const scene = await stage()
    const { key } = await apiKeyOf(scene)
    const there = await visit(scene, await shown(scene, await prove(scene, key)))
    await network.server(1).suspend(scene.bob.idTag)
    await fiveSeconds()
    expect(await there.codes()).toEqual([1008, 1008])
    await network.server(1).resume(scene.bob.idTag)
    network.clock.advance(5000)
    const again = await visit(scene, await shown(scene, await prove(scene, key)))
    await fiveSeconds()
    expect(again.isOpen()).toBe(true)
  })

  test('stays when another session ends, or the session in which others are visited', async () => {
    const scene = await stage()
    const carol = await network.person(2, `carol${scene.bob.idTag.split('.')[0]}`)
    const other = await network.server(1).signIn(scene.bob.idTag)
    const [first, second] = [
      await visit(scene, await shown(scene, await prove(scene, scene.session))),
      await visit(scene, await shown(scene, await prove(scene, other))),
    ]
    await prove({ ...scene, alice: carol }, other)
    await network.server(1).client(scene.bob.idTag, other).call(logout)
    await fiveSeconds()
    expect(await second.codes()).toEqual([1008, 1008])
    expect(first.isOpen()).toBe(true)
  })

  test('is told within ten minutes when the API key has ended by its time', async () => {
    const scene = await stage()
    const inTenMinutes = Math.floor(network.clock.now() / 1000) + 600
    const { key } = await apiKeyOf(scene, { expiresAt: inTenMinutes })
    const there = await visit(scene, await shown(scene, await prove(scene, key)))
    await stayAwake(580_000)
    expect(there.isOpen()).toBe(true)
    await stayAwake(640_000)
    expect(await there.codes()).toEqual([1008, 1008])
  })
})

test('an unused proxy token ends as well, and so does one that is exchanged too late', async () => {
  const scene = await stage()
  const token = await prove(scene, scene.session)
  await network.server(1).client(scene.bob.idTag, scene.session).call(logout)
  await fiveSeconds()
  await expect(exchange(scene, token)).rejects.toMatchObject({ status: 401 })
})

test('a host that is down is told when it is back', async () => {
  const scene = await stage()
  const token = await exchange(scene, await prove(scene, scene.session))
  await network.takeDown(0)
  await network.server(1).suspend(scene.bob.idTag)
  await network.settle()
  await network.bringBack(0)
  await network.pass(60_000, 5_000)
  const client = network.server(0).client(scene.alice.idTag, token)
  await expect(client.call(listSessions)).rejects.toMatchObject({ status: 401 })
})

test('a home is believed that does not tell the keys of who is suspended any more', async () => {
  const scene = await stage()
  await exchange(scene, await prove(scene, scene.session))
  await network.pass(24 * 3_600_000 - 60_000, 3_600_000)
  const client = network.server(1).client(scene.bob.idTag, scene.session)
  const there = await visit(scene, await prove(scene, (await client.call(refreshLogin)).data.token))
  // What was learnt of Bob expires, and his server does not tell his keys any more.
  await stayAwake(120_000)
  expect(there.isOpen()).toBe(true)
  await network.server(1).suspend(scene.bob.idTag)
  await fiveSeconds()
  expect(await there.codes()).toEqual([1008, 1008])
})

test('an API key that is narrowed is shown anew', async () => {
  const scene = await stage()
  const { key, keyId } = await apiKeyOf(scene)
  const there = await visit(scene, await exchange(scene, await prove(scene, key)))
  await scene.bob.client.call(updateApiKey, { params: { keyId }, body: { name: 'renamed' } })
  await fiveSeconds()
  expect(there.isOpen()).toBe(true)
  await scene.bob.client.call(updateApiKey, { params: { keyId }, body: { scope: 'read:files' } })
  await fiveSeconds()
  expect(await there.codes()).toEqual([1008, 1008])
})

test('between tenants of one server a block ends visits as well', async () => {
  const scene = await stage()
  const dora = await network.person(1, `dora${scene.bob.idTag.split('.')[0]}`)
  const proof = await prove({ ...scene, alice: dora }, scene.session)
  const there = network.server(1).client(dora.idTag)
  const { token } = (await there.call(getAccessToken, { query: { token: proof } })).data
  const lists = (bearer: string) => network.server(1).client(dora.idTag, bearer).call(listSessions)
  await expect(lists(token)).resolves.toBeDefined()
  const [params, body] = [{ idTag: dora.idTag }, { relationship: 'block' }] as const
  await scene.bob.client.call(updateRelationship, { params, body })
  for (const bearer of [token, proof]) await expect(lists(bearer)).rejects.toMatchObject({ status: 401 })
})

describe('A host that', () => {
  let at = 0

  /** Posts that it has got after a sign-out, each with its answer, within so many minutes. */
  async function postsTo(answer: RequestListener, minutes: number): Promise<string[]> {
    at += 1
    const idTag = `host${at}.localhost` as IdTag
    const foreign = await network.addForeign(idTag)
    foreign.onRequest = answer
    const { bob, session, ...scene } = await stage()
    await prove({ ...scene, bob, session, alice: { ...scene.alice, idTag } }, session)
    await network.server(1).client(bob.idTag, session).call(logout)
    await network.pass(minutes * 60_000, 1000 * minutes)
    return foreign.requests.filter(({ url }) => url === '/api/auth/visitor-logout').map(({ body }) => body)
  }

  test.each([200, 202, 204, 400, 403, 404, 405, 410, 415])('answers %i is told once', async (status) => {
    const posts = await postsTo((_, answer) => {
      answer.writeHead(status).end()
    }, 3)
    expect(posts).toHaveLength(1)
    expect(decodeJwt(posts[0] ?? '')).toMatchObject({ use: 'logout', sid: expect.any(String) })
  })

  test('refuses with 401 is told five times, in case that its clock is wrong', async () => {
    expect(await postsTo((_, answer) => void answer.writeHead(401).end(), 10)).toHaveLength(5)
  })

  test('puts off is told when it says, within the day', async () => {
    let refusals = 0
    const posts = await postsTo((_, answer) => {
      refusals += 1
      answer.writeHead(refusals === 1 ? 429 : 200, { 'retry-after': '200000' }).end()
    }, 70)
    expect(posts).toHaveLength(2)
  })
})

test('whom one blocks gets no proof of oneself', async () => {
  const scene = await stage()
  const { alice, bob } = scene
  const params = { idTag: alice.idTag }
  await bob.client.call(updateRelationship, { params, body: { relationship: 'block' } })
  await expect(prove(scene, scene.session)).rejects.toMatchObject({ status: 403 })
  await bob.client.call(updateRelationship, { params, body: { relationship: 'unblock' } })
  await expect(prove(scene, scene.session)).resolves.toEqual(expect.any(String))
})
