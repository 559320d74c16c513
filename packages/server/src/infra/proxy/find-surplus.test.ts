import { expect, test } from 'vitest'
import { findSurplus } from './find-surplus.ts'

const of = (...addresses: string[]) => addresses.map((address, number) => ({ address, number }))

test('the oldest of the address with most gives way', () => {
  const members = of('a', 'b', 'b', 'a', 'b')
  expect(findSurplus(members, 'c')).toEqual({ address: 'b', number: 1 })
  expect(findSurplus(members.reverse(), 'c')).toEqual({ address: 'b', number: 1 })
})

test('nothing gives way to an address that would have as many itself', () => {
  expect(findSurplus(of('a', 'b', 'c'), 'd')).toBeUndefined()
  expect(findSurplus(of('a', 'a', 'b'), 'a')).toBeUndefined()
  expect(findSurplus(of('a', 'a', 'b'), 'b')).toBeUndefined()
  expect(findSurplus(of('a', 'a', 'a', 'b'), 'b')).toEqual({ address: 'a', number: 0 })
  expect(findSurplus([], 'a')).toBeUndefined()
})
