import { expect, test } from 'vitest'
import { complete, findCompletion, suggestTags } from './completion.ts'

test.each([
  ['Hello @an', { kind: '@', query: 'an', from: 6 }],
  ['@', { kind: '@', query: '', from: 0 }],
  ['(#gärt', { kind: '#', query: 'gärt', from: 1 }],
  ['mail me: a@b', undefined],
  ['@anna and', undefined],
  [`${'x'.repeat(49_000)} @an`, { kind: '@', query: 'an', from: 49_001 }],
])('"%s" begins %o', (text, begun) => {
  expect(findCompletion(text, text.length)).toEqual(begun)
})

test('a chosen name stands in the place of what was typed, with one space behind it', () => {
  const completion = findCompletion('Hi @an there', 6)
  expect(completion && complete('Hi @an there', completion, 'anna.example')).toEqual({
    text: 'Hi @anna.example there',
    caret: 17,
  })
})

test('tags are suggested by how often they stand', () => {
  const texts = ['#garden #Game', 'a #game', 'b #garden', 'c #garden #garden2', 'no#ga']
  expect(suggestTags(texts, 'ga', 3)).toEqual(['garden', 'Game', 'game'])
  expect(suggestTags(texts, 'garden', 3)).toEqual(['garden2'])
})
