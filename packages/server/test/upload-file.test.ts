import { createHash, randomBytes } from 'node:crypto'
import { type Client, createClient, type UploadFileOptions, uploadFile } from '@kith/client'
import { downloadFile, listFiles, type UploadPreset } from '@kith/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { TestServer } from '#harness/test-server.ts'

const idTag = 'alice.localhost'
const mebibyte = 1024 * 1024

let server: TestServer
let token: string
let link: CuttableLink
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(idTag)
  token = await server.signIn(idTag)
})
afterAll(() => server.stop())

beforeEach(async () => {
  link = await CuttableLink.open()
  link.leadTo(Number(new URL(server.urlOf(idTag)).port))
})
afterEach(() => link[Symbol.asyncDispose]())

interface Watched {
  readonly client: Client
  /** `METHOD offset` of each request. */
  readonly requests: string[]
  /** How many requests had no answer. */
  failures: number
}

/** A client behind the link, which opens again when so many requests have failed. `losesAnswer`: of its first piece. */
function watchedClient(reopenAfter: number, losesAnswer = false): Watched {
  const send = localFetch()
  const watched = { requests: [] as string[], failures: 0 }
  const watchedFetch = async (input: string | URL | Request, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    const isLost = losesAnswer && init.method === 'PATCH' && watched.failures === 0
    watched.requests.push(`${init.method} ${headers.get('upload-offset') ?? ''}`.trim())
    try {
      const answer = await send(input, init)
      if (isLost) throw new TypeError('the answer is lost')
      return answer
    } catch (error) {
      watched.failures += 1
      if (watched.failures === reopenAfter) link.set('open')
      throw error
    }
  }
  const baseUrl = `http://${idTag}:${link.port}`
  return Object.assign(watched, { client: createClient({ baseUrl, token, fetch: watchedFetch }) })
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const noWaits = Array.from({ length: 5 }, () => 0)
const inPieces = (fileName: string): UploadFileOptions => ({
  fileName,
  preset: 'raw' satisfies UploadPreset,
  resumableFromBytes: 1,
  retryDelaysMs: noWaits,
})

async function downloaded(fileId: string): Promise<string> {
  const { data } = await server.client(idTag, token).call(downloadFile, { params: { fileId } })
  return digest(new Uint8Array(await data.arrayBuffer()))
}

async function countNamed(fileName: string): Promise<number> {
  const { data } = await server.client(idTag, token).call(listFiles, { query: { limit: 200 } })
  return data.filter((file) => file.fileName === fileName).length
}

/** Resolves when something of an upload has arrived. */
async function arrival(uploadId: string): Promise<void> {
  const { services } = server.running
  const tenant = await server.running.features.identity.tenants.find(idTag as never)
  while ((await services.partials.size(`${tenant?.tenantId}-${uploadId}`)) === 0)
    await new Promise(setImmediate)
}

describe('uploadFile', () => {
  test('sends a small file in one request', async () => {
    const { client, requests } = watchedClient(0)
    const told: number[] = []
    const file = await uploadFile(client, new Blob(['hello'], { type: 'text/plain' }), {
      fileName: 'small.txt',
      tags: ['a', 'b'],
      visibility: 'F',
      createdAt: new Date('2020-01-01T00:00:00Z'),
      onProgress: ({ sentBytes }) => told.push(sentBytes),
    })
    expect(file).toMatchObject({ fileName: 'small.txt', contentType: 'text/plain', tags: ['a', 'b'] })
    expect(file.createdAt).toBe(1_577_836_800)
    expect([requests, told]).toEqual([['POST'], [5]])
  })

  test.each([undefined, 1])(
    'takes the place of a file, in pieces from %s bytes on',
    async (resumableFromBytes) => {
      const { client } = watchedClient(0)
      const fileName = `plan ${resumableFromBytes}.txt`
      const former = await uploadFile(client, new Blob(['first']), { fileName, tags: ['kept'] })
      const how = resumableFromBytes === undefined ? {} : { resumableFromBytes }
      const { fileId } = await uploadFile(client, new Blob(['second']), {
        fileName,
        replaces: former.fileId,
        ...how,
      })
      const { data } = await client.call(listFiles, { query: { search: fileName } })
      expect(data.map((file) => [file.fileId, file.tags])).toEqual([[fileId, ['kept']]])
    },
  )

  test.each(['application/json', 'application/geo+json', 'application/JSON; charset=utf-8'])(
    'sends JSON as it sends anything else: %s',
    async (type) => {
      const { client } = watchedClient(0)
      const bytes = new TextEncoder().encode('{"a":"\\r\\n--"}')
      const told: unknown[] = []
      const file = await uploadFile(client, new Blob([bytes], { type }), {
        fileName: 'map.json',
        onProgress: (progress) => told.push(progress),
      })
      expect(file.contentType).toBe(type.split(';')[0]?.toLowerCase())
      expect(await downloaded(file.fileId)).toBe(digest(bytes))
      expect(told.at(-1)).toEqual({ sentBytes: bytes.length, totalBytes: bytes.length })
    },
  )

  test('begins anew when the upload that it should continue is gone', async () => {
    const { client, requests } = watchedClient(0)
    const begun: string[] = []
    const file = await uploadFile(client, new Blob(['hello']), {
      ...inPieces('late.txt'),
      uploadId: 'A'.repeat(22),
      onBegun: (uploadId) => begun.push(uploadId),
    })
    expect(await downloaded(file.fileId)).toBe(digest(Buffer.from('hello')))
    expect(begun).toHaveLength(1)
    expect(requests).toEqual(['GET', 'POST', 'GET', 'PATCH 0', 'GET', 'GET'])
  })

  test('sends a large one in pieces, and answers the same', async () => {
    const { client, requests } = watchedClient(0)
    const bytes = randomBytes(17 * mebibyte)
    // By chance alone they might begin like a file of some type.
    bytes.fill(1, 0, 16)
    const told: number[] = []
    const file = await uploadFile(client, new Blob([bytes]), {
      fileName: 'lärge.bin',
      preset: 'raw',
      tags: ['a', 'b'],
      createdAt: new Date('2020-01-01T00:00:00Z'),
      onProgress: ({ sentBytes, totalBytes }) => {
        expect(totalBytes).toBe(bytes.length)
        told.push(sentBytes)
      },
    })
    expect(file).toEqual({
      fileId: expect.stringMatching(/^b1~/),
      status: 'A',
      fileTp: 'BLOB',
      contentType: 'application/octet-stream',
      fileName: 'lärge.bin',
      tags: ['a', 'b'],
      createdAt: 1_577_836_800,
    })
    expect(requests.filter((request) => request.startsWith('PATCH'))).toEqual([
      'PATCH 0',
      `PATCH ${16 * mebibyte}`,
    ])
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(bytes.length)
    expect(await downloaded(file.fileId)).toBe(digest(bytes))
  })

  test('goes on where the connection broke', async () => {
    const watched = watchedClient(2)
    const bytes = randomBytes(16 * mebibyte)
    const file = await uploadFile(watched.client, new Blob([bytes]), {
      ...inPieces('cut.bin'),
      onBegun: (uploadId) => void arrival(uploadId).then(() => link.set('refused')),
    })
    expect(watched.failures).toBe(2)
    const pieces = watched.requests.filter((request) => request.startsWith('PATCH'))
    expect(pieces.at(-1)).toMatch(/^PATCH [1-9]\d+$/)
    expect(await downloaded(file.fileId)).toBe(digest(bytes))
    expect(await countNamed('cut.bin')).toBe(1)
  })

  test('makes one file when the last answer is lost', async () => {
    const watched = watchedClient(0, true)
    const file = await uploadFile(watched.client, new Blob(['hello']), inPieces('unanswered.bin'))
    expect(watched.failures).toBe(1)
    expect(watched.requests).toEqual(['POST', 'GET', 'PATCH 0', 'GET', 'GET'])
    expect(await downloaded(file.fileId)).toBe(digest(Buffer.from('hello')))
    expect(await countNamed('unanswered.bin')).toBe(1)
  })

  test('is given up by its signal, and continued later', async () => {
    const watched = watchedClient(0)
    const bytes = randomBytes(16 * mebibyte)
    const controller = new AbortController()
    let uploadId = ''
    const first = uploadFile(watched.client, new Blob([bytes]), {
      ...inPieces('later.bin'),
      signal: controller.signal,
      onBegun(id) {
        uploadId = id
        void arrival(id).then(() => controller.abort(new Error('enough')))
      },
    })
    await expect(first).rejects.toThrow('enough')
    const file = await uploadFile(watched.client, new Blob([bytes]), { ...inPieces('later.bin'), uploadId })
    expect(await downloaded(file.fileId)).toBe(digest(bytes))
    expect(watched.requests.filter((request) => request === 'POST')).toHaveLength(1)
  })

  test('does not insist on what the server refuses, nor without end', async () => {
    const watched = watchedClient(0)
    const refused = uploadFile(watched.client, new Blob(['no picture'], { type: 'image/png' }), {
      ...inPieces('refused.png'),
    })
    await expect(refused).rejects.toMatchObject({ code: 'E-VALIDATION' })
    expect(watched.requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(1)
    const hopeless = uploadFile(watched.client, new Blob(['hello']), {
      ...inPieces('hopeless'),
      onBegun: () => link.set('refused'),
    })
    await expect(hopeless).rejects.toThrow(TypeError)
    expect(watched.failures).toBe(noWaits.length + 1)
  })
})
