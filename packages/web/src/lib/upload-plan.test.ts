import { expect, test } from 'vitest'
import { compareForKeeping, compareForSending, freeName, refusalsOf } from './upload-plan.ts'

test('small pictures go before other files, and large films last', () => {
  const files = [
    { name: 'film', type: 'video/mp4', size: 900 },
    { name: 'large picture', type: 'image/jpeg', size: 500 },
    { name: 'text', type: 'text/plain', size: 1 },
    { name: 'small picture', type: 'image/png', size: 20 },
    { name: 'short film', type: 'video/mp4', size: 10 },
  ]
  expect(files.toSorted(compareForSending).map(({ name }) => name)).toEqual([
    'small picture',
    'large picture',
    'text',
    'short film',
    'film',
  ])
})

test('what is sent last is kept first, and long copies are made at the end', () => {
  const files = [
    { name: 'film', type: 'video/mp4', size: 900 * 2 ** 20 },
    { name: 'short film', type: 'video/mp4', size: 10 },
    { name: 'text', type: 'text/plain', size: 1 },
    { name: 'scan', type: 'image/tiff', size: 90 * 2 ** 20 },
    { name: 'picture', type: 'image/png', size: 20 },
  ]
  const kept = files.toSorted(compareForKeeping).map(({ name }) => name)
  expect(kept).toEqual(['short film', 'text', 'picture', 'film', 'scan'])
})

test('what is too large or finds no room is refused; what fits besides goes', () => {
  const files = [4, 11, 5, 3, 1].map((size) => ({ size, type: '' }))
  expect(refusalsOf(files, { freeBytes: 10, maxFileBytes: 10 })).toEqual([
    undefined,
    'E-TOOLARGE',
    undefined,
    'E-QUOTA',
    undefined,
  ])
  expect(refusalsOf(files, { freeBytes: undefined, maxFileBytes: 11 })).toEqual(Array(5).fill(undefined))
})

test.each([
  ['hills.jpg', ['hills.jpg', 'hills (2).jpg'], 'hills (3).jpg'],
  ['hills.jpg', ['other.jpg'], 'hills.jpg'],
  ['Summer', ['Summer'], 'Summer (2)'],
  ['.profile', ['.profile'], '.profile (2)'],
])('%s beside %j becomes %s', (name, taken, free) => {
  expect(freeName(name, new Set(taken))).toBe(free)
})
