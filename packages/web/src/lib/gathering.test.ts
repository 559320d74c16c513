import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createGathering } from './gathering.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function countWork() {
  const done = { times: 0 }
  const ask = createGathering({ shortestMs: 500, longestMs: 2_000, work: () => (done.times += 1) })
  return { ask, done }
}

test('what is asked for in one moment is done once, and soon', () => {
  const { ask, done } = countWork()
  ask()
  ask()
  vi.advanceTimersByTime(500)
  expect(done.times).toBe(1)
  vi.advanceTimersByTime(10_000)
  expect(done.times).toBe(1)
})

test('while many ask it is done more seldom, and soon again once they have stopped', () => {
  const { ask, done } = countWork()
  for (let ms = 0; ms < 20_000; ms += 100) {
    ask()
    vi.advanceTimersByTime(100)
  }
  expect(done.times).toBeGreaterThanOrEqual(10)
  expect(done.times).toBeLessThanOrEqual(12)
  vi.advanceTimersByTime(4_000)
  ask()
  vi.advanceTimersByTime(2_000)
  const { times } = done
  ask()
  vi.advanceTimersByTime(500)
  expect(done.times).toBe(times + 1)
})
