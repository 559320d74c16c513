import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAction, type IdTag } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { pollMs } from '#harness/patience.ts'
import { ServerProcess } from '#harness/server-process.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const writers = 200
/** The server is killed when so many writes have been acknowledged. */
const acknowledgedAtDeath = 90
const aliceTag = 'alice.localhost' as IdTag
const bobTag = 'bob.localhost' as IdTag

let folder: string
let link: CuttableLink
let alice: ServerProcess
// It is not killed, and so needs no process of its own.
let bob: TestServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-killed-'))
  link = await CuttableLink.open()
  bob = await TestServer.start({
    baseIdTag: bobTag,
    clock: new TestClock(Date.now()),
    identityHosts: new Map([[aliceTag, `http://${aliceTag}:${link.port}`]]),
  })
  const peers = `${bobTag}=${bob.urlOf(bobTag)}`
  alice = await ServerProcess.start({ idTag: aliceTag, link, dataDir: join(folder, 'alice'), peers })
})

afterAll(async () => {
  await Promise.all([alice?.kill(), bob?.stop()])
  await link?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

interface Written {
  readonly kind: 'action' | 'file'
  readonly id: string
  readonly content: string
}

async function post(headers: object, body: object): Promise<string> {
  const response = await alice.request('/api/actions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`the action answered ${response.status}`)
  return ((await response.json()) as { data: { actionId: string } }).data.actionId
}

async function upload(headers: object, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await alice.request('/api/files/raw/noise.bin', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: bytes,
  })
  if (response.status !== 201) throw new Error(`the upload answered ${response.status}`)
  return ((await response.json()) as { data: { fileId: string } }).data.fileId
}

/** Half posts, half files; answers what was acknowledged before the server died. */
async function writeUntilKilled(headers: object): Promise<Written[]> {
  const acknowledged: Written[] = []
  const note = (written: Written) => {
    acknowledged.push(written)
    if (acknowledged.length === acknowledgedAtDeath) void alice.kill()
  }
  const writes = Array.from({ length: writers }, async (_, at) => {
    if (at % 2 === 0) {
      const text = `post ${at}`
      note({
        kind: 'action',
        id: await post(headers, { type: 'POST', content: { text }, visibility: 'F' }),
        content: text,
      })
    } else {
      const bytes = randomBytes(20_000 + at)
      note({
        kind: 'file',
        id: await upload(headers, bytes),
        content: createHash('sha256').update(bytes).digest('hex'),
      })
    }
  })
  await Promise.allSettled(writes)
  return acknowledged
}

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + pollMs
  while (!(await isSo())) {
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${pollMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

interface Listed {
  readonly actionId: string
  readonly content?: { readonly text: string }
}

const postsPath = '/api/actions?type=POST&limit=200'

async function listed(response: Response): Promise<Listed[]> {
  return ((await response.json()) as { data: Listed[] }).data
}

test('what was acknowledged survives kill -9, whole, and is delivered', async () => {
  const bobsClient = await bob.as(bobTag)
  await bobsClient.call(createAction, { body: { type: 'FLLW', audienceTag: aliceTag } })
  await bob.settle()
  const before = await alice.signIn()
  await eventually('the follow arrives', async () => {
    const response = await alice.request('/api/actions?type=FLLW', { headers: before })
    return ((await response.json()) as { data: unknown[] }).data.length === 1
  })

  const acknowledged = await writeUntilKilled(before)
  expect(acknowledged.length).toBeGreaterThanOrEqual(acknowledgedAtDeath)
  alice = await ServerProcess.start(alice.place)
  const headers = await alice.signIn()

  const stored = await listed(await alice.request(postsPath, { headers }))
  const texts = new Map(stored.map(({ actionId, content }) => [actionId, content?.text]))
  for (const { kind, id, content } of acknowledged) {
    if (kind === 'action') expect(texts.get(id)).toBe(content)
    else {
      const response = await alice.request(`/api/files/${id}`, { headers })
      expect(response.status).toBe(200)
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(content)
    }
  }
  // Not acknowledged and stored is allowed; half is not.
  expect(stored.filter(({ content }) => !/^post \d+$/.test(content?.text ?? ''))).toEqual([])
  expect(new Set(texts.values()).size).toBe(stored.length)

  const bobHeaders = { authorization: `Bearer ${await bob.signIn(bobTag)}` }
  const deliveredToBob = async () => {
    await bob.settle()
    return await listed(await bob.request(bobTag, postsPath, { headers: bobHeaders }))
  }
  await eventually('every stored post is delivered', async () => {
    const delivered = new Set((await deliveredToBob()).map(({ actionId }) => actionId))
    return stored.every(({ actionId }) => delivered.has(actionId))
  })
  expect((await deliveredToBob()).length).toBe(stored.length)
  expect(await alice.kill('SIGTERM')).toBe(0)
})
