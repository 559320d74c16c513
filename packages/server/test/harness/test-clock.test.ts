import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TestClock } from './test-clock.ts'

test('stands still until it is moved', () => {
  const clock = new TestClock(1000)
  expect(clock.now()).toBe(1000)
  clock.advance(500)
  expect(clock.now()).toBe(1500)
})

test('rings in the order of time, at that time, also for alarms set on the way', () => {
  const clock = new TestClock(0)
  const rung: [string, number][] = []
  const ring = (name: string) => () => rung.push([name, clock.now()])
  clock.wakeAt(30, ring('late'))
  clock.wakeAt(10, () => {
    ring('early')()
    clock.wakeAt(20, ring('set on the way'))
  })
  clock.wakeAt(15, ring('called off'))()
  clock.wakeAt(40, ring('beyond'))
  clock.advance(30)
  expect(rung).toEqual([
    ['early', 10],
    ['set on the way', 20],
    ['late', 30],
  ])
})

test('rings an alarm in the past once, soon and not at once', async () => {
  const clock = new TestClock(100)
  let rung = 0
  clock.wakeAt(50, () => {
    rung += 1
  })
  expect(rung).toBe(0)
  await setImmediate()
  clock.advance(10)
  expect(rung).toBe(1)
})
