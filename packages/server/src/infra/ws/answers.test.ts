import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { Answers } from './answers.ts'

test('of more than fits only answers of which nothing is taken are given up', () => {
  const clock = new TestClock()
  const answers = new Answers(clock, 100)
  const givenUp: string[] = []
  const begin = (name: string, bytes: number) => answers.begin(bytes, () => givenUp.push(name))
  begin('stalled', 60)
  const slow = begin('slow', 40)
  clock.advance(10_000)
  answers.tick()
  expect(givenUp).toEqual([])
  answers.move(slow)
  const last = begin('last', 40)
  expect(givenUp).toEqual(['stalled'])
  answers.end(last)
  clock.advance(10_000)
  begin('another', 70)
  expect(givenUp).toEqual(['stalled', 'slow'])
  // It has been given up already.
  answers.end(slow)
  begin('fits', 30)
  clock.advance(10_000)
  answers.tick()
  expect(givenUp).toEqual(['stalled', 'slow'])
})
