import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import {
  changeFile,
  createAction,
  createFile,
  createShare,
  deleteAction,
  deleteFile,
  deleteShare,
  type FileId,
  getAccessToken,
  getProxyToken,
  logout,
  uploadFile,
} from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenTestDatabase, onPostgresServer } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost'
const picture = join(import.meta.dirname, '../fixtures/images/orientation-6.jpg')
const slowestMs = 5000

/** Two processes on one database, and who is there. */
interface World {
  readonly here: TestServer
  readonly there: TestServer
  readonly clock: TestClock
  readonly owner: Client
  /** Who has no other way than the one that is tried. */
  readonly reader: string
}

/** Somebody's way to a file, and how it ends. */
interface Way {
  readonly fileId: FileId
  readonly bearers: readonly string[]
  readonly end: () => Promise<unknown>
}

async function upload({ owner, here }: World, query: object = {}): Promise<FileId> {
  const body = new Blob([new Uint8Array(await readFile(picture))], { type: 'image/jpeg' })
  const params = { preset: 'default', fileName: 'a.jpg' } as const
  const { data } = await owner.upload(uploadFile, { params, query, body })
  await here.settle()
  return data.fileId as FileId
}

/** What the reader visits Alice with: the token of his own server, and the one that he gets for it. */
async function visit({ here, reader }: World): Promise<string[]> {
  const home = await here.as(reader)
  const query = { target: alice as never }
  const [{ data: proxy }, { data: other }] = [
    await home.call(getProxyToken, { query }),
    await home.call(getProxyToken, { query }),
  ]
  const { data: access } = await here.client(alice).call(getAccessToken, { query: { token: other.token } })
  return [proxy.token, access.token]
}

async function share({ owner, reader }: World, fileId: FileId, body: object = {}) {
  const given = { subjectType: 'U', subjectId: reader, permission: 'R', ...body } as const
  return (await owner.call(createShare, { params: { fileId }, body: given })).data
}

async function shared(world: World): Promise<Way> {
  const fileId = await upload(world)
  const { id } = await share(world, fileId)
  const params = { fileId, shareId: String(id) }
  return { fileId, bearers: await visit(world), end: () => world.owner.call(deleteShare, { params }) }
}

const ways: Readonly<Record<string, (world: World) => Promise<Way>>> = {
  'a share that is deleted': shared,
  async 'a share that is over'(world) {
    const fileId = await upload(world)
    await share(world, fileId, { expiresAt: Math.floor(world.clock.now() / 1000) + 60 })
    return { fileId, bearers: await visit(world), end: async () => world.clock.advance(60_000) }
  },
  async 'a share of the folder above that is deleted'(world) {
    const { data: folder } = await world.owner.call(createFile, {
      body: { fileTp: 'FLDR', fileName: 'Trip' },
    })
    const folderId = folder.fileId as FileId
    const fileId = await upload(world, { parentId: folderId })
    const params = { fileId: folderId, shareId: String((await share(world, folderId)).id) }
    return { fileId, bearers: await visit(world), end: () => world.owner.call(deleteShare, { params }) }
  },
  async 'a link that is deleted'(world) {
    const fileId = await upload(world)
    const { id, refId = '' } = await share(world, fileId, { subjectType: 'L', subjectId: 'for all' })
    const { data } = await world.here.client(alice).call(getAccessToken, { query: { ref: refId } })
    const params = { fileId, shareId: String(id) }
    return { fileId, bearers: [data.token], end: () => world.owner.call(deleteShare, { params }) }
  },
  async 'a relation that is over'(world) {
    await world.here.relate(alice, world.reader, { isFollower: true })
    const fileId = await upload(world, { visibility: 'F' })
    return {
      fileId,
      bearers: await visit(world),
      end: () => world.here.relate(alice, world.reader, { isFollower: false }),
    }
  },
  async 'a reader who is blocked'(world) {
    const way = await shared(world)
    return { ...way, end: () => world.here.block(alice, world.reader) }
  },
  async 'a file that is hidden'(world) {
    const fileId = await upload(world, { visibility: 'V' })
    const change = { params: { fileId }, body: { visibility: 'F' } } as const
    return { fileId, bearers: await visit(world), end: () => world.owner.call(changeFile, change) }
  },
  async 'a file that is thrown away'(world) {
    const way = await shared(world)
    return { ...way, end: () => world.owner.call(deleteFile, { params: { fileId: way.fileId } }) }
  },
  async 'an action that is deleted with its attachment'(world) {
    const fileId = await upload(world)
    const body = { type: 'POST', visibility: 'V', content: { text: 'see' }, attachments: [fileId] } as const
    const { data } = await world.owner.call(createAction, { body })
    const params = { actionId: data.actionId as never }
    return { fileId, bearers: await visit(world), end: () => world.owner.call(deleteAction, { params }) }
  },
  async 'a session that is ended'(world) {
    const fileId = await upload(world)
    const token = await world.here.signIn(alice)
    return { fileId, bearers: [token], end: () => world.here.client(alice, token).call(logout, {}) }
  },
}

/** Asks for the file and what is of it in every way there is, and answers the statuses. */
async function statuses(server: TestServer, { fileId, bearers }: Way): Promise<Set<number>> {
  const asked = bearers.flatMap((bearer) => {
    const authorization = `Bearer ${bearer}`
    return [
      [`${fileId}`, { authorization }],
      [`${fileId}?token=${bearer}`, {}],
      [`${fileId}?variant=tn`, { authorization }],
      [`variant/${fileId}~tn?token=${bearer}`, {}],
      [`${fileId}`, { authorization, range: 'bytes=0-9' }],
      [`${fileId}`, { authorization, 'if-none-match': '*' }],
      [`${fileId}/descriptor`, { authorization }],
      [`${fileId}/metadata`, { authorization }],
    ] as const
  })
  const answers = asked.map(async ([path, headers]) => {
    const answer = await server.request(alice, `/api/files/${path}`, { headers })
    await answer.arrayBuffer()
    return answer.status
  })
  return new Set(await Promise.all(answers))
}

const readable = new Set([200, 206, 304])

function revocationSuite(open: OpenTestDatabase): void {
  test('ends at once where it is ended, and soon in other processes', async () => {
    const { url } = await open.place()
    const blobDir = await mkdtemp(join(tmpdir(), 'kith-revoked-'))
    onTestFinished(() => rm(blobDir, { recursive: true, force: true }))
    const clock = new TestClock()
    const place = { DATABASE_URL: url, BLOB_STORE: `file:${blobDir}` }
    const env = { ...place, MASTER_KEY: randomBytes(32).toString('base64') }
    const identityHosts = new Map()
    const start = () => TestServer.start({ env, clock, baseIdTag: alice, identityHosts })
    await using there = await start()
    await using here = await start()
    const owner = await here.as(alice)
    for (const [at, [name, openWay]] of Object.entries(ways).entries()) {
      const reader = `reader${at}.localhost`
      await here.createTenant(reader)
      const way = await openWay({ here, there, clock, owner, reader })
      for (const server of [here, there])
        expect([name, await statuses(server, way)]).toEqual([name, readable])
      await way.end()
      const atOnce = await statuses(here, way)
      clock.advance(slowestMs)
      for (const seen of [atOnce, await statuses(there, way)])
        expect([name, [...seen].filter((status) => status !== 401 && status !== 404)]).toEqual([name, []])
    }
  })
}

onPostgresServer('A way to a file', revocationSuite)
