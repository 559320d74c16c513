import { expect, test } from 'vitest'
import { marked, readProgress, stepsLeft, writeProgress } from './progress.ts'

const nothing = { done: [], skipped: [], isAside: false }

test.each([undefined, null, '', 'no JSON', '[]', '"you"', '{"done":"you","isAside":1}', { done: ['you'] }])(
  'a setting that says %j says nothing',
  (value) => {
    expect(readProgress(value)).toEqual(nothing)
  },
)

test('what is kept comes back, without steps that nobody knows', () => {
  const kept = { done: ['you'], skipped: ['push'], isAside: true } as const
  expect(readProgress(writeProgress(kept))).toEqual(kept)
  expect(readProgress('{"done":["you","dance"]}')).toEqual({ ...nothing, done: ['you'] })
})

test('left is what is neither done nor skipped nor proven', () => {
  const progress = { ...nothing, done: ['you'], skipped: ['push'] } as const
  expect(stepsLeft(progress, ['passkey'])).toEqual(['invite', 'install'])
})

test('a skipped step that is done after all is done', () => {
  const skipped = marked(nothing, 'skipped', 'invite')
  expect(marked(skipped, 'done', 'invite')).toEqual({ ...nothing, done: ['invite'] })
})
