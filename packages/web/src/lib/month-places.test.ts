import { expect, test } from 'vitest'
import { monthAt, monthStep, startsOf } from './month-places.ts'

const months = [
  { month: '2026-03', count: 7 },
  { month: '2026-01', count: 1 },
  { month: '2025-12', count: 27 },
  { month: '2024-06', count: 7 },
]

test('months stand on the bar in proportion to what they hold', () => {
  const starts = startsOf(months)
  expect(starts.map((start) => Math.round(start * 54))).toEqual([0, 10, 14, 44, 54])
  expect([0, 0.18, 0.19, 0.5, 0.9, 1].map((place) => monthAt(starts, place))).toEqual([0, 0, 1, 2, 3, 3])
})

test.each([
  ['ArrowDown', 0, 1],
  ['ArrowDown', 3, 3],
  ['ArrowUp', 0, 0],
  ['PageDown', 0, 2],
  ['PageDown', 3, 3],
  ['PageUp', 2, 0],
  ['PageUp', 3, 2],
  ['PageUp', 1, 0],
  ['Home', 2, 0],
  ['End', 0, 3],
  ['a', 0, undefined],
])('%s leads from month %i to %s', (key, at, to) => {
  expect(monthStep(key, at, months)).toBe(to)
})
