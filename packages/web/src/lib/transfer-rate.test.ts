import { expect, test } from 'vitest'
import { createTransferRate } from './transfer-rate.ts'

test('a rate is known from the second sample on, and follows the last ten seconds', () => {
  const rate = createTransferRate()
  rate.note(0, 0)
  expect(rate.at(100)).toBe(0)
  rate.note(1000, 1000)
  expect(rate.at(1000)).toBe(1000)
  for (let second = 2; second <= 30; second += 1) rate.note(1000 + (second - 1) * 50, second * 1000)
  expect(rate.at(30_000)).toBe(50)
  expect(rate.at(60_000)).toBe(0)
})

test('samples that come in quick succession are not kept', () => {
  const rate = createTransferRate()
  rate.note(0, 0)
  rate.note(500, 50)
  expect(rate.at(60)).toBe(0)
})
