import { describe, expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { JobVerdict } from './job-kind.ts'
import { describeError, outcomeOfError, outcomeOfLostLease, retryDelayMs } from './retry.ts'

const policy = { maxAttempts: 4, firstDelayMs: 1000, longestDelayMs: 5000 }
const middle = () => 0.5
const how = { policy, nowMs: 100_000, random: middle }
const job = { attempts: 1, giveUpAtMs: null }

describe('the delay', () => {
  test.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [4, 5000],
    [60, 5000],
    [2000, 5000],
  ])('after attempt %i is %i ms', (attempts, delayMs) => {
    expect(retryDelayMs(policy, attempts, middle)).toBe(delayMs)
  })

  test('varies by a tenth and is never longer than the longest', () => {
    expect(retryDelayMs(policy, 1, () => 0)).toBe(900)
    expect(retryDelayMs(policy, 1, () => 0.999999)).toBe(1100)
    expect(retryDelayMs(policy, 9, () => 0.999999)).toBe(5000)
  })
})

describe('a failed attempt', () => {
  test('is tried again later', () => {
    expect(outcomeOfError(new Error('no'), job, how)).toEqual({
      kind: 'retry',
      atMs: 101_000,
      error: 'no',
      group: 'failed',
    })
  })

  test('was the last when the attempts are used up', () => {
    const last = outcomeOfError(new Error('no'), { attempts: 4, giveUpAtMs: null }, how)
    expect(last).toEqual({ kind: 'dead', error: 'no', group: 'failed' })
  })

  test('was the last when the next would come too late', () => {
    const atMs = (giveUpAtMs: number) =>
      outcomeOfError(new Error('no'), { attempts: 1, giveUpAtMs }, how).kind
    expect(atMs(101_001)).toBe('retry')
    expect(atMs(101_000)).toBe('dead')
  })

  test('ends at once by a verdict, which does not blame the group', () => {
    const verdict = new JobVerdict('gone', { kind: 'dead' })
    expect(outcomeOfError(verdict, job, how)).toEqual({ kind: 'dead', error: 'gone', group: 'nothing' })
  })

  test('comes back when a verdict says, within 7 days and not in the past', () => {
    const at = (atMs: number) => outcomeOfError(new JobVerdict('busy', { kind: 'retry', atMs }), job, how)
    expect(at(130_000)).toMatchObject({ kind: 'retry', atMs: 130_000, error: 'busy' })
    expect(at(5)).toMatchObject({ atMs: 100_000 })
    expect(at(1e15)).toMatchObject({ atMs: 100_000 + 7 * 24 * 3600 * 1000 })
  })

  test('comes back after the usual delay when a verdict names no time', () => {
    expect(outcomeOfError(new JobVerdict('busy', { kind: 'retry' }), job, how)).toMatchObject({
      atMs: 101_000,
    })
  })
})

describe('a lost lease', () => {
  test.each([
    [1, { kind: 'retry', atMs: 100_000 }],
    [2, { kind: 'retry', atMs: 101_000 }],
    [3, { kind: 'retry', atMs: 102_000 }],
    [4, { kind: 'dead', group: 'nothing' }],
  ])('in attempt %i', (attempts, outcome) => {
    expect(outcomeOfLostLease({ attempts, giveUpAtMs: null }, how)).toMatchObject(outcome)
  })
})

test('an error is described shortly, with its code and cause', () => {
  expect(describeError(new Failure('E-UNAVAILABLE', { message: 'away' }))).toBe('E-UNAVAILABLE: away')
  expect(describeError(new Error('outer', { cause: new Error('inner') }))).toBe('outer (inner)')
  expect(describeError('text')).toBe('text')
  expect(describeError(new Error('x'.repeat(10_000)))).toHaveLength(500)
})
