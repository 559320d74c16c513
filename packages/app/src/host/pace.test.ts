import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Pace, paceLimits } from './pace.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function start() {
  const read: number[] = []
  let overflows = 0
  const pace = new Pace<number>(
    (message) => read.push(message),
    () => {
      overflows += 1
    },
  )
  const send = (count: number, from = 0) => {
    for (let at = from; at < from + count; at += 1) pace.take(at)
  }
  return { pace, read, send, overflows: () => overflows }
}

test('a burst is read at once, and what follows at the rate, in order and without a gap', () => {
  const { read, send, overflows } = start()
  send(paceLimits.burst + 1_000)
  expect(read).toHaveLength(paceLimits.burst)
  vi.advanceTimersByTime(1_000)
  expect(read).toHaveLength(paceLimits.burst + paceLimits.perSecond)
  vi.advanceTimersByTime(1_000)
  expect(read).toEqual(Array.from({ length: paceLimits.burst + 1_000 }, (_, at) => at))
  expect(overflows()).toBe(0)
})

test('a flood beyond what may wait ends it once, and nothing more is read', () => {
  const { read, send, overflows } = start()
  send(paceLimits.burst + paceLimits.waiting + 1_000)
  expect(overflows()).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(read).toHaveLength(paceLimits.burst)
})

test('after a pause there is a burst again', () => {
  const { read, send } = start()
  send(paceLimits.burst)
  vi.advanceTimersByTime(60_000)
  send(paceLimits.burst, paceLimits.burst)
  expect(read).toHaveLength(2 * paceLimits.burst)
})
