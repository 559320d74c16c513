import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { listFiles, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const broken = { status: 500, code: 'E-INTERNAL' }

let server: TestServer
let client: Awaited<ReturnType<TestServer['as']>>
let folder: string

beforeAll(async () => {
  server = await TestServer.start()
  client = await server.as(baseTag)
  folder = join(server.running.services.config.dataDir, 'blobs')
})
afterAll(() => server[Symbol.asyncDispose]())

async function send(body: Blob | ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const params = { preset: 'raw', fileName: 'file' } as const
  const { data } = await client.upload(uploadFile, { params, query: { visibility: 'P' }, body })
  return data.fileId
}
const read = async (fileId: string) => {
  const answer = await server.request(baseTag, `/api/files/${fileId}`)
  return answer.status === 200 ? await answer.text() : answer.status
}
const rows = () => server.countRows('files', 'blobs', 'storage_reservations', 'blob_claims')

test('a folder of blobs that goes during an upload leaves no file, and takes all again when it is back', async () => {
  const fileId = await send(new Blob(['hello']))
  const before = await rows()
  const rest = Promise.withResolvers<void>()
  const halting = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(randomBytes(100_000)),
    async pull(controller) {
      await rest.promise
      controller.enqueue(randomBytes(100_000))
      controller.close()
    },
  })
  const upload = send(halting)
  while ((await readdir(join(folder, 'staging'))).length === 0) await new Promise(setImmediate)
  await rename(folder, `${folder}-away`)
  rest.resolve()
  await expect(upload).rejects.toMatchObject(broken)
  await expect(send(new Blob(['during']))).rejects.toMatchObject(broken)
  expect(await read(fileId)).toBe(503)
  expect(await rows()).toEqual(before)
  expect((await client.call(listFiles)).data).toHaveLength(1)
  // Another in its place would take what belongs on a disk that is not mounted now.
  expect(existsSync(folder)).toBe(false)
  await rename(`${folder}-away`, folder)
  expect(await read(fileId)).toBe('hello')
  expect(await read(await send(new Blob(['after'])))).toBe('after')
})

test('a folder of blobs that was emptied takes them again', async () => {
  await send(new Blob(['the same']))
  for (const name of await readdir(folder))
    if (name !== 'staging') await rm(join(folder, name), { recursive: true })
  expect(await read(await send(new Blob(['the same'])))).toBe('the same')
})
