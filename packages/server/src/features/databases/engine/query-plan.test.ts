import type { RtdbFilter, RtdbSort } from '@kith/protocol'
import { expect, test } from 'vitest'
import { conditionsOf } from './filter.ts'
import { planQuery } from './query-plan.ts'

const index = (indexNo: number, field: string, builtTo: string | null = null) => ({
  indexNo,
  field,
  builtTo,
  collection: 'c',
})
const indexes = [index(1, 'f'), index(2, 'g'), index(3, 'unfinished', 'doc')]

function plan(filter: RtdbFilter, sort?: RtdbSort, hasLimit = false): string {
  const found = planQuery(indexes, { conditions: conditionsOf(filter), sort, hasLimit })
  if (found.kind === 'scan') return 'scan'
  if (found.kind === 'walk') return `walk ${found.index.field} ${found.ascending ? 'up' : 'down'}`
  const ranges = found.ranges.map(({ from, to }) => (from === to ? from : `${from}..${to}`))
  return `${found.index.field} ${ranges.join(' ')}`
}

const byF = [{ field: 'f', ascending: false }]

test.each<[string, string]>([
  [plan({ equals: { f: 'x' } }), 'f v1x'],
  [plan({ inArray: { f: ['x', 'y', 'x', '\ud800'] } }), 'f v1x v1y'],
  [plan({ greaterThan: { f: 'b' }, lessThanOrEqual: { f: 'd' } }), 'f v1b..v1d'],
  [plan({ lessThan: { f: 'd' } }), 'f v1..v1d'],
  [plan({ arrayContains: { f: 'x' } }), 'f e1x e*'],
  [plan({ arrayContainsAny: { f: ['x', 'y'] } }), 'f e1x e1y e*'],
  [plan({ arrayContainsAll: { f: ['x', 'y'] } }), 'f e1x e*'],
  [plan({ lessThan: { f: 'd' }, equals: { g: null } }), 'g v5'],
  [plan({ lessThan: { f: 'd' } }, byF, true), 'walk f down'],
  [plan({ equals: { g: true } }, byF, true), 'g v6'],
  [plan({}, byF, true), 'walk f down'],
  [plan({}, byF), 'scan'],
  [plan({}, [...byF, { field: 'g', ascending: true }], true), 'scan'],
  [plan({ equals: { unfinished: 1 } }), 'scan'],
  [plan({ notEquals: { f: 1 }, notInArray: { f: [1] }, arrayContainsAll: { f: [] } }), 'scan'],
  [plan({ inArray: { f: Array.from({ length: 101 }, (_, number) => number) } }), 'scan'],
  [plan({ equals: { other: 1 } }), 'scan'],
])('%s', (found, expected) => {
  expect(found).toBe(expected)
})
