import type { RtdbAggregate } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { compileAggregate, groupsOf } from './aggregate.ts'
import { GroupTotals } from './group-totals.ts'
import { project, sortDocuments } from './shape-documents.ts'

describe('sort', () => {
  const documents = [
    { id: 'c', n: 2 },
    { id: 'a', n: 10 },
    { id: '\uE000' },
    { id: '\u{1F600}' },
    { id: 'b', n: 2, s: 'x' },
    { id: 'd', n: 'text' },
  ]

  test('is by id in code units where nothing else is asked for', () => {
    expect(sortDocuments(undefined, documents).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
      'd',
      '\u{1F600}',
      '\uE000',
    ])
  })

  test('has documents without the field first, and equal ones by id', () => {
    const ids = (ascending: boolean) =>
      sortDocuments([{ field: 'n', ascending }], documents).map(({ id }) => id)
    expect(ids(true)).toEqual(['\u{1F600}', '\uE000', 'd', 'b', 'c', 'a'])
    expect(ids(false)).toEqual(['a', 'b', 'c', 'd', '\u{1F600}', '\uE000'])
  })

  test('goes by the second field where the first is equal', () => {
    const sort = [
      { field: 'n', ascending: true },
      { field: 's', ascending: false },
    ]
    expect(sortDocuments(sort, documents).map(({ id }) => id)).toEqual([
      '\u{1F600}',
      '\uE000',
      'd',
      'b',
      'c',
      'a',
    ])
  })

  test('that is malformed is refused', () => {
    expect(() => sortDocuments([{ field: 'n' }] as never, [])).toThrow(expect.objectContaining({ code: 400 }))
  })
})

test('select keeps the id, and takes own members only', () => {
  const document = JSON.parse('{"id":"a","x":1,"y":null,"__proto__":{"z":1}}')
  expect(JSON.stringify(project(['y', 'nothing', 'toString', '__proto__'], document))).toBe(
    '{"id":"a","y":null,"__proto__":{"z":1}}',
  )
  expect(project([], document)).toEqual({ id: 'a' })
  expect(project(undefined, document)).toBe(document)
})

describe('aggregate', () => {
  const documents = [
    { id: '1', tag: 'a', n: 3 },
    { id: '2', tag: 'b', n: 1.5 },
    { id: '3', tag: 'b', n: 'no number' },
    { id: '4', tag: ['a', 'c'], n: 4 },
    { id: '5', n: 100 },
    { id: '6', tag: '__proto__' },
    { id: '7', tag: 7 },
  ]

  const rowsOf = async (aggregate: RtdbAggregate) => {
    const totals = new GroupTotals(compileAggregate(aggregate), { canRemove: false })
    for (const document of documents) totals.add(document)
    return await totals.allRows()
  }

  test('counts per group, the largest first, elements of arrays each', async () => {
    expect(await rowsOf({ groupBy: 'tag' })).toEqual([
      { group: 'a', count: 2 },
      { group: 'b', count: 2 },
      { group: '7', count: 1 },
      { group: '__proto__', count: 1 },
      { group: 'c', count: 1 },
    ])
  })

  test('sums from 0, and leaves out what has no value', async () => {
    const ops = (['sum', 'avg', 'min', 'max'] as const).map((op) => ({ op, field: 'n' }))
    expect(await rowsOf({ groupBy: 'tag', ops })).toEqual([
      { group: 'a', count: 2, sum_n: 7, avg_n: 3.5, min_n: 3, max_n: 4 },
      { group: 'b', count: 2, sum_n: 1.5, avg_n: 1.5, min_n: 1.5, max_n: 1.5 },
      { group: '7', count: 1, sum_n: 0 },
      { group: '__proto__', count: 1, sum_n: 0 },
      { group: 'c', count: 1, sum_n: 4, avg_n: 4, min_n: 4, max_n: 4 },
    ])
  })

  test('groups are texts', () => {
    expect(groupsOf('v', { v: 1.0 })).toEqual(['1'])
    expect(groupsOf('v', { v: [true, null, { b: 1, a: 2 }] })).toEqual(['true', 'null', '{"a":2,"b":1}'])
    expect(groupsOf('toString', {})).toEqual([])
  })

  test.each<[unknown]>([
    [{}],
    [{ groupBy: 1 }],
    [{ groupBy: 'a', ops: {} }],
    [{ groupBy: 'a', ops: [{ op: 'median', field: 'n' }] }],
    [null],
  ])('%j is malformed', (aggregate) => {
    expect(() => compileAggregate(aggregate as never)).toThrow(expect.objectContaining({ code: 400 }))
  })
})
