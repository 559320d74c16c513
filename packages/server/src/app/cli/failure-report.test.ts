import { expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { explanationOf, reportOf } from './failure-report.ts'

const refused = new Failure('E-VALIDATION', {
  message: 'It is refused.',
  details: {
    reason: 'manifest-invalid',
    issues: [{ path: '/name', message: 'is too long' }, { path: '/id' }, { path: '', message: 'is none' }],
    of: [],
  },
})

test('what is known of a failure is told to a person in words, and to a program as it is', () => {
  expect(explanationOf(refused).join('\n')).toBe(
    'It is refused.\n  reason: manifest-invalid\n  issues: path /name, message is too long\n  issues: path /id\n  issues: message is none',
  )
  expect(reportOf(refused).details).toMatchObject({ reason: 'manifest-invalid', of: [] })
})
