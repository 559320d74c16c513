import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { AwarenessPace } from './awareness-pace.ts'

/** A pace, with what it has passed on. Clients from 100 on say nothing new, those from 200 on are gone; 50 is the connection's own. */
function start() {
  const clock = new TestClock()
  const passed: string[] = []
  const stale: number[] = []
  const pace = new AwarenessPace(clock, {
    judge: ({ client }) => (client < 100 ? 'new' : client < 200 ? 'ignored' : 'stale'),
    stamp: (entries) => entries,
    isOwn: (client) => client === 50,
    onTurn: (entries) => {
      passed.push(
        ...entries.filter(({ client }) => client < 200).map((entry) => `${entry.client}: ${entry.clock}`),
      )
      stale.push(...entries.filter(({ client }) => client >= 200).map(({ client }) => client))
    },
  })
  return { clock, passed, stale, pace }
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
  for (const at of count(10_000)) pace.take([entry(100 + (at % 100), 1)])
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

test('a client of its own has its place among those that wait, whatever else is said', () => {
  const { passed, pace, clock } = start()
  pace.take(count(61).map((client) => entry(client + 100, 1)))
  for (const at of count(8)) pace.take(count(40).map((client) => entry(client, at)))
  pace.take([entry(50, 7)])
  clock.advance(1000)
  expect(passed.at(-1)).toBe('50: 7')
})

test('of what waits the highest clock of a client counts', () => {
  const { passed, pace, clock } = start()
  pace.take(count(61).map((client) => entry(client, 0)))
  for (const at of [5, 4]) pace.take([entry(1, at)])
  clock.advance(1000)
  expect(passed).toContain('1: 5')
  expect(passed).not.toContain('1: 4')
})

test('clients that are gone are told of at once, each once, and cost nothing', () => {
  const { passed, stale, pace } = start()
  for (const _time of count(100)) pace.take([entry(200, 1), entry(200, 2), entry(201, 1)])
  expect(stale).toHaveLength(200)
  pace.take(count(60).map((client) => entry(client, 1)))
  expect(passed).toHaveLength(60)
})
