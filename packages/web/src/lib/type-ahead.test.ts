import { expect, test } from 'vitest'
import { createTypeAhead } from './type-ahead.ts'

const names = ['Äpfel', 'Bread', 'bee', 'Birds of a year', 'zoo', 'कमल', 'किताब', 'Ørsted']

function typing(...keys: readonly (readonly [key: string, nowMs: number])[]) {
  const typeAhead = createTypeAhead()
  let from = 0
  return keys.map(([key, nowMs]) => {
    const found = typeAhead.find(key, { names, from, nowMs })
    if (found !== undefined && found >= 0) from = found
    return found
  })
}

test('letters find the name that begins with them, whatever their case and accents', () => {
  expect(typing(['z', 0])).toEqual([4])
  expect(typing(['a', 0])).toEqual([0])
  expect(typing(['o', 0])).toEqual([7])
  expect(typing(['क', 0], ['ि', 100])).toEqual([5, 6])
  expect(typing(['b', 0], ['e', 100])).toEqual([1, 2])
  expect(typing(['b', 0], ['i', 100], ['r', 200], ['d', 300], ['s', 400], [' ', 500])).toEqual([
    1, 3, 3, 3, 3, 3,
  ])
})

test('the same letter again leads on, and a pause begins anew', () => {
  expect(typing(['b', 0], ['b', 100], ['b', 200], ['b', 300])).toEqual([1, 2, 3, 1])
  expect(typing(['b', 0], ['z', 2_000])).toEqual([1, 4])
})

test('other keys are none of its own, and what begins no name leads nowhere', () => {
  expect(typing([' ', 0], ['Enter', 1], ['/', 2])).toEqual([undefined, undefined, undefined])
  expect(typing(['q', 0])).toEqual([-1])
  expect(typing(['q', 0], ['z', 100])).toEqual([-1, 4])
})
