import { compareAppVersions, isAppVersion } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { versionOrder } from './version-order.ts'

const number = fc.oneof(fc.nat(20).map(String), fc.bigInt({ min: 0n, max: 10n ** 15n }).map(String))
const word = fc.oneof(number, fc.constantFrom('a', 'alpha', 'alpha1', 'alpha-1', 'A', '-', '--', '0a', 'b'))
const version = fc
  .record({
    release: fc.tuple(number, number, number),
    pre: fc.array(word, { maxLength: 3 }),
    build: fc.constantFrom('', '+1', '+a-b'),
  })
  .map(
    ({ release, pre, build }) => `${release.join('.')}${pre.length > 0 ? `-${pre.join('.')}` : ''}${build}`,
  )
  .filter(isAppVersion)

test('texts have the order of their versions', () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      const [left, right] = [versionOrder(a), versionOrder(b)]
      const order = left < right ? -1 : left > right ? 1 : 0
      expect(order).toBe(Math.sign(compareAppVersions(a, b)))
    }),
    { numRuns: runsOf(1000) },
  )
})
