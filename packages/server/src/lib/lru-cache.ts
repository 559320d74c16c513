import { LRUCache } from 'lru-cache'

type Options<Key extends {}, Value extends {}> = Omit<
  LRUCache.OptionsBase<Key, Value, unknown>,
  'max' | 'maxSize' | 'maxEntrySize' | 'sizeCalculation'
>

const countAsOne = () => 1

/** At most `maxEntries` of what was used last. It grows with what is put in: with `max`, lru-cache makes room for all of
 * it at once, 100 KiB and half a millisecond for 5000 entries. */
export function createLruCache<Key extends {}, Value extends {}>(
  maxEntries: number,
  options: Options<Key, Value> = {},
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ ...options, maxSize: maxEntries, sizeCalculation: countAsOne })
}
