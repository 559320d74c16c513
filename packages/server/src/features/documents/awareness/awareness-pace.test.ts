import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { AwarenessPace } from './awareness-pace.ts'

/** A pace, with what it has passed on; the entries of clients from 100 on are not new. */
function start() {
  const clock = new TestClock()
  const passed: string[] = []
  const pace = new AwarenessPace(clock, {
    isNews: ({ client }) => client < 100,
    onTurn: (entries) => passed.push(...entries.map((entry) => `${entry.client}: ${entry.clock}`)),
  })
  return { clock, passed, pace }
}
const entry = (client: number, clock: number, state = '{}') => ({ client, clock, state })
const count = (length: number) => Array.from({ length }, (_, at) => at)

test('sixty states of a second are passed on at once, however many come in a message', () => {
  const { passed, pace, clock } = start()
  for (const at of count(30)) pace.take([entry(1, at), entry(2, at)])
  expect(passed).toHaveLength(60)
  pace.take([entry(1, 30)])
  expect(passed).toHaveLength(60)
  clock.advance(1000)
  expect(passed.slice(60)).toEqual(['1: 30'])
})

test('256 KiB of a second are passed on at once', () => {
  const { passed, pace, clock } = start()
  const state = 'x'.repeat(16 * 1024)
  for (const at of count(17)) pace.take([entry(1, at, state)])
  expect(passed).toHaveLength(16)
  clock.advance(1000)
  expect(passed.slice(16)).toEqual(['1: 16'])
})

test('what is not new costs nothing, and takes the place of nothing that waits', () => {
  const { passed, pace, clock } = start()
  for (const at of count(10_000)) pace.take([entry(100 + at, 1)])
  for (const at of count(70)) pace.take([entry(1, at), entry(100 + at, 1)])
  expect(passed).toHaveLength(60)
  clock.advance(1000)
  expect(passed.slice(60)).toEqual(['1: 69'])
})

test('of what is above it the last state of each of eight clients comes with the next second, which it counts for', () => {
  const { passed, pace, clock } = start()
  for (const at of count(60)) pace.take([entry(1, at)])
  for (const at of count(100)) pace.take(count(10).map((client) => entry(client, 60 + at)))
  pace.take([entry(1, 61)])
  clock.advance(1000)
  expect(passed.slice(60)).toEqual(count(8).map((client) => `${client}: 159`))
  for (const at of count(60)) pace.take([entry(1, 200 + at)])
  expect(passed).toHaveLength(60 + 60)
})
