import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRange } from './byte-range.ts'

describe('A Range header', () => {
  test.each([
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=0-9', 10, { start: 0, end: 9 }],
    ['bytes=2-', 10, { start: 2, end: 9 }],
    ['bytes=2-99', 10, { start: 2, end: 9 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    [' bytes=1-2 ', 10, { start: 1, end: 2 }],
    ['Bytes=1-2', 10, { start: 1, end: 2 }],
  ])('%j of %i bytes is a part', (header, size, part) => {
    expect(parseRange(header, size)).toEqual(part)
  })

  test.each([
    ['bytes=10-', 10],
    ['bytes=10-12', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
    [`bytes=${'9'.repeat(400)}-`, 10],
  ])('%j of %i bytes asks for what is not there', (header, size) => {
    expect(parseRange(header, size)).toBe('unsatisfiable')
  })

  test.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=3-2',
    'bytes=0-1,3-4',
    'bytes=a-b',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes=+1-2',
    'items=0-1',
    'bytes 0-1/10',
  ])('%j is ignored', (header) => {
    expect(parseRange(header, 10)).toBe('whole')
  })

  test('selects what a naive reader of the same words would', () => {
    const place = fc.option(fc.nat(30), { nil: undefined })
    fc.assert(
      fc.property(place, place, fc.nat(20), (first, last, size) => {
        const parsed = parseRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
        const all = Array.from({ length: size }, (_, at) => at)
        const selected = naively(all, first, last)
        if (parsed === 'whole') expect(selected).toBe('whole')
        else if (parsed === 'unsatisfiable') expect(selected).toEqual([])
        else expect(all.slice(parsed.start, parsed.end + 1)).toEqual(selected)
      }),
    )
  })
})

function naively(all: readonly number[], first: number | undefined, last: number | undefined) {
  if (first === undefined) return last === undefined ? 'whole' : all.filter((at) => at >= all.length - last)
  if (last !== undefined && last < first) return 'whole'
  return all.filter((at) => at >= first && at <= (last ?? Number.POSITIVE_INFINITY))
}
