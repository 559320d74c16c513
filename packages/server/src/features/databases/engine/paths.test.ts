import { expect, test } from 'vitest'
import { parsePath } from './paths.ts'

test('a path alternates between collections and documents', () => {
  expect(parsePath('posts', 'collection')).toEqual({
    text: 'posts',
    kind: 'collection',
    parent: '',
    id: 'posts',
  })
  expect(parsePath('/posts/p1/', 'any')).toEqual({
    text: 'posts/p1',
    kind: 'document',
    parent: 'posts',
    id: 'p1',
  })
  expect(parsePath('posts/p1/comments', 'any').kind).toBe('collection')
  expect(parsePath('__proto__/constructor', 'document').id).toBe('constructor')
  expect(parsePath(`c/${'\u{1F600}'.repeat(128)}`, 'document').parent).toBe('c')
  expect(parsePath(Array.from({ length: 16 }, () => 'x'.repeat(128)).join('/'), 'document').id).toHaveLength(
    128,
  )
  expect(parsePath('a"\'`; drop table x --/%_?*', 'document').parent).toBe('a"\'`; drop table x --')
})

test.each<[unknown, 'document' | 'collection' | 'any']>([
  ['', 'any'],
  ['/', 'any'],
  ['//a', 'any'],
  ['a//b', 'any'],
  ['a/b//', 'any'],
  ['a', 'document'],
  ['a/b', 'collection'],
  ['a/b\u0000', 'any'],
  ['a\u007f', 'any'],
  ['a\u0085b', 'any'],
  ['a\ud800', 'any'],
  ['x'.repeat(129), 'any'],
  [Array.from({ length: 17 }, () => 'x').join('/'), 'any'],
  ['/'.repeat(1_000_000), 'any'],
  [7, 'any'],
])('%j is no path of a %s', (text, kind) => {
  expect(() => parsePath(text as string, kind)).toThrow(expect.objectContaining({ code: 400 }))
})
