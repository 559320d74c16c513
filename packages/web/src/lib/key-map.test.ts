import { expect, test } from 'vitest'
import { defaultKeys, isShortcutKey, keptKeys, readKeys, taskOf, withKey } from './key-map.ts'

test('a key leads to its task', () => {
  expect(taskOf(defaultKeys, 'j')).toBe('next')
  expect(taskOf(defaultKeys, 'x')).toBeUndefined()
})

test('a task gets another key, and the one that had it takes the former', () => {
  const keys = withKey(defaultKeys, 'next', 'k')
  expect([keys.next, keys.previous]).toEqual(['k', 'j'])
  expect(withKey(defaultKeys, 'write', 'c')).toMatchObject({ write: 'c', search: '/' })
  expect(withKey(defaultKeys, 'write', 'n')).toEqual(defaultKeys)
})

test('what was changed is kept and read again', () => {
  const keys = withKey(withKey(defaultKeys, 'next', 'k'), 'help', 'h')
  expect(keptKeys(keys)).toEqual({ next: 'k', previous: 'j', help: 'h' })
  expect(readKeys(JSON.parse(JSON.stringify(keptKeys(keys))))).toEqual(keys)
})

test.each<unknown>([
  undefined,
  null,
  'j',
  { next: 7 },
  { next: '' },
  { next: 'jj' },
  { fly: 'f' },
  { toString: 'f' },
])('%j is no choice of keys', (kept) => {
  expect(readKeys(kept)).toEqual(defaultKeys)
})

test.each([
  ['a', true],
  ['ß', true],
  ['?', true],
  [' ', false],
  ['\u200b', false],
  ['Enter', false],
])('%j as a shortcut: %s', (key, isOne) => {
  expect(isShortcutKey(key)).toBe(isOne)
})
