import type { BusEvent } from '@kith/protocol'
import { expect, test } from 'vitest'
import { createBackoff } from './backoff.ts'
import { EventOrder } from './event-order.ts'

function event(seq?: number): BusEvent {
  const base = { id: 'x', cmd: 'SETTING', data: ['ui.x', seq] } as const
  return seq === undefined ? base : { ...base, seq }
}

test('what was missed comes before what is new, each once', () => {
  const given: (number | undefined)[] = []
  const order = new EventOrder(2, ({ seq }) => given.push(seq))
  order.hold()
  for (const seq of [5, 3, 4, 5]) order.take(event(seq))
  expect([given, order.since]).toEqual([[], 2])
  order.release()
  order.take(event())
  order.take(event(6))
  order.take(event(4))
  expect([given, order.since]).toEqual([[3, 4, 5, undefined, 6], 6])
})

test('what waited when the connection broke is not counted as seen', () => {
  const given: (number | undefined)[] = []
  const order = new EventOrder(2, ({ seq }) => given.push(seq))
  order.hold()
  order.take(event(9))
  order.drop()
  expect([given, order.since]).toEqual([[], 2])
})

test('waits double up to the longest, and no two clients wait the same', () => {
  const backoff = createBackoff({ firstMs: 100, longestMs: 1000 })
  const waits = Array.from({ length: 8 }, () => backoff.next())
  for (const [at, wait] of waits.entries()) {
    const widest = Math.min(1000, 100 * 2 ** at)
    expect(wait).toBeGreaterThanOrEqual(widest / 2)
    expect(wait).toBeLessThanOrEqual(widest)
  }
  expect(new Set(waits).size).toBe(waits.length)
  backoff.reset()
  expect(backoff.next()).toBeLessThanOrEqual(100)
})
