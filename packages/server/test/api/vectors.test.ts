import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

function vectors<Content>(path: string): Content {
  return JSON.parse(
    readFileSync(new URL(`../../../../vectors/${path}.json`, import.meta.url), 'utf8'),
  ) as Content
}

describe('what the server makes of the vectors', () => {
  let server: TestServer
  let token: string
  beforeAll(async () => {
    server = await TestServer.start()
    token = await server.signIn(server.baseIdTag)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  async function statusOf(path: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` }
    return (await server.request(server.baseIdTag, path, { headers })).status
  }

  test('of identities: it asks for those that are some, and no others', async () => {
    type IdTags = { valid: { input: string }[]; invalid: { name: string; input: string }[] }
    const { valid, invalid } = vectors<IdTags>('ids/id-tags')
    const ask = (input: string) => statusOf(`/.well-known/service/id-tag?idTag=${encodeURIComponent(input)}`)
    for (const { input } of valid) expect({ input, status: await ask(input) }).toEqual({ input, status: 404 })
    for (const { name, input } of invalid)
      expect({ name, status: await ask(input) }).toEqual({ name, status: 400 })
  })

  test('of ids in a bad form: it answers like for unknown ones', async () => {
    type Ids = { invalid: { name: string; text: string }[] }
    const places = { action: '/api/actions/', file: '/api/files/', reference: '/api/refs/' }
    for (const [kind, path] of Object.entries(places))
      for (const { name, text } of vectors<Ids>(`ids/${kind}-ids`).invalid.filter((it) => it.text !== ''))
        expect({ name, status: await statusOf(`${path}${encodeURIComponent(text)}`) }).toEqual({
          name,
          status: 404,
        })
  })

  test('of cursors: a list takes those of its own order', async () => {
    type Cursors = Record<'valid' | 'invalid', { name: string; sort: string; cursor: string }[]>
    const { valid, invalid } = vectors<Cursors>('cursors/cursors')
    const list = (cursor: string) => statusOf(`/api/actions?cursor=${encodeURIComponent(cursor)}`)
    for (const { name, sort, cursor } of valid)
      expect({ name, status: await list(cursor) }).toEqual({ name, status: sort === 'created' ? 200 : 400 })
    for (const { name, cursor } of invalid.filter((it) => it.cursor !== ''))
      expect({ name, status: await list(cursor) }).toEqual({ name, status: 400 })
  })

  test('of contents: the id of what is uploaded commits to it', async () => {
    const { blobs } = vectors<{ blobs: { contentHex: string; sha256: string }[] }>('ids/file-ids')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
    for (const { contentHex, sha256 } of blobs) {
      const body = Buffer.from(contentHex, 'hex')
      const post = { method: 'POST', headers, body }
      const answer = await server.request(server.baseIdTag, '/api/files/raw/x.bin', post)
      const { fileId } = ((await answer.json()) as { data: { fileId: string } }).data
      const read = await server.request(server.baseIdTag, `/api/files/${fileId}/descriptor`, { headers })
      const described = ((await read.json()) as { data: { sha256: string; salt: string } }).data
      expect(described.sha256).toBe(sha256)
      const parts = ['blob', Buffer.from(described.salt, 'base64url'), Buffer.from(sha256, 'base64url')]
      const hash = createHash('sha256')
      for (const part of parts) hash.update(part)
      expect(fileId).toBe(`b1~${hash.digest('base64url')}`)
    }
  })
})
