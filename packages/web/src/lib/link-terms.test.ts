import { expect, test } from 'vitest'
import { type EnteredTerms, linkTerms } from './link-terms.ts'

const entered: EnteredTerms = { description: '', end: 'never', uses: '' }

test.each([
  ['', null],
  ['  ', null],
  ['1', 1],
  [' 20 ', 20],
  ['007', 7],
  ['500', 500],
])('uses %o are %o', (uses, count) => {
  expect(linkTerms({ ...entered, uses }, 500)).toEqual({ count })
})

test.each(['0', '-1', '1.5', '1e2', '0x10', 'many', '501', '99999999999999999999'])(
  'uses %o are refused',
  (uses) => {
    expect(linkTerms({ ...entered, uses }, 500)).toBeUndefined()
  },
)

test.each([
  ['inDay', '2026-03-02T12:00:00.000Z'],
  ['inWeek', '2026-03-08T12:00:00.000Z'],
  ['inMonth', '2026-03-31T12:00:00.000Z'],
] as const)('a link that ends %s ends on %s', (end, at) => {
  const terms = linkTerms({ ...entered, end }, 500, Date.UTC(2026, 2, 1, 12))
  expect(terms?.expiresAt?.toISOString()).toBe(at)
})

test('a description is trimmed, and left out where there is none', () => {
  expect(linkTerms({ ...entered, description: ' For the choir ' }, 500)).toMatchObject({
    description: 'For the choir',
  })
  expect(linkTerms({ ...entered, description: '  ' }, 500)).not.toHaveProperty('description')
})
