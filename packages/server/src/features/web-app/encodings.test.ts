import { expect, test } from 'vitest'
import { chooseEncoding, type Encoding } from './encodings.ts'

test.each<[string | undefined, readonly Encoding[], Encoding]>([
  [undefined, ['br', 'gzip'], 'identity'],
  ['gzip, deflate, br, zstd', ['br', 'gzip'], 'br'],
  ['gzip, deflate, br, zstd', ['gzip'], 'gzip'],
  ['gzip', ['br', 'gzip'], 'gzip'],
  ['BR', ['br'], 'br'],
  ['br;q=0, gzip;q=0.5', ['br', 'gzip'], 'gzip'],
  ['*', ['br', 'gzip'], 'br'],
  ['*, br;q=0', ['br', 'gzip'], 'gzip'],
  ['identity', ['br', 'gzip'], 'identity'],
  ['br;q=x', ['br'], 'identity'],
  ['br', [], 'identity'],
])('accepting %s, of %o the encoding is %s', (accepted, built, chosen) => {
  expect(chooseEncoding(accepted, (encoding) => built.includes(encoding))).toBe(chosen)
})
