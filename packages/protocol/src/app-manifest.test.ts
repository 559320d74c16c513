import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { AppManifest } from './app-manifest.ts'
import { appContentType } from './app-package.ts'

const form = Compile(AppManifest)
const plain = { id: 'com.example.notes', name: 'Notes', version: '1.0.0', entry: 'index.html' }
const longId = `${'a'.repeat(60)}.${'b'.repeat(41)}`
const languages = Array.from({ length: 40 }, (_, at) => `de-${String(at).padStart(2, '0')}`)
const inLanguages = (tags: readonly string[], text = 'x') =>
  Object.fromEntries(tags.map((tag) => [tag, text]))

describe('A manifest', () => {
  test.each<[string, object]>([
    ['nothing more', {}],
    ['titles', { titles: { de: 'Notizen', 'zh-Hant-TW': '筆記', fil: 'x' } }],
    ['a title of 100 characters', { titles: { en: 'x'.repeat(100) } }],
    ['40 languages', { titles: inLanguages(languages), descriptions: inLanguages(languages) }],
    ['a tag of 35 characters', { titles: { 'de-abcdefgh-abcdefgh-abcdefgh-abcde': 'x' } }],
    ['descriptions of lines', { descriptions: { en: `One.\n\nTwo.${'x'.repeat(990)}` } }],
    ['file types', { fileTypes: ['image/*', 'text/markdown', 'application/vnd.a.b-c+json'] }],
    ['20 file types', { fileTypes: Array.from({ length: 20 }, (_, at) => `text/x-${at}`) }],
    ['all capabilities', { capabilities: ['crdt', 'rtdb', 'files:read'] }],
    ['the longest id', { id: longId }],
    ['what nobody knows', { fileHandlers: { any: 'thing' } }],
  ])('may have %s', (_, more) => {
    expect(form.Errors({ ...plain, ...more })).toEqual([])
  })

  test.each<[string, string, object]>([
    ['a list of titles', '/titles', { titles: ['x'] }],
    ['an empty title', '/titles/de', { titles: { de: '' } }],
    ['a long title', '/titles/de', { titles: { de: 'x'.repeat(101) } }],
    ['a tag in capitals', '/titles/DE', { titles: { DE: 'x' } }],
    ['a tag with a low line', '/titles/de_AT', { titles: { de_AT: 'x' } }],
    ['a tag that ends too early', '/titles/de-', { titles: { 'de-': 'x' } }],
    [
      'a tag of 36 characters',
      '/descriptions/de-abcdefgh-abcdefgh-abcdefgh-abcdef',
      { descriptions: { 'de-abcdefgh-abcdefgh-abcdefgh-abcdef': 'x' } },
    ],
    ['41 languages', '/titles', { titles: inLanguages([...languages, 'en']) }],
    ['a long description', '/descriptions/de', { descriptions: { de: 'x'.repeat(1_001) } }],
    ['a file type in capitals', '/fileTypes/0', { fileTypes: ['Text/plain'] }],
    ['any file type', '/fileTypes/0', { fileTypes: ['*/*'] }],
    ['a file type without its second part', '/fileTypes/1', { fileTypes: ['text/*', 'text'] }],
    ['a file type with a parameter', '/fileTypes/0', { fileTypes: ['text/plain; charset=utf-8'] }],
    ['a long file type', '/fileTypes/0', { fileTypes: [`text/${'x'.repeat(123)}`] }],
    ['a file type twice', '/fileTypes', { fileTypes: ['text/*', 'text/*'] }],
    ['21 file types', '/fileTypes', { fileTypes: Array.from({ length: 21 }, (_, at) => `text/x-${at}`) }],
    ['an unknown capability', '/capabilities/1', { capabilities: ['crdt', 'files:write'] }],
    ['a capability twice', '/capabilities', { capabilities: ['files:read', 'files:read'] }],
    ['an id that its files could not carry', '/id', { id: `${longId}b` }],
  ])('may not have %s', (_, path, more) => {
    expect(form.Errors({ ...plain, ...more })[0]?.instancePath).toBe(path)
  })

  test('has an id that a content type has room for', () => {
    expect(appContentType({ id: longId })).toHaveLength(127)
  })
})
