import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import { getFileDescriptor, getFileMetadata, login, uploadFile } from '@kith/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ClockedProcess } from '#harness/clocked-process.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { silentLogger } from '#infra/telemetry/index.ts'

const baseTag = 'home.localhost'
const pictures = join(import.meta.dirname, '../fixtures/images')
const made = { status: 'A', x: undefined, variants: 5 }
const retryMs = 10_000

async function send(client: Client, name: string): Promise<string> {
  const body = new Blob([new Uint8Array(await readFile(join(pictures, name)))], { type: 'image/jpeg' })
  const params = { preset: 'default', fileName: name } as const
  return (await client.upload(uploadFile, { params, body })).data.fileId
}

async function stateOf(client: Client, fileId: string) {
  const params = { fileId: fileId as never }
  const { status, x } = (await client.call(getFileMetadata, { params })).data
  const { variants } = (await client.call(getFileDescriptor, { params })).data
  return { status, x, variants: variants.length }
}

async function leftovers(dataDir: string): Promise<string[]> {
  return (await Promise.all(['tmp', 'blobs/staging'].map((name) => readdir(join(dataDir, name))))).flat()
}

/** An uploaded picture whose worker waits for bytes that do not come. */
async function stuckPicture(
  server: { readonly dataDir: string; readonly client: Client; readonly settle: () => Promise<unknown> },
  name: string,
) {
  const original = join(pictures, name)
  const hash = createHash('sha256')
    .update(await readFile(original))
    .digest('hex')
  const blob = join(server.dataDir, 'blobs/1', hash.slice(0, 2), hash.slice(2))
  // Without a folder for its outputs the first attempt fails before it reads.
  const temp = join(server.dataDir, 'tmp')
  await rename(temp, `${temp}-away`)
  const fileId = await send(server.client, name)
  await server.settle()
  await rename(`${temp}-away`, temp)
  await rm(blob)
  execFileSync('mkfifo', [blob])
  return {
    fileId,
    /** Resolves when a worker has begun to read. */
    async opened() {
      const writer = await open(blob, 'w')
      return { close: () => writer.close() }
    },
    async heal() {
      await rm(blob)
      await copyFile(original, blob)
    },
  }
}

describe('A worker that is killed while it makes variants', () => {
  let server: TestServer
  let client: Client
  let dataDir: string
  // As many as are started here.
  const pids: number[] = []
  const logger = {
    ...silentLogger,
    debug: (details: { readonly pid?: number }, message: string) => {
      if (message === 'An image worker started') pids.push(details.pid ?? 0)
    },
    child: () => logger,
  }
  const settle = () => server.settle()

  beforeEach(async () => {
    pids.length = 0
    server = await TestServer.start({ logger })
    client = await server.as(baseTag)
    dataDir = server.running.services.config.dataDir
  })
  afterEach(() => server[Symbol.asyncDispose]())

  test('once is replaced, and the picture has its variants', async () => {
    const stuck = await stuckPicture({ dataDir, client, settle }, 'photo.jpg')
    server.clock.advance(retryMs)
    const settled = settle()
    const reader = await stuck.opened()
    await stuck.heal()
    process.kill(pids[0] ?? 0, 'SIGKILL')
    await settled
    await reader.close()
    expect(await stateOf(client, stuck.fileId)).toEqual(made)
    expect([pids.length, await leftovers(dataDir)]).toEqual([2, []])
  })

  test('each time ends the attempts: the picture says so, and the others have theirs', async () => {
    const stuck = await stuckPicture({ dataDir, client, settle }, 'photo.jpg')
    server.clock.advance(retryMs)
    const settled = settle()
    const others: string[] = []
    for (const attempt of [0, 1]) {
      const reader = await stuck.opened()
      others.push(await send(client, ['orientation-6.jpg', 'wide-gamut.jpg'][attempt] ?? ''))
      process.kill(pids[attempt] ?? 0, 'SIGKILL')
      await expect.poll(() => isGone(pids[attempt] ?? 0)).toBe(true)
      await reader.close()
    }
    await settled
    await settle()
    const processingError = 'The picture cannot be read.'
    expect(await stateOf(client, stuck.fileId)).toEqual({ status: 'A', x: { processingError }, variants: 1 })
    for (const other of others)
      expect(await stateOf(client, other)).toMatchObject({ status: 'A', x: undefined })
    expect(await leftovers(dataDir)).toEqual([])
  })
})

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe('A server that is killed while variants are made has them made when it is back', () => {
  test('A server that is killed while variants are made has them made when it is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'kith-variants-'))
    const place = { baseIdTag: baseTag, dataDir, linkPort: 1, identityHosts: {}, nowMs: Date.now() }
    const killed = await ClockedProcess.start(place)
    try {
      const body = { idTag: baseTag, password: testPassword }
      const { token } = (await killed.client(baseTag).call(login, { body })).data
      const client = killed.client(baseTag, token)
      const settle = () => killed.obey({ kind: 'settle' })
      const stuck = await stuckPicture({ dataDir, client, settle }, 'photo.jpg')
      await killed.obey({ kind: 'advance', ms: retryMs })
      const settled = settle().catch(() => undefined)
      const reader = await stuck.opened()
      expect((await stateOf(client, stuck.fileId)).status).toBe('P')
      await killed.kill()
      await settled
      await reader.close()
      await stuck.heal()
      const clock = new TestClock(place.nowMs + 60_000)
      await using next = await TestServer.start({ baseIdTag: baseTag, dataDir, clock })
      await next.settle()
      // What died is not tried again at once: it may be what killed the server.
      clock.advance(60_000)
      await next.settle()
      expect(await stateOf(next.client(baseTag, token), stuck.fileId)).toEqual(made)
    } finally {
      await killed.kill()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})
