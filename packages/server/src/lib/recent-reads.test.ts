import { describe, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { RecentReads } from './recent-reads.ts'

function open() {
  const clock = new TestClock()
  const loaded: string[] = []
  const reads = new RecentReads<string, { readonly text: string }>({ clock, maxEntries: 2, freshMs: 1000 })
  const read = (key: string) =>
    reads.read(key, async () => {
      loaded.push(key)
      return { text: key }
    })
  return { clock, loaded, reads, read }
}

describe('recent reads', () => {
  test('are read once while they are fresh', async () => {
    const { clock, loaded, read } = open()
    expect([await read('a'), await read('a')]).toEqual([{ text: 'a' }, { text: 'a' }])
    clock.advance(1001)
    await read('a')
    expect(loaded).toEqual(['a', 'a'])
  })

  test('are bounded', async () => {
    const { loaded, read } = open()
    for (const key of ['a', 'b', 'c', 'a']) await read(key)
    expect(loaded).toEqual(['a', 'b', 'c', 'a'])
  })

  test('of nothing are not kept', async () => {
    const { reads } = open()
    expect(await reads.read('a', async () => undefined)).toBeUndefined()
    expect(await reads.read('a', async () => ({ text: 'now' }))).toEqual({ text: 'now' })
  })

  test.each([
    ['all', (reads) => reads.forgetAll(), ['a', 'b', 'a', 'b']],
    ['one', (reads) => reads.forget('a'), ['a', 'b', 'a']],
    ['some', (reads) => reads.forgetWhere((key) => key === 'b'), ['a', 'b', 'b']],
  ] as readonly [string, (reads: ReturnType<typeof open>['reads']) => void, string[]][])(
    'are forgotten: %s',
    async (_, forget, expected) => {
      const { loaded, reads, read } = open()
      for (const key of ['a', 'b']) await read(key)
      forget(reads)
      for (const key of ['a', 'b']) await read(key)
      expect(loaded).toEqual(expected)
    },
  )

  test('that were under way when something was forgotten are not kept', async () => {
    const { loaded, reads, read } = open()
    const gate = Promise.withResolvers<{ text: string }>()
    const slow = reads.read('a', () => gate.promise)
    reads.forget('b')
    gate.resolve({ text: 'old' })
    expect(await slow).toEqual({ text: 'old' })
    expect(await read('a')).toEqual({ text: 'a' })
    expect(loaded).toEqual(['a'])
  })
})
