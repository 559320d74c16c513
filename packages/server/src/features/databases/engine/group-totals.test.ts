import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { ExactSum } from '#lib/exact-sum.ts'
import { compileAggregate } from './aggregate.ts'
import { Extremes } from './extremes.ts'
import { GroupTotals } from './group-totals.ts'

const names = ['sum', 'avg', 'min', 'max'] as const

const numbers = fc.array(fc.double({ noNaN: true, min: -1e200, max: 1e200 }), { maxLength: 30 })

test('a query adds up as a subscription does', async () => {
  const aggregate = compileAggregate({ groupBy: 'g', ops: names.map((op) => ({ op, field: 'n' })) })
  await fc.assert(
    fc.asyncProperty(numbers, numbers, async (some, others) => {
      const query = new GroupTotals(aggregate, { canRemove: false })
      const kept = new GroupTotals(aggregate, { canRemove: true })
      for (const n of some) query.add({ g: 'x', n })
      for (const n of [...some, ...others].toSorted()) kept.add({ g: 'x', n })
      for (const n of others) kept.remove({ g: 'x', n })
      expect(await query.allRows()).toEqual(await kept.allRows())
    }),
    { numRuns: runsOf(50) },
  )
  const query = new GroupTotals(aggregate, { canRemove: false })
  for (const n of [1e100, 1, -1e100]) query.add({ g: 'x', n })
  expect(query.row('x')).toMatchObject({ count: 3, sum_n: 1, avg_n: 1 / 3, min_n: -1e100, max_n: 1e100 })
})

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
      { numRuns: runsOf(100), verbose: true },
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
    expect(sumOf(1e308, 1e308, -1e308, 1)).toBe(1e308)
    expect(sumOf(1e308, 1e308, -1e308, -1e308, 0.5)).toBe(0.5)
    expect(sumOf(1e308, 1e308)).toBe(Number.POSITIVE_INFINITY)
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
    { numRuns: runsOf(100), verbose: true },
  )
})

test('many rows are made in turns of the event loop', async () => {
  const totals = new GroupTotals(compileAggregate({ groupBy: 'g', ops: [{ op: 'sum', field: 'n' }] }), {
    canRemove: false,
  })
  for (let n = 0; n < 100_000; n += 1) totals.add({ g: `group ${(n * 7919) % 100_003}`, n })
  let turns = 0
  const count = () => {
    turns += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  expect(await totals.allRows()).toHaveLength(100_000)
  clearImmediate(counting)
  expect(turns).toBeGreaterThan(1)
})
