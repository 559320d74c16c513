import { useEffect, useState } from 'preact/hooks'
import type { Store } from '#lib/store.ts'

/** The value of a store; the component is rendered again when it changes. */
export function useStore<Value>(store: Pick<Store<Value>, 'get' | 'subscribe'>): Value {
  const [value, setValue] = useState(store.get)
  useEffect(() => {
    const take = () => setValue(store.get)
    take()
    return store.subscribe(take)
  }, [store])
  return value
}
