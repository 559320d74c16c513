import { createHash } from 'node:crypto'
import {
  type ActionId,
  createAction,
  deleteAction,
  downloadFile,
  type FileId,
  getAction,
  getProfile,
  listActions,
} from '@kith/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { labBytes } from '#harness/test-seed.ts'
import type { TestServer } from '#harness/test-server.ts'
import { post } from './acts.ts'

const dora = 'dora.strange.localhost'
const daySecs = 86_400

describe('a stranger', () => {
  let network: TestNetwork
  let server: TestServer
  let foreign: ForeignServer
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(2)
    server = network.server(0)
    foreign = await network.addForeign(dora)
  })
  afterAll(() => network[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ bob } = await network.cast('bob'))
  })

  const nowSecs = () => Math.floor(network.clock.now() / 1000)
  const comment = (parentId: string, members: Record<string, unknown> = {}) =>
    foreign.sign(dora, { type: 'CMNT', parentId, content: { text: 'Me too' }, ...members })

  /** A file of the stranger's. */
  function serveFile(): FileId {
    const content = Buffer.from(labBytes(40))
    const saltBytes = labBytes(16)
    const hash = createHash('sha256').update(content).digest()
    const id = createHash('sha256').update('blob').update(saltBytes).update(hash).digest('base64url')
    const data = {
      fileId: `b1~${id}`,
      contentType: 'application/octet-stream',
      fileName: 'data.bin',
      size: content.length,
      variants: [],
      createdAt: '2026-01-01T00:00:00.000Z',
      sha256: hash.toString('base64url'),
      salt: saltBytes.toString('base64url'),
    }
    foreign.onRequest = ({ url = '' }, answer) => {
      if (url.endsWith('/descriptor'))
        answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
      else answer.writeHead(200).end(content)
    }
    return `b1~${id}` as FileId
  }
  const askedFor = () => foreign.requests.filter(({ url }) => url.startsWith('/api/')).map(({ url }) => url)

  test.each(['POST', 'SHRE', 'REPOST', 'MSG'])('cannot address a %s to a person', async (type) => {
    const content = { text: 'Buy', url: 'https://example.com' }
    const members = { type, audienceTag: bob.idTag, subject: `a1~${'A'.repeat(43)}`, content }
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const)
      expect((await server.deliver(foreign.sign(dora, members), path)).status).toBe(403)
    expect((await bob.client.call(listActions, {})).data).toEqual([])
  })

  test('on the same server is told so at once, on another one when it is delivered', async () => {
    const near = await network.person(0, `near-${bob.idTag.split('.')[0]}`)
    const far = await network.person(1, `far-${bob.idTag.split('.')[0]}`)
    const body = { type: 'POST', content: { text: 'Buy' }, audienceTag: bob.idTag } as const
    await expect(near.client.call(createAction, { body })).rejects.toMatchObject({
      status: 403,
      code: 'E-AUTH-FORBIDDEN',
    })
    await far.client.call(createAction, { body })
    await network.settle()
    expect((await bob.client.call(listActions, {})).data).toEqual([])
  })

  test('is fetched nothing for until somebody looks, and what is removed does not come back', async () => {
    const { actionId } = await post(network, bob, 'Hello')
    const fileId = serveFile()
    const before = askedFor().length
    const token = comment(actionId, { attachments: [fileId] })
    expect((await server.deliver(token)).status).toBe(200)
    await network.settle()
    const [shown] = (await bob.client.call(listActions, { query: { type: ['CMNT'] } })).data
    expect(shown).toMatchObject({ status: 'N', attachments: [fileId], issuer: { idTag: dora } })
    expect(askedFor().slice(before)).toEqual([])

    const asked = { params: { fileId: fileId as never } }
    await expect(bob.client.call(downloadFile, asked)).rejects.toMatchObject({ status: 503 })
    await network.settle()
    expect((await (await bob.client.call(downloadFile, asked)).data.arrayBuffer()).byteLength).toBe(40)
    expect(askedFor().slice(before)).toHaveLength(2)

    const about = { params: { actionId: shown?.actionId as ActionId } }
    await bob.client.call(deleteAction, about)
    await network.settle()
    await expect(bob.client.call(getAction, about)).rejects.toMatchObject({ status: 404 })
    await expect(bob.client.call(downloadFile, asked)).rejects.toMatchObject({ status: 404 })
    expect((await bob.client.call(getAction, { params: { actionId } })).data.stat?.comments).toBe(0)
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const)
      expect((await server.deliver(token, path)).status).toBe(200)
    await network.settle()
    await expect(bob.client.call(getAction, about)).rejects.toMatchObject({ status: 404 })
  })

  test('has a name without being asked for it, and is asked when somebody looks', async () => {
    const before = askedFor().length
    await server.deliver(foreign.sign(dora, { type: 'FLLW', audienceTag: bob.idTag }))
    await network.settle()
    const [follow] = (await bob.client.call(listActions, {})).data
    expect(follow?.issuer).toMatchObject({ idTag: dora })
    expect(askedFor().slice(before)).toEqual([])
    await bob.client.call(getProfile, { params: { idTag: dora as never } })
    await network.settle()
    expect(askedFor().slice(before)).toEqual([`/api/profiles/${dora}`])
  })

  test('leaves a bounded number of rows a day, with all others of its domain', async () => {
    const { actionId } = await post(network, bob, 'Hello')
    const react = () => foreign.sign(dora, { type: 'REACT', subType: 'LIKE', subject: actionId })
    await server.db.transact(bob.tenantId, async (tx) => {
      const day = Math.floor(nowSecs() / daySecs)
      await tx
        .tables<{ stranger_rows: Record<string, unknown> }>()
        .insertInto('stranger_rows')
        .values({
          tenant_id: tx.tenantId,
          domain: 'strange.localhost',
          day,
          row_count: 999,
          byte_count: sql<number>`5000`,
        })
        .execute()
    })
    expect((await server.deliver(react())).status).toBe(200)
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const) {
      const { status, headers } = await server.deliver(react(), path)
      expect(status).toBe(429)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(daySecs)
    }
    // Who is followed counts not, and the next day begins anew.
    await server.relate(bob.idTag, dora, { isFollowing: true })
    expect((await server.deliver(react())).status).toBe(200)
    await server.relate(bob.idTag, dora, { isFollowing: false })
    expect((await server.deliver(react())).status).toBe(429)
    network.clock.advance(daySecs * 1000)
    await network.settle()
    expect((await server.deliver(react())).status).toBe(200)
  })

  describe('ends with a CONN that names no subject', () => {
    const conn = (members: Record<string, unknown> = {}) =>
      foreign.sign(dora, { type: 'CONN', audienceTag: bob.idTag, ...members })
    const state = async () =>
      (await bob.client.call(getProfile, { params: { idTag: dora as never } })).data.connected

    test('the request that it was asked', async () => {
      await bob.client.call(createAction, { body: { type: 'CONN', audienceTag: dora as never } })
      await network.settle()
      expect(await state()).toBe('pending')
      expect((await server.deliver(conn({ subType: 'DEL' }), '/api/inbox/sync')).status).toBe(200)
      expect(await state()).toBe('disconnected')
    })

    test('the request that it made itself', async () => {
      await server.deliver(conn())
      expect(await state()).toBe('pending')
      network.clock.advance(1000)
      expect((await server.deliver(conn({ subType: 'DEL' }), '/api/inbox/sync')).status).toBe(200)
      expect(await state()).toBe('disconnected')
    })
  })
})
