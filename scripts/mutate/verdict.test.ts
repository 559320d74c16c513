import { expect, test } from 'vitest'
import { limitsAfter, verdictOf } from './verdict.ts'

const wrong = { message: 'expected 1 to be 2' }
const slowTest = { message: 'Test timed out in 10000ms.\nIf this is a long-running test, …' }
const slowHook = { message: 'Hook timed out in 10000ms.\nIf this is a long-running hook, …' }
const slowWait = { message: 'Timed out in waitFor!' }
const slowPoll = { ...wrong, cause: { message: 'Matcher did not succeed in time.' } }

test.each([
  ['survived', 'no test fails', { failures: [], isBad: false }],
  ['killed', 'a test says what is wrong', { failures: [[wrong]] }],
  ['killed', 'a run fails without an error', { failures: [] }],
  ['killed', 'a test fails, and a hook after it takes too long', { failures: [[wrong, slowHook]] }],
  ['killed', 'one test takes too long, and another says what is wrong', { failures: [[slowTest], [wrong]] }],
  ['killed', 'an error has another cause', { failures: [[{ ...wrong, cause: wrong }]] }],
  ['timed out', 'a test takes too long', { failures: [[slowTest]] }],
  ['timed out', 'a test takes too long, and fails afterwards', { failures: [[slowTest, wrong]] }],
  ['timed out', 'a hook takes too long', { failures: [[slowHook]] }],
  ['timed out', 'what is waited for does not come in time', { failures: [[slowWait], [slowPoll]] }],
  ['timed out', 'the worker of an endless loop was ended', { failures: [[wrong]], isEnded: true }],
] as const)('a mutant is %s when %s', (verdict, _when, run) => {
  expect(verdictOf({ isEnded: false, isBad: true, ...run })).toBe(verdict)
})

test('tests may take some times as long as without a mutant, and a while at least', () => {
  expect(limitsAfter({ testMs: 30, runMs: 900 })).toEqual({ testMs: 10_000, runMs: 60_000 })
  expect(limitsAfter({ testMs: 4_000, runMs: 30_000 })).toEqual({ testMs: 20_000, runMs: 150_000 })
})
