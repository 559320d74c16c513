import { expect, test } from 'vitest'
import { markedRow } from './last-seen.ts'

const rows = ['2026-01-03', '2026-01-02', '2026-01-01'].map((createdAt) => ({
  actionId: createdAt,
  type: 'POST',
  createdAt,
  issuerTag: 'anna.example.com',
}))

test.each([
  ['2026-01-02', '2026-01-02'],
  ['2026-01-01', '2026-01-01'],
  // Nothing is new, or all is.
  ['2026-01-03', undefined],
  ['2025-12-31', undefined],
])('after a visit that ended with %s the mark stands above %s', (seen, marked) => {
  expect(markedRow(rows, seen)).toBe(marked)
})

test('what came late and stands above what is newer does not move the mark', () => {
  const late = rows.slice(2).map((row) => ({ ...row, actionId: 'late' }))
  expect(markedRow([...late, ...rows], '2026-01-02')).toBe('2026-01-02')
  expect(markedRow([...late, ...rows.slice(1)], '2026-01-02')).toBeUndefined()
})
