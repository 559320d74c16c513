import { describe, expect, test } from 'vitest'
import { createLruCache } from './lru-cache.ts'

describe('a cache of what was used last', () => {
  test('holds as many entries as it may, and lets go of what was not used for longest', () => {
    const gone: string[] = []
    const cache = createLruCache<string, number>(3, {
      dispose: (_, key, reason) => gone.push(`${reason} ${key}`),
    })
    for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at)
    cache.get('a')
    cache.set('c', 22)
    cache.set('d', 3)
    expect([...cache.keys()]).toEqual(['d', 'c', 'a'])
    expect(gone).toEqual(['set c', 'evict b'])
    for (let at = 0; at < 1000; at += 1) cache.set(`${at}`, at)
    expect([...cache.entries()]).toEqual([
      ['999', 999],
      ['998', 998],
      ['997', 997],
    ])
  })

  test('takes no room for what is not in it', () => {
    const before = process.memoryUsage().arrayBuffers
    const caches = Array.from({ length: 100 }, () => createLruCache<string, number>(5000))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000)
    expect(caches).toHaveLength(100)
  })
})
