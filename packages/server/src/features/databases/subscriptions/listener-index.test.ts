import type { RtdbFilter } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { covers, type Interest, ListenerIndex, type Scope } from './listener-index.ts'

const listener = (path: string, filter?: RtdbFilter, scope: Scope = 'subtree'): Interest => ({
  path,
  scope,
  filter,
})

function indexed(...listeners: readonly Interest[]): ListenerIndex<Interest> {
  const index = new ListenerIndex<Interest>()
  for (const each of listeners) index.add(each)
  return index
}

describe('10 000 listeners with different filters on one collection', () => {
  const filters: Readonly<Record<string, (at: number) => RtdbFilter>> = {
    equals: (at) => ({ equals: { room: `room ${at}` } }),
    'equals, among others': (at) => ({
      equals: { kind: 'message', room: `room ${at}` },
      greaterThan: { at: 0 },
    }),
    inArray: (at) => ({ inArray: { room: [`room ${at}`, `hall ${at}`] } }),
    arrayContains: (at) => ({ arrayContains: { rooms: `room ${at}` } }),
    arrayContainsAny: (at) => ({ arrayContainsAny: { rooms: [`room ${at}`, `hall ${at}`] } }),
    arrayContainsAll: (at) => ({ arrayContainsAll: { rooms: [`room ${at}`, 'x'] } }),
  }

  test.each(Object.keys(filters))('%s: a write looks at those that it concerns', (name) => {
    const index = new ListenerIndex<Interest>()
    const listeners = Array.from({ length: 10_000 }, (_, at) => listener('messages', filters[name]!(at)))
    for (const each of listeners) index.add(each)
    const state = (at: number) => ({
      kind: 'message',
      room: `room ${at}`,
      rooms: [`room ${at}`, 'x'],
      at: 1,
    })
    // The first cannot know yet which of its conditions will be the rarer one.
    const others = (found: Set<Interest>) => listeners.slice(1).filter((each) => found.has(each))
    const found = index.concerned('messages/m1', [undefined, state(7)])
    expect(others(found)).toEqual([listeners[7]])
    expect(found.size).toBeLessThan(3)
    expect(others(index.concerned('messages/m1', [state(7), state(8)]))).toEqual(listeners.slice(7, 9))
    expect(index.concerned('messages/m1', [{ room: 'elsewhere' }]).size).toBe(0)
    for (const each of listeners) index.remove(each)
    expect(index.isEmpty).toBe(true)
    expect(index.concerned('messages/m1', [state(7)]).size).toBe(0)
  })

  test('which all ask for another field', () => {
    const listeners = Array.from({ length: 10_000 }, (_, at) =>
      listener('messages', { equals: { [`field ${at}`]: 1 } }),
    )
    const index = indexed(...listeners)
    expect(index.concerned('messages/m1', [{ 'field 5': 1, 'field 6': 2 }])).toEqual(new Set([listeners[5]]))
  })
})

describe('a change concerns', () => {
  const at = (path: string, scope: Scope) => listener(path, undefined, scope)

  test.each([
    ['subtree', 'posts', ['posts/a', 'posts/a/comments/c']],
    ['children', 'posts', ['posts/a']],
    ['document', 'posts', []],
    ['subtree', 'posts/a', ['posts/a', 'posts/a/comments/c']],
    ['document', 'posts/a', ['posts/a']],
    ['children', 'posts/a/comments', ['posts/a/comments/c']],
    ['subtree', '', ['posts/a', 'posts/a/comments/c', 'posts2/a']],
  ] as const)('%s of %s', (scope, path, concerned) => {
    const index = indexed(at(path, scope))
    const written = ['posts/a', 'posts/a/comments/c', 'posts2/a']
    expect(written.filter((each) => index.concerned(each, [{}]).size > 0)).toEqual(concerned)
  })

  test.each([
    ['subtree', 'posts', ['posts', 'posts/a', 'posts/a/comments', 'posts/a/comments/c']],
    ['children', 'posts', ['posts', 'posts/a']],
    ['document', 'posts', ['posts']],
    ['subtree', 'posts/a', ['posts/a', 'posts/a/comments', 'posts/a/comments/c']],
    ['document', 'posts/a', ['posts/a']],
    ['children', 'posts/a/comments', ['posts/a/comments', 'posts/a/comments/c']],
    ['subtree', '', ['posts', 'posts/a', 'posts/a/comments', 'posts/a/comments/c', 'posts2', 'posts2/a']],
  ] as const)('%s of %s covers these paths, whatever its filter', (scope, path, covered) => {
    const some = [undefined, { equals: { x: 1 } }, { greaterThan: { x: 1 } }]
    const listeners = some.map((filter) => listener(path, filter, scope))
    const index = indexed(...listeners)
    const all = ['posts', 'posts/a', 'posts/a/comments', 'posts/a/comments/c', 'posts2', 'posts2/a']
    for (const each of all) {
      const isCovered = covered.some((one) => one === each)
      expect(new Set(index.covering(each))).toEqual(new Set(isCovered ? listeners : []))
      expect(covers({ path, scope }, each)).toBe(isCovered)
    }
  })

  test('listeners by equal values, not by equal texts of them', () => {
    const wanting = listener('things', { equals: { at: { x: 1, y: [1.0, null] } } })
    const index = indexed(wanting)
    expect(index.concerned('things/t', [{ at: { y: [1, null], x: 1 } }]).size).toBe(1)
    expect(index.concerned('things/t', [{ at: { y: [null, 1], x: 1 } }]).size).toBe(0)
    expect(index.concerned('things/t', [{}]).size).toBe(0)
  })

  test('fields that are named like members of every object', () => {
    const wanting = ['__proto__', 'constructor', 'toString'].map((field) =>
      listener('things', { equals: JSON.parse(`{"${field}":1}`) }),
    )
    const index = indexed(...wanting)
    expect(index.concerned('things/t', [{}]).size).toBe(0)
    expect(index.concerned('things/t', [JSON.parse('{"__proto__":1}')])).toEqual(new Set([wanting[0]]))
  })

  test('nobody whose list of values is empty, and everybody whose filter cannot be looked up', () => {
    const none = listener('things', { inArray: { a: [] } })
    const evaluated = [{ greaterThan: { a: 1 } }, { notEquals: { a: 1 } }, { arrayContainsAll: { a: [] } }]
    const index = indexed(none, ...evaluated.map((filter) => listener('things', filter)))
    expect(index.concerned('things/t', [{ a: 1 }]).size).toBe(evaluated.length)
  })
})
