import { describe, expect, test } from 'vitest'
import { Failure } from './failure.ts'
import { type Conditions, hasCurrent, type Validators } from './preconditions.ts'

// 1 March 2026, 12:00:00 UTC.
const file: Validators = { etag: '"abc"', modifiedAt: 1_772_366_400 }
const before = 'Sun, 01 Mar 2026 11:59:59 GMT'
const then = 'Sun, 01 Mar 2026 12:00:00 GMT'

function answerTo(conditions: Conditions, validators: Validators = file): number {
  try {
    return hasCurrent(conditions, validators) ? 304 : 200
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-PRECONDITION') return 412
    throw error
  }
}

describe('A request', () => {
  test.each<[Conditions, number]>([
    [{}, 200],
    [{ 'if-match': '"abc"' }, 200],
    [{ 'if-match': '"x", "abc"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': 'W/"abc"' }, 412],
    [{ 'if-match': 'abc' }, 412],
    [{ 'if-none-match': '"abc"' }, 304],
    [{ 'if-none-match': 'W/"abc"' }, 304],
    [{ 'if-none-match': '"x",W/"abc"' }, 304],
    [{ 'if-none-match': ' "abc" ' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-match': '"x,*,y"' }, 412],
    [{ 'if-match': '"x,y","abc"' }, 200],
    [{ 'if-none-match': '' }, 200],
    [{ 'if-none-match': '"ab", "c"' }, 200],
    [{ 'if-none-match': 'abc' }, 200],
    [{ 'if-none-match': 'w/"abc"' }, 200],
    [{ 'if-unmodified-since': then }, 200],
    [{ 'if-unmodified-since': before }, 412],
    [{ 'if-unmodified-since': 'yesterday' }, 200],
    [{ 'if-unmodified-since': 'Sunday, 01-Mar-26 11:59:59 GMT' }, 412],
    [{ 'if-unmodified-since': 'Sun Mar  1 11:59:59 2026' }, 412],
    [{ 'if-unmodified-since': 'Sun Mar  1 12:00:00 2026' }, 200],
    [{ 'if-modified-since': then }, 304],
    [{ 'if-modified-since': before }, 200],
    [{ 'if-modified-since': '2026-03-02' }, 200],
  ])('with %j is answered %i', (conditions, status) => {
    expect(answerTo(conditions)).toBe(status)
  })

  test.each<[string, Conditions, number]>([
    [
      'If-Match counts, and If-Unmodified-Since not',
      { 'if-match': '"abc"', 'if-unmodified-since': before },
      200,
    ],
    [
      'If-None-Match counts, and If-Modified-Since not',
      { 'if-none-match': '"x"', 'if-modified-since': then },
      200,
    ],
    ['what is expected comes before what is held', { 'if-match': '"x"', 'if-none-match': '"abc"' }, 412],
    ['both hold', { 'if-match': '"abc"', 'if-none-match': '"abc"' }, 304],
  ])('of which %s', (_, conditions, status) => {
    expect(answerTo(conditions)).toBe(status)
  })

  test('for what has no time is not bound to one', () => {
    for (const name of ['if-unmodified-since', 'if-modified-since'])
      expect(answerTo({ [name]: before }, { etag: '"abc"' })).toBe(200)
  })

  test('with a weak tag is never sure to have the same bytes', () => {
    expect(answerTo({ 'if-match': 'W/"abc"' }, { etag: 'W/"abc"' })).toBe(412)
    expect(answerTo({ 'if-none-match': '"abc"' }, { etag: 'W/"abc"' })).toBe(304)
  })
})
