import { expect, test } from 'vitest'
import { tagsOf } from './tags.ts'

test.each([
  [{ tags: ['garden', 'Garden'] }, ['garden', 'Garden']],
  [{ text: '#spring in the #garden, #spring' }, ['spring', 'garden']],
  [{ text: '(#a) "#b" #c!' }, ['a', 'b', 'c']],
  [{ text: 'straße #Straße #日本語' }, ['Straße', '日本語']],
  [{ text: 'https://example.com/#top a#b &#39; ## #' }, []],
  [{ text: `#${'x'.repeat(65)}` }, []],
  [{ tags: ['one'], text: '#two' }, ['one', 'two']],
  [{ text: 5, tags: 'three' }, []],
  [undefined, []],
])('%j is tagged %j', (content, tags) => {
  expect(tagsOf(content)).toEqual(tags)
})

test('no more than 20 tags of one action count', () => {
  const text = Array.from({ length: 30 }, (_, at) => `#t${at}`).join(' ')
  expect(tagsOf({ text })).toHaveLength(20)
})
