import { expect, test } from 'vitest'
import { intlOf } from './intl.ts'

test('a formatter is made once for each kind, language and options', () => {
  const day = { dateStyle: 'short' } as const
  expect(intlOf(Intl.DateTimeFormat, 'de', day)).toBe(intlOf(Intl.DateTimeFormat, 'de', { ...day }))
  expect(intlOf(Intl.DateTimeFormat, 'en', day)).not.toBe(intlOf(Intl.DateTimeFormat, 'de', day))
  expect(intlOf(Intl.NumberFormat, 'de').format(1.5)).toBe('1,5')
  expect(intlOf(Intl.PluralRules, 'de').select(1)).toBe('one')
})
