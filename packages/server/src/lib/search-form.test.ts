import { expect, test } from 'vitest'
import { searchForm } from './search-form.ts'

test.each([
  ['Ärzte', 'arzte'],
  ['ΣΟΦΊΑ', 'σοφια'],
  ['Ёлка', 'елка'],
  ['ﬁnal', 'final'],
  ['İstanbul', 'istanbul'],
  ['東京', '東京'],
])('%s is searched as %s', (text, form) => {
  expect(searchForm(text)).toBe(form)
})
