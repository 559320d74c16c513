import { expect, test } from 'vitest'
import { formatDay, formatTime } from './format-day.ts'

const now = new Date(2026, 10, 23, 9, 30)

test('days are today and yesterday, and dates before and after', () => {
  const day = (date: Date) => [formatDay(date, now, 'en-GB'), formatDay(date, now, 'de')]
  expect(day(new Date(2026, 10, 23, 0, 1))).toEqual(['Today', 'Heute'])
  expect(day(new Date(2026, 10, 22, 23, 59))).toEqual(['Yesterday', 'Gestern'])
  expect(day(new Date(2026, 10, 24))).toEqual(['Tuesday 24 November', 'Dienstag, 24. November'])
  expect(day(new Date(1970, 0, 2))).toEqual(['Friday, 2 January 1970', 'Freitag, 2. Januar 1970'])
})

test('a time is of the day', () => {
  expect(formatTime(new Date(2026, 10, 23, 9, 5), 'de')).toBe('09:05')
})
