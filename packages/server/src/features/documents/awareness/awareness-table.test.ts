import type { IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { stampState } from './awareness-state.ts'
import { type AwarenessOwner, AwarenessTable, RemoteOwner } from './awareness-table.ts'

const person = (idTag?: string): AwarenessOwner => ({ idTag: idTag as IdTag | undefined })
const entry = (client: number, clock: number, state = '{}') => ({ client, clock, state })
const leave = (table: AwarenessTable<AwarenessOwner>, owner: AwarenessOwner) =>
  table.release((one) => one === owner)

describe('a client of awareness', () => {
  test('is known from its first clock on, also when that is 0', () => {
    const table = new AwarenessTable(new TestClock())
    expect(table.set(person('a'), entry(5, 0))).toBe('new')
    expect(table.entries).toEqual([entry(5, 0)])
  })

  test('is heard with a greater clock, or going with the same one', () => {
    const table = new AwarenessTable(new TestClock())
    const one = person('a')
    table.set(one, entry(5, 3))
    expect(table.set(one, entry(5, 3, '{"x":1}'))).toBe('ignored')
    expect(table.set(one, entry(5, 2, '{"x":1}'))).toBe('ignored')
    expect(table.set(one, entry(5, 4, '{"x":1}'))).toBe('new')
    expect(table.set(one, entry(5, 4, 'null'))).toBe('new')
    expect(table.set(one, entry(5, 4, 'null'))).toBe('ignored')
    expect(table.set(one, entry(5, 4))).toBe('stale')
    expect(table.entries).toEqual([])
  })

  test('belongs to the connection that used it first', () => {
    const table = new AwarenessTable(new TestClock())
    const [first, thief, visitor] = [person('a'), person('b'), person()]
    table.set(first, entry(5, 0))
    for (const owner of [thief, visitor]) expect(table.set(owner, entry(5, 9, '"mine"'))).toBe('ignored')
    expect(leave(table, thief)).toEqual([])
    expect(table.entries).toEqual([entry(5, 0)])
  })

  test('of an identity that is gone is kept for it for a minute, and that of a guest for nobody', () => {
    const clock = new TestClock()
    const table = new AwarenessTable(clock)
    const [alice, guest, other] = [person('a'), person(), person('b')]
    table.set(alice, entry(5, 3))
    table.set(guest, entry(6, 3))
    leave(table, alice)
    leave(table, guest)
    for (const taker of [guest, other]) expect(table.set(taker, entry(5, 9))).toBe('ignored')
    expect(table.set(other, entry(6, 9))).toBe('new')
    clock.advance(59_999)
    expect(table.set(person('a'), entry(5, 9))).toBe('new')
    table.release(({ idTag }) => idTag === 'a')
    clock.advance(60_000)
    expect(table.set(other, entry(5, 20))).toBe('new')
  })

  test('of a guest goes to no other guest', () => {
    const table = new AwarenessTable(new TestClock())
    table.set(person(), entry(5, 0))
    expect(table.set(person(), entry(5, 9))).toBe('ignored')
  })

  test('goes on at another connection of the same identity, and the end of the old one says nothing', () => {
    const table = new AwarenessTable(new TestClock())
    const [dead, back] = [person('a'), person('a')]
    table.set(dead, entry(5, 3))
    expect(table.set(back, entry(5, 4, '{"x":1}'))).toBe('new')
    expect(table.set(dead, entry(5, 4, '{"x":1}'))).toBe('ignored')
    expect(leave(table, dead)).toEqual([])
    expect(table.entries).toEqual([entry(5, 4, '{"x":1}')])
    expect(leave(table, back)).toEqual([entry(5, 5, 'null')])
  })

  test('does not change its owner by what others send back', () => {
    const table = new AwarenessTable(new TestClock())
    const [alice, hers, watcher] = [person('a'), person('a'), person('b')]
    table.set(alice, entry(5, 3))
    const others = [hers, watcher, person()]
    for (const other of others)
      for (const [clock, state] of [
        [3, '{}'],
        [2, '{}'],
        [3, 'null'],
        [9, 'null'],
      ] as const)
        expect(table.set(other, entry(5, clock, state))).toBe('ignored')
    expect(others.flatMap((other) => leave(table, other))).toEqual([])
    expect(leave(table, alice)).toEqual([entry(5, 4, 'null')])
    for (const other of others) {
      expect(table.set(other, entry(5, 4, 'null'))).toBe('ignored')
      expect(table.set(other, entry(5, 3))).toBe('stale')
      expect(table.set(other, entry(6, 1, 'null'))).toBe('ignored')
    }
    expect(table.set(person('a'), entry(5, 5))).toBe('new')
  })

  test('that another process has removed is known as removed, whether it was known before or not', () => {
    const table = new AwarenessTable(new TestClock())
    const elsewhere = new RemoteOwner('elsewhere', 0)
    expect(table.set(elsewhere, entry(5, 4, 'null'))).toBe('ignored')
    expect(table.set(elsewhere, entry(5, 3, 'null'))).toBe('ignored')
    expect(table.set(person('a'), entry(5, 4))).toBe('stale')
    const back = person('a')
    expect(table.set(back, entry(5, 5))).toBe('new')
    expect(table.set(elsewhere, entry(5, 6, 'null'))).toBe('ignored')
    expect([table.ownerUpTo(entry(5, 4)), table.ownerUpTo(entry(5, 5))]).toEqual([undefined, back])
  })

  test('goes with its connection, at the next clock', () => {
    const table = new AwarenessTable(new TestClock())
    const one = person('a')
    table.set(one, entry(5, 3))
    table.set(one, entry(6, 0))
    expect(leave(table, one)).toEqual([entry(5, 4, 'null'), entry(6, 1, 'null')])
    expect(leave(table, one)).toEqual([])
    expect(table.set(person('a'), entry(5, 5))).toBe('new')
  })

  test('that comes back with a clock that others do not take any more is told so', () => {
    const table = new AwarenessTable(new TestClock())
    const one = person('a')
    table.set(one, entry(5, 3))
    leave(table, one)
    const back = person('a')
    expect(table.set(back, entry(5, 3))).toBe('stale')
    expect(table.find(5)).toEqual(entry(5, 4, 'null'))
    expect(table.set(back, entry(5, 6))).toBe('new')
  })

  test('is one of eight of its connection', () => {
    const table = new AwarenessTable(new TestClock())
    const one = person('a')
    const results = Array.from({ length: 10 }, (_, client) => table.set(one, entry(client, 0)))
    expect(results.filter((result) => result === 'new')).toHaveLength(8)
    expect(table.entries).toHaveLength(8)
  })

  test('is remembered after it went, but not of them all', () => {
    const table = new AwarenessTable(new TestClock())
    for (let client = 0; client < 1100; client += 1) {
      const owner = person()
      table.set(owner, entry(client, 7))
      leave(table, owner)
    }
    expect(table.find(50)).toBeUndefined()
    expect(table.find(1099)).toEqual(entry(1099, 8, 'null'))
  })
})

describe('a state', () => {
  const idTag = 'alice.example' as IdTag
  test.each([
    ['without a user', '{"cursor":[1,2]}', '{"cursor":[1,2]}', '{"cursor":[1,2]}'],
    [
      'with a user',
      '{"user":{"name":"A"}}',
      '{"user":{"name":"A","idTag":"alice.example"}}',
      '{"user":{"name":"A"}}',
    ],
    [
      'with a claim',
      '{"user":{"idTag":"bob.example"},"x":1}',
      '{"user":{"idTag":"alice.example"},"x":1}',
      '{"user":{},"x":1}',
    ],
    ['with a user that is a text', '{"user":"A"}', 'refused', 'refused'],
    ['with a user that is null', '{"user":null}', 'refused', 'refused'],
    ['with a user that is a list', '{"user":[{"name":"A"}]}', 'refused', 'refused'],
    ['that is no object', '[1]', '[1]', '[1]'],
    ['of one that goes', ' null ', 'null', 'null'],
    [
      'with names of prototypes',
      '{"__proto__":{"user":{}},"user":{"__proto__":1}}',
      '{"__proto__":{"user":{}},"user":{"__proto__":1,"idTag":"alice.example"}}',
      '{"__proto__":{"user":{}},"user":{"__proto__":1}}',
    ],
    ['that is no JSON', '{nonsense', 'malformed', 'malformed'],
    ['that is deep', `{"user":{"x":${'['.repeat(5000)}${']'.repeat(5000)}}}`, undefined, undefined],
    ['that is too large', `"${'x'.repeat(16 * 1024)}"`, 'refused', 'refused'],
  ])('%s says who was authenticated', (_, state, ofIdentity, ofGuest) => {
    const stamped = [stampState(state, idTag), stampState(state, undefined)]
    if (ofIdentity === undefined) expect(stamped.map((text) => typeof text)).toEqual(['string', 'string'])
    else expect(stamped).toEqual([ofIdentity, ofGuest])
  })
})
