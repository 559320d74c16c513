import type { BusEvent } from '@kith/protocol'
import { expect, test } from 'vitest'
import { createBackoff } from '../realtime/backoff.ts'
import { EventOrder } from './event-order.ts'

function event(seq?: number): BusEvent {
  const base = { id: 'x', cmd: 'SETTING', data: ['ui.x', seq] } as const
  return seq === undefined ? base : { ...base, seq }
}

test('events come each once, also when a replay overlaps with what is known', () => {
  const given: (number | undefined)[] = []
  const order = new EventOrder(2, ({ seq }) => given.push(seq))
  for (const at of [event(2), event(3), event(4), event(3), event(), event(5)]) order.take(at)
  expect([given, order.since]).toEqual([[3, 4, undefined, 5], 5])
})

test('after a gap it goes on from where the server stands', () => {
  const given: (number | undefined)[] = []
  const order = new EventOrder(77, ({ seq }) => given.push(seq))
  order.continueFrom(4)
  for (const seq of [4, 5]) order.take(event(seq))
  expect([given, order.since]).toEqual([[5], 5])
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
