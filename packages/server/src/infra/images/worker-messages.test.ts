import { expect, test } from 'vitest'
import { readWorkerMessage } from './worker-messages.ts'

const made = {
  kind: 'made',
  original: { width: 10, height: 10, format: 'png', frames: 1 },
  thumbhash: '1QcSHQRnh493V4dIh4eXh1h4kJUI',
  outputs: [{ variant: 'tn', width: 5, height: 5, format: 'webp' }],
}

test('What an honest worker says is taken', () => {
  for (const message of [
    { kind: 'ready' },
    made,
    { kind: 'unprocessable', problem: 'damaged', detail: 'premature end' },
    { kind: 'failed', detail: 'ENOSPC' },
  ])
    expect(readWorkerMessage(message)).toBe(message)
})

test.each([
  ['nothing', undefined],
  ['text', 'made'],
  ['a path for a variant', { ...made, outputs: [{ ...made.outputs[0], variant: '../../keys' }] }],
  ['another format', { ...made, outputs: [{ ...made.outputs[0], format: 'svg' }] }],
  ['an original of no picture format', { ...made, original: { ...made.original, format: 'html' } }],
  ['a width that is no number of pixels', { ...made, original: { ...made.original, width: 1e300 } }],
  ['a ThumbHash of its own form', { ...made, thumbhash: '<script>' }],
  ['a long ThumbHash', { ...made, thumbhash: 'A'.repeat(40) }],
  ['endless outputs', { ...made, outputs: Array(1000).fill(made.outputs[0]) }],
  ['a sentence of its own', { kind: 'unprocessable', problem: 'Send your password to …' }],
])('What a worker that was taken over may say is not: %s', (_, message) => {
  expect(readWorkerMessage(message)).toBeUndefined()
})
