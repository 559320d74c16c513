import { LRUCache } from 'lru-cache'

type Options<Key extends {}, Value extends {}> = Omit<
  LRUCache.OptionsBase<Key, Value, unknown>,
  'max' | 'maxSize' | 'maxEntrySize' | 'sizeCalculation'
>

/** At most `maxEntries` of what was used last. With `max` lru-cache makes room for all of it at once, 100 KiB for 5000
 * entries; growing with `maxSize` instead costs a request that finds all it needs a fifth of its processor time more. */
export function createLruCache<Key extends {}, Value extends {}>(
  maxEntries: number,
  options: Options<Key, Value> = {},
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ ...options, max: maxEntries })
}
