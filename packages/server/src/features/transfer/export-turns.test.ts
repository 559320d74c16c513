import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { ExportTurns } from './export-turns.ts'

const limits = { total: 2, safeMs: 60_000, safeBytesPerSec: 100 }
const tooMany = expect.objectContaining({ code: 'E-RATELIMIT', retryAfterSecs: 60 })

function open() {
  const clock = new TestClock()
  const turns = new ExportTurns(clock, limits)
  const ended: string[] = []
  const enter = (name: string, sent = { bytes: 0 }) =>
    turns.enter({ sentBytes: () => sent.bytes, cutOff: () => ended.push(name) })
  return { clock, ended, enter }
}

test('there are so many at a time, and one that ends leaves its place', () => {
  const { enter, ended } = open()
  const leave = enter('a')
  enter('b')
  expect(() => enter('c')).toThrow(tooMany)
  leave()
  leave()
  enter('c')
  expect(() => enter('d')).toThrow(tooMany)
  expect(ended).toEqual([])
})

test('the slowest that has had its time gives way, and nobody who is fast enough', () => {
  const { clock, enter, ended } = open()
  const [slow, slower] = [{ bytes: 0 }, { bytes: 0 }]
  enter('slow', slow)
  enter('slower', slower)
  clock.advance(59_000)
  expect(() => enter('c')).toThrow(tooMany)
  clock.advance(1_000)
  Object.assign(slow, { bytes: 5_000 })
  Object.assign(slower, { bytes: 4_000 })
  enter('c')
  expect(ended).toEqual(['slower'])
  Object.assign(slow, { bytes: 6_000 })
  expect(() => enter('d')).toThrow(tooMany)
})
