import { expect, test } from 'vitest'
import { stillWaiting } from './still-waiting.ts'

interface Written {
  readonly key: string
  readonly text: string
  readonly known: readonly string[]
}

const written = (key: string, text: string, known: readonly string[] = []): Written => ({ key, text, known })
const posted = (actionId: string, text: string) => ({ actionId, text })

function keysLeft(
  waiting: readonly Written[],
  shown: readonly ReturnType<typeof posted>[],
  ids: Readonly<Record<string, string>> = {},
): readonly string[] {
  const isSame = (one: Written, other: ReturnType<typeof posted>) =>
    one.text === other.text && !one.known.includes(other.actionId)
  return stillWaiting(waiting, shown, { ids: new Map(Object.entries(ids)), isSame }).map(({ key }) => key)
}

test('what is not posted waits, whatever others say', () => {
  expect(keysLeft([written('k1', 'Yes')], [posted('a1', 'No')])).toEqual(['k1'])
})

test('what is posted waits no longer, before its answer and after it', () => {
  expect(keysLeft([written('k1', 'Yes')], [posted('a1', 'Yes')])).toEqual([])
  expect(keysLeft([written('k1', 'Yes')], [posted('a1', 'Yes')], { k1: 'a1' })).toEqual([])
})

test('what the server has under an id waits until that is shown', () => {
  expect(keysLeft([written('k1', 'Yes')], [posted('a1', 'Yes')], { k1: 'a2' })).toEqual(['k1'])
})

test('what says the same and was there before is not meant', () => {
  expect(keysLeft([written('k1', 'Yes', ['a1'])], [posted('a1', 'Yes')])).toEqual(['k1'])
  expect(keysLeft([written('k1', 'Yes', ['a1'])], [posted('a1', 'Yes'), posted('a2', 'Yes')])).toEqual([])
})

test('of two that say the same each has its own', () => {
  const both = [written('k1', 'Yes'), written('k2', 'Yes')]
  expect(keysLeft(both, [posted('a1', 'Yes')])).toEqual(['k2'])
  expect(keysLeft(both, [posted('a1', 'Yes')], { k1: 'a1' })).toEqual(['k2'])
  expect(keysLeft(both.slice(1), [posted('a1', 'Yes')], { k1: 'a1' })).toEqual(['k2'])
  expect(keysLeft(both, [posted('a1', 'Yes'), posted('a2', 'Yes')], { k1: 'a1' })).toEqual([])
})
