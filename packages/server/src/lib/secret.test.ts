import { format, inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from './secret.ts'

test('gives its text only when asked for it', () => {
  expect(new Secret('hunter22').reveal()).toBe('hunter22')
})

test.each([
  ['template text', (secret: Secret) => `${secret}`],
  ['JSON', (secret: Secret) => JSON.stringify({ secret })],
  ['inspection', (secret: Secret) => inspect({ secret }, { showHidden: true })],
  ['a formatted line', (secret: Secret) => format('%s %o %j', secret, secret, secret)],
  ['its own members', (secret: Secret) => JSON.stringify(Object.entries(secret))],
])('is hidden in %s', (_, show) => {
  expect(show(new Secret('hunter22'))).not.toContain('hunter22')
})
