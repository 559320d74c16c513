import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
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

const root = join(import.meta.dirname, '../../../..')
const asked = new Map<string, number>()

/** Bytes for the ids, nonces and salts of a lab: made from the name of the test file and how often it has asked, so that they and
 * their order are the same in each run. */
export function labBytes(length: number): Buffer {
  const file = relative(root, expect.getState().testPath ?? '')
  const count = (asked.get(file) ?? 0) + 1
  asked.set(file, count)
  return createHash('shake256', { outputLength: length }).update(`${file} ${count}`).digest()
}
