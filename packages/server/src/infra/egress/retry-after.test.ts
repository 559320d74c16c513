import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const nowMs = Date.UTC(2030, 0, 1)
const year9999Ms = Date.UTC(9999, 11, 31, 23, 59, 59)

test.each([
  ['600', nowMs + 600_000],
  ['10', nowMs + 10_000],
  ['999999999', nowMs + 999_999_999_000],
  ['Tue, 01 Jan 2030 01:00:00 GMT', nowMs + 3_600_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', year9999Ms],
])('%j puts off', (header, atMs) => {
  expect(retryAfterMs(header, nowMs)).toBe(atMs)
})

test.each([
  undefined,
  '',
  '9',
  '0',
  '-5',
  '+600',
  '3600.5',
  '3600 ',
  '6e2',
  '0x600',
  'NaN',
  'Invalid Date',
  'Infinity',
  '99999999999',
  '600, 600',
  '2031-06',
  '2031-01-01T00:00:00Z',
  'tomorrow 5000',
  'Tue, 01 Jan 2030 00:00:09 GMT',
  'Tue, 01 Jan 2030 01:00:00 CET',
  'Mon, 01 Jan 2030 01:00:00 GMT',
  'Thu, 31 Feb 2031 00:00:00 GMT',
  'Wed Jan  1 00:00:00 2031',
])('%j says nothing', (header) => {
  expect(retryAfterMs(header, nowMs)).toBeUndefined()
})
