import { describe, expect, test } from 'vitest'
import { awarenessFrames, deniedFrame, readFrame, stepOneFrame, stepTwoFrame } from './frames.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const read = (text: string) => readFrame(Buffer.from(text, 'hex'))
const entry = { client: 5, clock: 0, state: '{"user":{"name":"A"}}' }

test('the vectors of the protocol', () => {
  expect(hex(stepOneFrame(Uint8Array.of(0)))).toBe('00000100')
  expect(hex(stepTwoFrame(Uint8Array.of(0, 0)))).toBe('0001020000')
  expect(awarenessFrames([entry]).map(hex)).toEqual([
    '0119010500157b2275736572223a7b226e616d65223a2241227d7d',
  ])
  expect(awarenessFrames([{ ...entry, clock: 1, state: 'null' }]).map(hex)).toEqual(['0108010501046e756c6c'])
  expect(read('00000100')).toEqual({ kind: 'step1', stateVector: Uint8Array.of(0) })
  expect(read('0001020000')).toEqual({ kind: 'update', update: Uint8Array.of(0, 0) })
  expect(read('0119010500157b2275736572223a7b226e616d65223a2241227d7d')).toEqual({
    kind: 'awareness',
    entries: [entry],
  })
  expect(hex(deniedFrame('no'))).toBe('0200026e6f')
})

describe('reads', () => {
  test.each([
    ['an update (step 2 and update alike)', '0002020000', { kind: 'update', update: Uint8Array.of(0, 0) }],
    ['a query for awareness', '03', { kind: 'queryAwareness' }],
    ["an auth message, which is no client's", '020000', { kind: 'unknown' }],
    ['a message of another protocol', '6401', { kind: 'unknown' }],
    ['a step of a later protocol', '000900', { kind: 'unknown' }],
    [
      'awareness at a clock that could not be exceeded',
      '010f0105ffffffffffffff0f046e756c6c',
      { kind: 'awareness', entries: [] },
    ],
    ['awareness of nobody', '010100', { kind: 'awareness', entries: [] }],
  ])('%s', (_, text, expected) => {
    expect(read(text)).toEqual(expected)
  })
})

describe('states are told', () => {
  const told = (entries: readonly (typeof entry)[]) => {
    const frames = awarenessFrames(entries)
    const reads = frames.map((frame) => readFrame(frame))
    return { frames, back: reads.flatMap((frame) => (frame?.kind === 'awareness' ? frame.entries : [])) }
  }
  const many = (count: number, state: string) =>
    Array.from({ length: count }, (_, client) => ({ client, clock: 2 ** 52, state }))

  test.each([
    [0, '{}', 1],
    [500, '{}', 1],
    [1001, '{}', 3],
    [8, 'x'.repeat(16 * 1024), 1],
    [20, 'x'.repeat(16 * 1024), 3],
  ])('of %d clients in messages that can be sent back', (count, state, frames) => {
    const entries = many(count, state)
    expect(told(entries)).toMatchObject({ frames: { length: frames }, back: entries })
  })
})

describe('cannot read', () => {
  test.each([
    ['nothing', ''],
    ['a sync message without a step', '00'],
    ['a step without content', '0000'],
    ['an update that is shorter than it says', '0002ff01'],
    ['an update of a length beyond all numbers', `0002${'ff'.repeat(12)}7f`],
    ['awareness without content', '01'],
    ['awareness of more clients than there are', '010205'],
    ['awareness of more than a thousand clients', `01d50fe907${'000000'.repeat(1001)}`],
    ['awareness that is longer than all states', `01ffff3f${'00'.repeat(300_000)}`],
  ])('%s', (_, text) => {
    expect(read(text)).toBeUndefined()
  })
})
