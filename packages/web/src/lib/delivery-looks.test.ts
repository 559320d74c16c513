import type { DeliveryView } from '@kith/protocol'
import { expect, test } from 'vitest'
import { nextLook } from './delivery-looks.ts'

const createdAt = '2026-03-01T12:00:00.000Z'
const at = Date.parse(createdAt)
const inStates = (...states: DeliveryView['state'][]) => states.map((state) => ({ state }) as DeliveryView)

test('a fresh action is asked for again whatever is known of it, ever more seldom', () => {
  const looks = [0, 1, 2, 5, 6, 20].map((count) => nextLook({ createdAt }, undefined, count, at))
  expect(looks).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000])
  expect(nextLook({ createdAt }, inStates('delivered'), 1, at + 299_999)).toBe(2_000)
})

test('an older one is for as long as a server has not answered', () => {
  const later = at + 300_000
  expect(nextLook({ createdAt }, inStates('delivered', 'stopped'), 1, later)).toBe(false)
  expect(nextLook({ createdAt }, undefined, 1, later)).toBe(false)
  expect(nextLook({ createdAt }, inStates('delivered', 'retrying'), 1, later)).toBe(2_000)
  expect(nextLook({ createdAt }, inStates('queued'), 1, later)).toBe(2_000)
})
