import { expect, test } from 'vitest'
import { extended, noSelection, toggled } from './selection.ts'

const order = ['a', 'b', 'c', 'd', 'e']

test('a choice is put and taken away', () => {
  const one = toggled(noSelection, 'b')
  expect([...one.chosen]).toEqual(['b'])
  expect([...toggled(one, 'b').chosen]).toEqual([])
})

test.each([
  ['b', 'd', ['b', 'c', 'd']],
  ['d', 'b', ['b', 'c', 'd']],
])('a range from %s to %s has what is between', (from, to, chosen) => {
  expect([...extended(toggled(noSelection, from), to, order).chosen].sort()).toEqual(chosen)
})

test('a range whose beginning is gone, or was never there, is its end', () => {
  expect([...extended(noSelection, 'c', order).chosen]).toEqual(['c'])
  expect([...extended({ chosen: new Set(), anchor: 'gone' }, 'c', order).chosen]).toEqual(['c'])
})
