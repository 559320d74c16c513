import { expect, test } from 'vitest'
import { columnsOf, gridStep } from './grid-keys.ts'

test.each([
  ['ArrowRight', 4, 5],
  ['ArrowLeft', 0, 0],
  ['ArrowDown', 4, 7],
  ['ArrowDown', 8, 9],
  ['ArrowUp', 4, 1],
  ['Home', 4, 0],
  ['End', 4, 9],
  ['PageDown', 0, 9],
])('%s from %d leads to %d among ten in three columns', (key, from, to) => {
  expect(gridStep(key, from, 10, 3)).toBe(to)
})

test('other keys lead nowhere', () => expect(gridStep('a', 0, 10, 3)).toBeUndefined())

test.each([
  [[10, 10, 10, 50], 3],
  [[10, 20, 30], 1],
  [[10, 10], 2],
  [[], 1],
])('items at %j stand in %d columns', (tops, columns) => {
  expect(columnsOf(tops.map((offsetTop) => ({ offsetTop })))).toBe(columns)
})
