import { expect, test } from 'vitest'
import { searchText, wholeIdTag } from './search-terms.ts'

test.each([
  ['  plum  cake ', 'plum  cake'],
  ['x'.repeat(101), 'x'.repeat(100)],
  ['😀'.repeat(101), '😀'.repeat(100)],
  [' ', ''],
])('%j is asked for as %j', (typed, asked) => {
  expect(searchText(typed)).toBe(asked)
})

test.each([
  ['ben.example.com', 'ben.example.com'],
  [' @Ben.Example.COM ', 'ben.example.com'],
  ['bücher.example', 'bücher.example'],
  ['ben', undefined],
  ['ben.', undefined],
  ['see ben.example.com', undefined],
  ['3.14', undefined],
])('%j is the identity %j', (typed, idTag) => {
  expect(wholeIdTag(typed)).toBe(idTag)
})
