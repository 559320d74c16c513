import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTimestamp, parseWorldTime, toIso } from './index.ts'

const firstMilliseconds = 100_000_000_000

describe('parseWorldTime', () => {
  test.each([
    ['1969-12-31T23:59:59Z', -1],
    ['1954-07-04T15:30:00Z', -488_968_200],
    ['1954-07-04T17:30:00.75+02:00', -488_968_200],
    ['0001-01-01T00:00:00Z', -62_135_596_800],
    ['-1', -1],
    [-488_968_200, -488_968_200],
    [-0.5, -1],
    ['1769860800', 1_769_860_800],
  ])('takes %j', (input, seconds) => {
    expect(parseWorldTime(input)).toBe(seconds)
  })

  test.each([
    ['the year 10 000', '9999-12-31T23:59:60Z'],
    ['a moment that is in the year 10 000 in UTC', '9999-12-31T23:59:59-14:00'],
    ['the year 0', '0000-12-31T23:59:59Z'],
    ['a moment that is in the year 0 in UTC', '0001-01-01T00:00:00+01:00'],
    ['a number before the year 1', -62_135_596_801],
    ['milliseconds', firstMilliseconds],
    ['minus infinity', Number.NEGATIVE_INFINITY],
    ['two signs', '--1'],
  ])('refuses %s', (_, input) => {
    expect(parseWorldTime(input)).toBeUndefined()
  })
})

describe('parseTimestamp', () => {
  test.each([
    ['2026-01-31T12:00:00Z', 1_769_860_800],
    ['2026-01-31T12:00:00.999Z', 1_769_860_800],
    ['2026-01-31T12:00:00.123456789Z', 1_769_860_800],
    ['2026-01-31T12:00Z', 1_769_860_800],
    ['2026-01-31T13:00:00+01:00', 1_769_860_800],
    ['2026-01-31T13:00:00+0100', 1_769_860_800],
    ['2026-01-31T04:30:00-07:30', 1_769_860_800],
    ['2024-02-29T00:00:00Z', 1_709_164_800],
    ['1970-01-01T00:00:00Z', 0],
    ['2026-01-31t12:00:00z', 1_769_860_800],
    ['2026-01-31t13:00:00.5+01:00', 1_769_860_800],
    ['2016-12-31T23:59:60Z', 1_483_228_800],
    ['2017-01-01T00:59:60.9+01:00', 1_483_228_800],
    ['2016-12-31T15:59:60-08:00', 1_483_228_800],
    ['1769860800', 1_769_860_800],
    [1_769_860_800, 1_769_860_800],
    [0, 0],
    [firstMilliseconds - 1, firstMilliseconds - 1],
  ])('takes %j', (input, seconds) => {
    expect(parseTimestamp(input)).toBe(seconds)
  })

  test.each([
    ['milliseconds', firstMilliseconds],
    ['milliseconds as text', '1769860800000'],
    ['a time without zone', '2026-01-31T12:00:00'],
    ['a date alone', '2026-01-31'],
    ['30 February', '2026-02-30T00:00:00Z'],
    ['29 February of a common year', '2026-02-29T00:00:00Z'],
    ['31 April', '2026-04-31T00:00:00Z'],
    ['month 13', '2026-13-01T00:00:00Z'],
    ['month 0', '2026-00-01T00:00:00Z'],
    ['day 0', '2026-01-00T00:00:00Z'],
    ['second 61', '2016-12-31T23:59:61Z'],
    ['minute 60', '2026-01-01T12:60:00Z'],
    ['hour 25', '2026-01-01T25:00:00Z'],
    ['a zone beyond a day', '2026-01-01T00:00:00+25:00'],
    ['years before 1970', '1969-12-31T23:59:59Z'],
    ['a negative number', -1],
    ['a number in scientific writing', '1e3'],
    ['a hexadecimal number', '0x10'],
    ['empty text', ''],
    ['words', 'yesterday'],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['null', null],
    ['a boolean', true],
    ['a list', [1]],
  ])('refuses %s', (_, input) => {
    expect(parseTimestamp(input)).toBeUndefined()
  })

  test('reads back what toIso wrote', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: firstMilliseconds - 1 }), (seconds) => {
        expect(parseTimestamp(toIso(seconds))).toBe(seconds)
        expect(parseTimestamp(seconds)).toBe(seconds)
        expect(parseTimestamp(String(seconds))).toBe(seconds)
      }),
    )
  })

  test('is told as the last moment there is, where no date reaches', () => {
    expect(toIso(2 ** 53)).toBe('+275760-09-13T00:00:00.000Z')
    expect(toIso(-(2 ** 53))).toBe('-271821-04-20T00:00:00.000Z')
  })

  test('answers whole seconds or nothing for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/)), (text) => {
        const seconds = parseTimestamp(text)
        expect(seconds === undefined || Number.isSafeInteger(seconds)).toBe(true)
      }),
    )
  })
})
