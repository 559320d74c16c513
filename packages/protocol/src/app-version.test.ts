import { describe, expect, test } from 'vitest'
import { compareAppVersions, isAppVersion } from './app-version.ts'

test.each([
  ['0.0.0', true],
  ['1.2.3-alpha.1+build.7', true],
  ['10.20.30--', true],
  ['1.0.0-0a', true],
  [`1.0.${'9'.repeat(60)}`, true],
  [`1.0.${'9'.repeat(61)}`, false],
  ['1', false],
  ['1.0', false],
  ['01.0.0', false],
  ['1.0.0-01', false],
  ['1.0.0-', false],
  ['1.0.0+', false],
  ['v1.0.0', false],
  ['1.0.0 ', false],
  ['1.0.0\n', false],
])('%j is a version: %s', (text, expected) => expect(isAppVersion(text)).toBe(expected))

describe('Versions', () => {
  // In the order of section 11, with numbers beyond what a double holds.
  const ascending = [
    '0.9.10',
    '1.0.0-0',
    '1.0.0-2',
    '1.0.0-11',
    '1.0.0-9007199254740993',
    '1.0.0-9007199254740994',
    '1.0.0--',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.9',
    '1.0.10',
    '2.0.0-a',
    '10.0.0',
  ]
  test.each(ascending.slice(1).map((version, at) => [ascending[at] ?? '', version]))(
    '%s comes before %s',
    (earlier, later) => {
      expect(compareAppVersions(earlier, later)).toBeLessThan(0)
      expect(compareAppVersions(later, earlier)).toBeGreaterThan(0)
    },
  )

  test('differ not by their builds', () => {
    expect(compareAppVersions('1.0.0-a+1', '1.0.0-a+2')).toBe(0)
    expect(compareAppVersions('1.0.0+1-x', '1.0.0')).toBe(0)
  })
})
