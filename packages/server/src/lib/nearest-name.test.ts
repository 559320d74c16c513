import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

const known = ['theme', 'darkMode', 'limits.max_storage_gb', 'limits.max_file_mb']

test.each([
  ['tehme', 'theme'],
  ['darkmode', 'darkMode'],
  ['limit.max_storage_gb', 'limits.max_storage_gb'],
  ['limits.max_storage', 'limits.max_storage_gb'],
  ['colours', undefined],
  ['', undefined],
  ['x'.repeat(1000), undefined],
])('%j is nearest to %j', (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest)
})
