import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { ExactSum } from '#lib/exact-sum.ts'
import { Extremes } from './extremes.ts'

const numbers = fc.array(fc.double({ noNaN: true, min: -1e200, max: 1e200 }), { maxLength: 30 })

describe('a sum', () => {
  test('is empty again when everything that was added is taken away, in any order', () => {
    fc.assert(
      fc.property(numbers, numbers, (some, others) => {
        const sum = new ExactSum()
        for (const number of [...some, ...others]) sum.add(number)
        for (const number of some.toReversed()) sum.add(-number)
        const fresh = new ExactSum()
        for (const number of others) fresh.add(number)
        expect(sum.value).toBe(fresh.value)
      }),
      { numRuns: runsOf(400), verbose: true },
    )
  })

  test('is the nearest number', () => {
    const sumOf = (...added: readonly number[]) => {
      const sum = new ExactSum()
      for (const number of added) sum.add(number)
      return sum.value
    }
    expect(sumOf()).toBe(0)
    expect(sumOf(...Array.from({ length: 10 }, () => 0.1))).toBe(1)
    expect(sumOf(1e100, 1, -1e100)).toBe(1)
    expect(sumOf(2 ** 53, 1, 2 ** -60)).toBe(2 ** 53 + 2)
    expect(sumOf(2 ** 53, 1)).toBe(2 ** 53)
  })
})

test('the smallest and the largest are known while values come and go', () => {
  const step = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 12 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const extremes = new Extremes<number>((a, b) => a - b, String)
      const held: number[] = []
      for (const [isAdded, value] of steps) {
        const at = held.indexOf(value)
        if (isAdded) {
          extremes.add(value)
          held.push(value)
        } else if (at >= 0) {
          extremes.remove(value)
          held.splice(at, 1)
        }
        const sorted = held.toSorted((a, b) => a - b)
        expect([extremes.min, extremes.max]).toEqual([sorted[0], sorted.at(-1)])
      }
    }),
    { numRuns: runsOf(400), verbose: true },
  )
})
