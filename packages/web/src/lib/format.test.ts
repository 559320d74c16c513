import { expect, test } from 'vitest'
import { formatAge, formatBytes } from './format.ts'

const now = new Date('2026-11-23T12:00:00Z')

test.each([
  ['2026-11-23T11:59:30Z', 'now'],
  ['2026-11-23T12:05:00Z', 'now'],
  ['2026-11-23T11:48:00Z', '12 min. ago'],
  ['2026-11-23T09:10:00Z', '2 hr. ago'],
  ['2026-11-21T12:00:00Z', 'November 21'],
  ['1970-01-01T12:00:00Z', 'January 1, 1970'],
  ['9999-06-01T12:00:00Z', 'June 1, 9999'],
  ['soon', ''],
])('%s is told as "%s"', (iso, told) => {
  expect(formatAge(new Date(iso), now, 'en')).toBe(told)
})

test.each([
  [0, '0 Byte'],
  [999, '999 Byte'],
  [1_500_000, '1,5 MB'],
  [5e15, '5.000 TB'],
])('%d bytes are told as "%s" in German', (bytes, told) => {
  expect(formatBytes(bytes, 'de')).toBe(told)
})

test('some bytes are several in English', () => {
  expect([1, 12, 34_700].map((bytes) => formatBytes(bytes, 'en'))).toEqual(['1 byte', '12 bytes', '34.7 kB'])
})
