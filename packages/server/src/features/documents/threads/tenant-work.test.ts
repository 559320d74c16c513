import { expect, test } from 'vitest'
import type { TenantId } from '#infra/db/index.ts'
import { TenantWork } from './tenant-work.ts'

const [alice, bob] = [1, 2] as TenantId[] as [TenantId, TenantId]

function openLab() {
  const time = { nowMs: 0 }
  return { time, work: new TenantWork(() => time.nowMs) }
}

test('a tenant may use five seconds at once, and then a quarter of a processor', () => {
  const { time, work } = openLab()
  work.note(alice, 5000)
  expect([work.waitMs(alice), work.isApart(alice)]).toEqual([0, false])
  work.note(alice, 500)
  expect([work.waitMs(alice), work.isApart(alice), work.isApart(bob)]).toEqual([2000, true, false])
  time.nowMs += 2000
  expect([work.waitMs(alice), work.isApart(alice)]).toEqual([0, false])
  time.nowMs += 60_000
  expect(work.usedMs(alice)).toBe(0)
})

test('a tenant that held up others is kept apart for ten minutes', () => {
  const { time, work } = openLab()
  work.keepApart(alice)
  work.note(alice, 1)
  expect([work.isApart(alice), work.isApart(bob)]).toEqual([true, false])
  time.nowMs += 599_999
  expect(work.isApart(alice)).toBe(true)
  time.nowMs += 1
  expect(work.isApart(alice)).toBe(false)
})
