import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { Pace } from './pace.ts'

test('so many may come at once, and then each when its time has come', () => {
  const clock = new TestClock()
  const pace = new Pace(clock, 60)
  expect(Array.from({ length: 60 }, () => pace.take())).toEqual(Array.from({ length: 60 }, () => 0))
  expect([pace.take(), pace.take()]).toEqual([1000, 2000])
  clock.advance(2000)
  expect(pace.take()).toBe(1000)
  clock.advance(3_600_000)
  expect(Array.from({ length: 61 }, () => pace.take()).filter(Boolean)).toEqual([1000])
})

test('some may be taken together', () => {
  const clock = new TestClock()
  const pace = new Pace(clock, 60)
  expect([pace.take(50), pace.take(12), pace.take(3)]).toEqual([0, 2000, 5000])
})

test('nobody has to wait for longer than a minute', () => {
  const clock = new TestClock()
  const pace = new Pace(clock, 60)
  for (let at = 0; at < 10_000; at += 1) pace.take()
  expect(pace.take()).toBe(60_000)
  clock.advance(60_000)
  expect(pace.take()).toBe(1000)
})
