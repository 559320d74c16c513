import { describe, expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { parseUploadMetadata } from './upload-metadata.ts'

const encode = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',')

const codeOf = (text: string) => {
  try {
    parseUploadMetadata(text)
  } catch (error) {
    return error instanceof Failure ? error.code : error
  }
  return 'none'
}

describe('The metadata of an upload', () => {
  test('describes the file', () => {
    const parentId = `f1~${'A'.repeat(43)}`
    const text = encode({
      filename: 'ü🐈.png',
      filetype: 'image/png',
      preset: 'raw',
      parentId,
      tags: 'a, b,a,',
      visibility: 'F',
      createdAt: '1700000000',
    })
    expect(parseUploadMetadata(text)).toEqual({
      fileName: 'ü🐈.png',
      declaredType: 'image/png',
      preset: 'raw',
      parentId,
      tags: ['a', 'b'],
      visibility: 'F',
      createdAt: 1_700_000_000,
    })
  })

  test('may be nothing; what is unknown is left alone', () => {
    expect(parseUploadMetadata('is_confidential , more dGV4dA')).toEqual({
      fileName: 'upload',
      declaredType: 'application/octet-stream',
      preset: 'default',
      parentId: undefined,
      tags: [],
      visibility: null,
      createdAt: undefined,
    })
  })

  test.each([
    ['an empty name', encode({ filename: '' })],
    ['a path', encode({ filename: 'a/b' })],
    ['no base64', 'filename a.txt'],
    ['more than a pair', 'filename YQ== YQ=='],
    ['no UTF-8', 'filename /w=='],
    ['a name twice', `${encode({ filename: 'a' })},${encode({ filename: 'b' })}`],
    ['an unknown preset', encode({ filename: 'a', preset: 'huge' })],
    ['an unknown visibility', encode({ filename: 'a', visibility: 'X' })],
    ['milliseconds', encode({ filename: 'a', createdAt: '1700000000000' })],
    ['milliseconds by the other name', encode({ filename: 'a', created_at: '1700000000000' })],
    ['a long tag', encode({ filename: 'a', tags: 'x'.repeat(65) })],
  ])('is refused: %s', (_, text) => {
    expect(codeOf(text)).toBe('E-VALIDATION')
  })

  test.each(['', '__root__', 'null'])('with the parent %j is in no folder', (parentId) => {
    expect(parseUploadMetadata(encode({ parentId })).parentId).toBeUndefined()
  })

  test('gives the time by either name', () => {
    expect(parseUploadMetadata(encode({ created_at: '1700000000' })).createdAt).toBe(1_700_000_000)
  })

  test('with a parent in no form of an id names no file', () => {
    expect(codeOf(encode({ filename: 'a', parentId: 'root' }))).toBe('E-FILE-NOTFOUND')
  })
})
