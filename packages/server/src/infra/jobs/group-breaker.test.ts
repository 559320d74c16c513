import { describe, expect, test } from 'vitest'
import {
  afterFailure,
  afterServing,
  afterSuccess,
  claimAtMs,
  type GroupState,
  newGroup,
} from './group-breaker.ts'

const policy = { concurrency: 2, breakerFailures: 3, restMs: 100, longestRestMs: 350 }

function failed(times: number, from: GroupState = newGroup, startMs = 1000): GroupState {
  let group = from
  for (let time = 0; time < times; time += 1)
    group = afterFailure(group, policy, Math.max(startMs, group.restsUntilMs))
  return group
}

describe('the breaker', () => {
  test.each([
    [1, 1, 0],
    [2, 2, 0],
    [3, 3, 1100],
    [4, 4, 1100 + 200],
    [5, 5, 1300 + 350],
    [6, 6, 1650 + 350],
  ])('after %i failures counts %i and rests until %i', (times, failures, restsUntilMs) => {
    expect(failed(times)).toMatchObject({ failures, restsUntilMs })
  })

  test('ignores failures of jobs that were under way when it opened', () => {
    const open = failed(3)
    expect(afterFailure(open, policy, 1050)).toEqual(open)
  })

  test('closes on a success, also of a job that was under way', () => {
    expect(afterSuccess(failed(4))).toMatchObject({ failures: 0, restsUntilMs: 0 })
  })
})

describe('a group is given a job', () => {
  const open = failed(3)
  const served = { ...newGroup, servedAtMs: 70 }
  test.each([
    ['never without one', newGroup, { running: 0, readyAtMs: null }, null],
    ['when one is ready', newGroup, { running: 0, readyAtMs: 50 }, 50],
    ['not before it was last served', served, { running: 1, readyAtMs: 50 }, 70],
    ['never while busy', newGroup, { running: 2, readyAtMs: 50 }, null],
    ['after its rest', open, { running: 0, readyAtMs: 50 }, 1100],
    ['never while its one probe runs', open, { running: 1, readyAtMs: 50 }, null],
  ])('%s', (_, group, load, atMs) => {
    expect(claimAtMs(group, policy, load)).toBe(atMs)
  })

  test('and then stands behind the others', () => {
    const first = afterServing(newGroup, 500)
    expect(first).toMatchObject({ servedAtMs: 500, timesServed: 1 })
    expect(claimAtMs(first, policy, { running: 1, readyAtMs: 10 })).toBe(500)
  })
})
