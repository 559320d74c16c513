import { createHash } from 'node:crypto'
import { parseFileId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import type { BlobHash } from '#infra/blobs/index.ts'
import { Failure } from '#lib/failure.ts'
import { blobFileId, commitTo, normalTags } from './file.ts'

const hash = createHash('sha256').update('hello').digest('hex') as BlobHash

describe('The id of a file', () => {
  test('is the hash of "blob", a salt and the hash of the content', () => {
    const salt = Buffer.alloc(16, 7)
    const expected = createHash('sha256').update('blob').update(salt).update(Buffer.from(hash, 'hex'))
    expect(blobFileId({ hash, salt: salt.toString('base64url') })).toBe(`b1~${expected.digest('base64url')}`)
  })

  test('is another one each time, and checks', () => {
    const one = commitTo(hash)
    const two = commitTo(hash)
    expect(one.fileId).not.toBe(two.fileId)
    expect(parseFileId(one.fileId)).toBe(one.fileId)
    expect(blobFileId(one.content)).toBe(one.fileId)
    expect(Buffer.from(one.content.salt, 'base64url')).toHaveLength(16)
    expect(blobFileId({ ...one.content, salt: two.content.salt })).not.toBe(one.fileId)
  })
})

describe('Tags', () => {
  test('are kept in their order, each once, without spaces around them, and tell capitals apart', () => {
    expect(normalTags(['b', ' a ', 'b', 'B'], '/tags')).toEqual(['b', 'a', 'B'])
  })

  test.each([[['']], [[' ']], [['a,b']], [['x'.repeat(65)]], [['a\nb']], [['\ud800']]])(
    'are not %j',
    (tags) => {
      expect(() => normalTags(tags, '/tags')).toThrow(Failure)
    },
  )

  test('are at most fifty', () => {
    const many = Array.from({ length: 51 }, (_, at) => `t${at}`)
    expect(normalTags(many.slice(1), '/tags')).toHaveLength(50)
    expect(() => normalTags(many, '/tags')).toThrow(Failure)
  })
})
