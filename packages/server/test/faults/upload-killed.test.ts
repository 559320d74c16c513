import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ServerProcess } from '#harness/server-process.ts'

const mebibyte = 1024 * 1024
const tus = { 'tus-resumable': '1.0.0' }

let folder: string
let server: ServerProcess
let bearer: { authorization: string }

async function begin(fileName: string, length: number): Promise<string> {
  const name = Buffer.from(fileName).toString('base64')
  const response = await server.request('/api/uploads', {
    method: 'POST',
    headers: {
      ...tus,
      ...bearer,
      'upload-length': `${length}`,
      'upload-metadata': `filename ${name},preset cmF3`,
    },
  })
  expect(response.status).toBe(201)
  return response.headers.get('location') ?? ''
}

async function look(path: string): Promise<{ offset: number; fileId: string | null }> {
  const { headers } = await server.request(path, { method: 'HEAD', headers: { ...tus, ...bearer } })
  return { offset: Number(headers.get('upload-offset')), fileId: headers.get('x-file-id') }
}

/** How much is stored; unlike HEAD it leaves the request alone that is under way. */
async function stored(path: string): Promise<number> {
  const response = await server.request(path, { headers: { ...tus, ...bearer } })
  const { data } = (await response.json()) as { data: { offset: number } }
  return data.offset
}

/** Sends what is there from `offset` on; a stream stays open at its end. */
function send(path: string, offset: number, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) {
  return server.request(path, {
    method: 'PATCH',
    headers: {
      ...tus,
      ...bearer,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': `${offset}`,
    },
    body,
    duplex: 'half',
  } as RequestInit)
}

async function restart(): Promise<void> {
  await server.kill()
  server = await ServerProcess.start(server.place)
}

async function finish(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { offset, fileId } = await look(path)
  if (fileId !== null) return fileId
  const answer = await send(path, offset, bytes.subarray(offset))
  expect(answer.status).toBe(204)
  return answer.headers.get('x-file-id') ?? ''
}

async function digestOf(fileId: string): Promise<string> {
  const response = await server.request(`/api/files/${fileId}`, { headers: bearer })
  return digest(new Uint8Array(await response.arrayBuffer()))
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function namesOfFiles(): Promise<string[]> {
  const response = await server.request('/api/files?limit=200', { headers: bearer })
  const { data } = (await response.json()) as { data: { fileName: string }[] }
  return data.map(({ fileName }) => fileName).sort()
}

type Moment = readonly [fileName: string, isNow: () => Promise<boolean>]

async function sizeBelow(path: string): Promise<number> {
  const dir = join(folder, path)
  const names = await readdir(dir)
  const sizes = names.map(async (name) => (await stat(join(dir, name)).catch(() => ({ size: 0 }))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

describe('an upload whose server is killed', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-upload-killed-'))
    server = await ServerProcess.start({ idTag: 'alice.localhost', dataDir: folder })
    bearer = await server.signIn()
  })

  afterAll(async () => {
    await server?.kill()
    await rm(folder, { recursive: true, force: true })
  })

  test('an upload goes on from what was acknowledged when the server is killed in the middle of a piece', async () => {
    const bytes = randomBytes(20 * mebibyte)
    const path = await begin('middle.bin', bytes.length)
    const hanging = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, 19 * mebibyte)),
    })
    const cut = send(path, 0, hanging).catch(() => undefined)
    while ((await stored(path)) < 16 * mebibyte) await new Promise(setImmediate)
    await restart()
    await cut
    const { offset, fileId } = await look(path)
    expect([offset >= 16 * mebibyte, fileId]).toEqual([true, null])
    expect(await digestOf(await finish(path, bytes))).toBe(digest(bytes))
    expect(await readdir(join(folder, 'uploads'))).toEqual([])
  })

  test('an upload becomes one file when the server is killed around its last byte', async () => {
    const bytes = randomBytes(6 * mebibyte)
    const expected = ['middle.bin']
    const moments: readonly Moment[] = [
      ['staged.bin', async () => (await sizeBelow('blobs/staging')) > 0],
      ['arrived.bin', async () => (await sizeBelow('uploads')) === bytes.length],
    ]
    for (const [fileName, isNow] of moments) {
      const path = await begin(fileName, bytes.length)
      let isAnswered = false
      const last = send(path, 0, bytes).then(
        () => (isAnswered = true),
        () => (isAnswered = true),
      )
      while (!isAnswered && !(await isNow())) await new Promise(setImmediate)
      await restart()
      await last
      const fileId = await finish(path, bytes)
      expect(await look(path)).toEqual({ offset: bytes.length, fileId })
      expect(await digestOf(fileId)).toBe(digest(bytes))
      expected.push(fileName)
      expect(await namesOfFiles()).toEqual(expected.toSorted())
    }
  })
})
