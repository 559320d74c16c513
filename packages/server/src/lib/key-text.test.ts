import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseKeyText } from './key-text.ts'

const bytes = randomBytes(32)

test.each(['hex', 'base64', 'base64url'] as const)('reads 32 bytes in %s', (encoding) => {
  expect(parseKeyText(`${bytes.toString(encoding)}\n`)).toEqual(bytes)
})

test.each([
  ['nothing', ''],
  ['31 bytes', bytes.subarray(1).toString('base64')],
  ['33 bytes', Buffer.concat([bytes, Buffer.of(0)]).toString('base64')],
  ['63 hexadecimal digits', bytes.toString('hex').slice(1)],
  ['a pass phrase', 'correct horse battery staple, correct horse'],
  ['two lines', `${bytes.toString('base64')}\n${bytes.toString('base64')}`],
])('refuses %s', (_, text) => {
  expect(parseKeyText(text)).toBeUndefined()
})
