import type { RtdbFilter, RtdbOperator } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { matchesFilter } from './filter.ts'

const document = {
  id: 'd1',
  n: 5,
  s: 'm',
  b: true,
  nothing: null,
  tags: ['x', 'y', { deep: [1] }],
  none: [],
  o: { a: 1, b: 2 },
}

const cases: readonly [RtdbOperator, string, unknown, boolean][] = [
  ['equals', 'n', 5.0, true],
  ['equals', 'n', '5', false],
  ['equals', 'o', { b: 2, a: 1 }, true],
  ['equals', 'nothing', null, true],
  ['equals', 'missing', null, false],
  ['equals', 'id', 'd1', true],
  ['equals', 'toString', null, false],
  ['notEquals', 'n', 5, false],
  ['notEquals', 'n', 6, true],
  ['notEquals', 'missing', 6, true],
  ['notEquals', '__proto__', {}, true],
  ['greaterThan', 'n', 4, true],
  ['greaterThan', 'n', 5, false],
  ['greaterThan', 'n', 'z', true],
  ['greaterThan', 'missing', 0, false],
  ['greaterThanOrEqual', 'n', 5, true],
  ['greaterThanOrEqual', 'o', { b: 2, a: 1 }, true],
  ['greaterThanOrEqual', 's', 'n', false],
  ['greaterThanOrEqual', 'missing', 0, false],
  ['lessThan', 's', 'n', true],
  ['lessThan', 's', '\u{1F600}', true],
  ['lessThan', 'b', false, false],
  ['lessThan', 'missing', 'z', false],
  ['lessThanOrEqual', 'n', 5, true],
  ['lessThanOrEqual', 'n', 4.9, false],
  ['lessThanOrEqual', 'missing', 9, false],
  ['inArray', 'n', [1, 5], true],
  ['inArray', 'o', [{ b: 2, a: 1 }], true],
  ['inArray', 'n', [], false],
  ['inArray', 'n', ['5'], false],
  ['inArray', 'missing', [null], false],
  ['notInArray', 'n', [1, 5], false],
  ['notInArray', 'n', ['5'], true],
  ['notInArray', 'missing', [1], true],
  ['arrayContains', 'tags', 'x', true],
  ['arrayContains', 'tags', { deep: [1] }, true],
  ['arrayContains', 'tags', 'z', false],
  ['arrayContains', 's', 'm', false],
  ['arrayContains', 'missing', 'm', false],
  ['arrayContainsAny', 'tags', ['z', 'y'], true],
  ['arrayContainsAny', 'tags', [], false],
  ['arrayContainsAny', 'missing', ['x'], false],
  ['arrayContainsAll', 'tags', ['y', 'x', 'x'], true],
  ['arrayContainsAll', 'tags', ['y', 'z'], false],
  ['arrayContainsAll', 'none', [], true],
  ['arrayContainsAll', 's', [], false],
  ['arrayContainsAll', 'missing', [], false],
]

describe('a filter', () => {
  test.each(cases)('%s of %s with %j: %s', (operator, field, operand, expected) => {
    expect(matchesFilter({ [operator]: { [field]: operand } }, document)).toBe(expected)
  })

  test('needs all of its conditions', () => {
    expect(matchesFilter({ equals: { n: 5, s: 'm' }, lessThan: { n: 6 } }, document)).toBe(true)
    expect(matchesFilter({ equals: { n: 5, s: 'm' }, lessThan: { n: 5 } }, document)).toBe(false)
    expect(matchesFilter({}, document)).toBe(true)
    expect(matchesFilter(undefined, document)).toBe(true)
  })

  test.each(['matches', 'equal', 'toString', '__proto__', 'x'.repeat(60_000)])(
    'has no operator %.20s: without it, it would let more pass',
    (operator) => {
      const filter = JSON.parse(`{"equals":{"n":5},${JSON.stringify(operator)}:{"n":5}}`) as RtdbFilter
      expect(() => matchesFilter(filter, document)).toThrow(
        expect.objectContaining({
          code: 400,
          message: expect.stringMatching(/^There is no operator .{1,42}$/),
        }),
      )
    },
  )

  test.each<[unknown]>([
    [{ equals: 5 }],
    [{ equals: null }],
    [{ lessThan: [1] }],
    [{ inArray: { n: 5 } }],
    [{ notInArray: { n: null } }],
    [{ arrayContainsAny: { n: 'x' } }],
    [{ arrayContainsAll: { n: {} } }],
    [[]],
    ['equals'],
    [{ equals: { n: JSON.parse('['.repeat(100) + ']'.repeat(100)) } }],
  ])('%j is malformed', (filter) => {
    expect(() => matchesFilter(filter as RtdbFilter, document)).toThrow(
      expect.objectContaining({ code: 400 }),
    )
  })
})
