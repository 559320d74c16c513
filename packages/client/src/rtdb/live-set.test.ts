import { expect, test } from 'vitest'
import { LiveSet } from './live-set.ts'

test('keeps documents in the order of the query, and no more than its limit', () => {
  const set = new LiveSet({ sort: [{ field: 'n', ascending: false }], limit: 2 })
  const ready = [
    { id: 'b', n: 1 },
    { id: 'a', n: 1 },
    { id: 'c', n: 3 },
  ]
  expect(set.take({ action: 'ready', path: 'list', data: ready })).toBe('ready')
  expect(set.list().map(({ id }) => id)).toEqual(['c', 'a'])
  expect(set.take({ action: 'delete', path: 'list/c' })).toEqual({ action: 'delete', path: 'list/c' })
  expect(set.list().map(({ id }) => id)).toEqual(['a', 'b'])
  set.take({ action: 'update', path: 'list/b', data: { id: 'b', n: 2 } })
  expect(set.list().map(({ id }) => id)).toEqual(['b', 'a'])
})

test('a document at the path itself comes before the others', () => {
  const set = new LiveSet({ sort: [], limit: undefined })
  set.take({ action: 'create', path: 'list/a', data: { id: 'a' } })
  expect(set.take({ action: 'ready', path: 'list/a', data: [] })).toBe('ready')
  expect(set.list()).toEqual([{ id: 'a' }])
})

test('locks, and the end of what was never there, change nothing', () => {
  const set = new LiveSet({ sort: [], limit: undefined })
  expect(set.take({ action: 'delete', path: 'list/z' })).toBeUndefined()
  expect(set.take({ action: 'unlock', path: 'list/z', data: { userId: 'u', connId: 'c' } })).toBeUndefined()
})
