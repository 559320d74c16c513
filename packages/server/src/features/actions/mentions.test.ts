import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { doesMention } from './mentions.ts'

const alice = 'alice.example.com' as IdTag

test.each([
  '@alice.example.com',
  'Thanks, @alice.example.com!',
  'What do you say, @Alice.Example.com?',
  'With @bob.example.com and (@alice.example.com).',
  'アリス、@alice.example.com',
])('somebody is mentioned in %j', (text) => {
  expect(doesMention({ text }, alice)).toBe(true)
  expect(doesMention({ title: text }, alice)).toBe(true)
})

test.each([
  'alice.example.com',
  'mail@alice.example.com',
  '@alice.example.com.evil.example',
  '@notalice.example.com',
  '@malice.example.com',
  'https://example.org/@alice.example.com',
  '@alice',
  '@@alice.example.com',
])('nobody is mentioned in %j', (text) => {
  expect(doesMention({ text }, alice)).toBe(false)
})

test('an identity with letters beyond ASCII is mentioned by either of its spellings', () => {
  const idTag = 'xn--mller-kva.example.com' as IdTag
  expect(doesMention({ text: 'Hallo @müller.example.com' }, idTag)).toBe(true)
  expect(doesMention({ text: 'Hallo @xn--mller-kva.example.com' }, idTag)).toBe(true)
})

test('text alone mentions somebody, and only the first fifty names count', () => {
  expect(doesMention(undefined, alice)).toBe(false)
  expect(doesMention({ text: ['@alice.example.com'] }, alice)).toBe(false)
  const others = Array.from({ length: 50 }, (_, at) => `@b${at}.example.com`).join(' ')
  expect(doesMention({ text: `${others} @alice.example.com` }, alice)).toBe(false)
})
