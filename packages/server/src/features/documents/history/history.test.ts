import type { IdTag } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { type Snapshot, thinHistory } from './history.ts'

const day = 86_400
const start = 100 * day
const at = (seq: number, createdAt: number, ...writers: string[]): Snapshot => ({
  seq,
  createdAt,
  size: 1,
  writers: writers as IdTag[],
})

test('keeps the newest, the last of each hour for a day, and the last of each day for a month', () => {
  const now = start + 40 * day
  const snapshots = [
    at(9, now - 60),
    at(8, now - 120),
    at(7, now - 5 * 3600 + 60),
    at(6, now - 5 * 3600),
    at(5, now - 2 * day + 7200),
    at(4, now - 2 * day + 3600),
    at(3, now - 29 * day),
    at(2, now - 30 * day),
    at(1, now - 39 * day),
  ]
  expect(thinHistory(snapshots, now).removed).toEqual([8, 6, 4, 2, 1])
})

test('gives the writers of what it forgets to the next that is kept', () => {
  const snapshots = [at(3, start + 30, 'c'), at(2, start + 20, 'b', 'c'), at(1, start + 10, 'a')]
  expect(thinHistory(snapshots, start + 30)).toMatchObject({
    removed: [2, 1],
    changed: [{ seq: 3, writers: ['a', 'b', 'c'] }],
  })
})

test('nothing is to be forgotten before the time it says, and something is then', () => {
  const times = fc.array(fc.integer({ min: 0, max: 40 * day }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(times, (offsets) => {
      const sorted = offsets.toSorted((one, other) => other - one)
      const now = start + (sorted[0] ?? 0)
      const all = sorted.map((offset, index) => at(sorted.length - index, start + offset))
      const { removed, nextAt } = thinHistory(all, now)
      const kept = all.filter(({ seq }) => !removed.includes(seq))
      expect(kept[0]?.seq).toBe(all[0]?.seq)
      if (nextAt === undefined) {
        expect(kept).toHaveLength(1)
        return
      }
      expect(thinHistory(kept, nextAt - 1).removed).toEqual([])
      expect(thinHistory(kept, nextAt).removed).not.toEqual([])
    }),
    { numRuns: runsOf(100), verbose: true },
  )
})
