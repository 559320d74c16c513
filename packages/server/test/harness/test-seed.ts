import { createHash } from 'node:crypto'
import { expect } from 'vitest'

/** What a search of the running test begins with: made from the test's name, so that it tries the same each time, or the number in
 * TEST_SEED. Properties of fast-check have it without asking. */
export function testSeed(): number {
  const { TEST_SEED: given } = process.env
  if (given !== undefined) return Number(given)
  return createHash('sha256').update(nameOfTest()).digest().readInt32BE()
}

function nameOfTest(): string {
  const { currentTestName } = expect.getState()
  if (currentTestName === undefined) throw new Error('a seed is asked for outside of a test')
  return currentTestName
}
